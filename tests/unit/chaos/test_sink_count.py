"""What the sink's chaos counts: every topic ClickHouse keeps, and each way in which a view can be wrong."""

from ops.chaos.sink_count import PLACES, SHOWN_AS, Balance, Seen
from ops.chaos.sink_load import whole_dispute
from sinks.rows.events import KEPT
from sinks.rows.projections import projections


def test_it_writes_and_counts_every_topic_the_sink_reads() -> None:
    read = {one.topic for one in projections(b"key")}
    assert {topic for topic, _ in whole_dispute(1, 1)} == read
    assert KEPT | SHOWN_AS.keys() | PLACES.keys() == read


def test_a_record_written_twice_is_one_event_at_two_places() -> None:
    seen = Seen()
    for number, (topic, event) in enumerate(whole_dispute(1, 1)):
        seen.take(topic, 0, number, event.to_bytes())
        seen.take(topic, 1, number, event.to_bytes())
    assert seen.records["rulings"] == 24
    assert len(seen.ids["rulings", "ruling_id"]) == 12
    assert len(seen.hashes["rulings"]) == 24
    assert len(set(seen.hashes["rulings"].values())) == 12


def test_what_is_missing_double_or_foreign_is_told_apart() -> None:
    found = Balance()
    found.compare("v_payments", ["a", "b"], ["b", "a"])
    assert found.even
    found.compare("v_payments", ["a", "b", "c"], ["a", "a", "b", "x"])
    assert (found.lost, found.duplicate, found.strange) == (
        ["v_payments c"],
        ["v_payments a"],
        ["v_payments x"],
    )
    assert not found.even
