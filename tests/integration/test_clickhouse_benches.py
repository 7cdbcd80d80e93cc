"""The benches of queries and sink in a tiny form: that they fill, ask and store. Their figures are for a quiet machine."""

from ops.bench import queries, sink
from sinks import query


def test_every_canned_query_is_timed_on_made_up_disputes_and_most_find_something() -> None:
    found = queries.run(disputes=400, times=1)
    assert found["queries"].keys() == set(query.names())
    assert found["rulings"] == 400 * 17 // 4 * 3
    empty = {name for name, one in found["queries"].items() if not one["rows"]}
    assert empty == set()
    assert found["bytes_on_disk_per_dispute_without_events"] > 0
    assert found["events"] == 400 * 8 + 5 * 400 * 17 // 4


def test_the_sink_stores_every_made_up_dispute_once() -> None:
    found = sink.run(disputes=40)
    assert found["stored"] == 40
    assert found["events_per_s"] > 0
    assert found["client_alone"]["events_per_s"] > 0
    assert found["raw_bytes_per_dispute"] > 20_000
    assert set(found["by_table"]) >= {"events", "judge_rulings", "payments"}
