"""How many events a second the sink stores: read, made into rows and written by the real code, without Kafka.

Events lie in memory as bytes, as a consumer hands them over; it is flushed as often as in the app.
"""

import itertools
import time
from collections.abc import Iterator
from typing import Any

from ops.bench.clickhouse_process import clickhouse
from ops.bench.made_up_events import events
from sinks import migrate
from sinks.app import COMMIT_EVERY, COMMIT_INTERVAL_S, read
from sinks.clickhouse_sink import ClickHouseSink
from sinks.connection import connect
from sinks.rows.projections import projections
from sinks.rows.row import Place
from sinks.writer import Writer

PROMISED_PER_S = 8_000
PLANNED_BYTES = 35_000
"""What a dispute was planned to weigh, raw."""
KEY = b"a benchmark's installation key"


def run(disputes: int = 2_000, seed: int = 1) -> dict[str, Any]:
    """Store `disputes` made-up disputes; the first twentieth warms up and is not timed."""
    sources = {one.topic: one for one in projections(KEY)}
    offsets: dict[str, Iterator[int]] = {topic: itertools.count() for topic in sources}
    log = [
        (Place(topic, number % 12, next(offsets[topic])), event.to_bytes())
        for number in range(disputes)
        for topic, event in events(number, seed)
    ]
    with clickhouse() as address:
        sink = ClickHouseSink(
            Writer(lambda: connect(address, timeout_s=120), migrate.migrate), _refuse
        )

        def store(records: list[tuple[Place, bytes]]) -> None:
            flushed, unflushed = time.monotonic(), 0
            for place, value in records:
                record = read(sources[place.topic], place, b"key", value)
                assert record is not None
                sink.add(record, b"key", 0, [], place.topic, place.partition, place.offset)
                unflushed += 1
                if unflushed == COMMIT_EVERY or time.monotonic() - flushed > COMMIT_INTERVAL_S:
                    sink.flush()
                    flushed, unflushed = time.monotonic(), 0
            sink.flush()

        warm_up = len(log) // 20
        store(log[:warm_up])
        began, cpu = time.perf_counter(), time.process_time()
        store(log[warm_up:])
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        client = connect(address)
        stored = int(client.command("SELECT count() FROM v_disputes"))  # type: ignore[arg-type]
        by_table = dict(
            client.query(
                "SELECT table, sum(bytes_on_disk) FROM system.parts "
                "WHERE active AND database = currentDatabase() GROUP BY table ORDER BY table"
            ).result_rows
        )
        client.close()
    timed = len(log) - warm_up
    per_s = timed / took
    return {
        "ok": per_s >= PROMISED_PER_S and stored == disputes,
        "broker": "none",
        "seed": seed,
        "disputes": disputes,
        "events": timed,
        "events_per_s": round(per_s),
        "promised_per_s": PROMISED_PER_S,
        "sink_cpu_ms_per_event": round(cpu / timed * 1000, 3),
        "stored": stored,
        "events_per_dispute": round(len(log) / disputes, 1),
        "raw_bytes_per_dispute": sum(len(value) for _, value in log) // disputes,
        "planned_raw_bytes_per_dispute": PLANNED_BYTES,
        "bytes_on_disk_per_dispute": sum(by_table.values()) // disputes,
        "of_which_events_as_bytes": by_table.get("events", 0) // disputes,
        "by_table": {table: size // disputes for table, size in by_table.items()},
    }


def _refuse(records: Any) -> None:
    raise RuntimeError(f"ClickHouse refused a made-up row: {records[0].reason}")
