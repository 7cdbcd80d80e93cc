"""How many events a second the sink stores: read, made into rows and written by the real code, without Kafka.

Events lie in memory as bytes, as a consumer hands them over; it is flushed as often as in the app. Beside it,
in the same run: the same rows, ready, inserted by the client alone. CPU is given for both processes, because
the rate on the clock is that of a machine with nothing else to do only where nothing else is done.
"""

import gc
import itertools
import os
import time
from collections.abc import Iterator
from typing import Any

from clickhouse_connect.driver.client import Client

from ops.bench.clickhouse_process import Running, clickhouse
from ops.bench.made_up_events import events
from sinks import migrate
from sinks.app import COMMIT_EVERY, COMMIT_INTERVAL_S, read
from sinks.batch import Batch
from sinks.clickhouse_sink import FULL_BATCH, ClickHouseSink, Record
from sinks.connection import connect
from sinks.erased import ErasedWords
from sinks.rows.projections import projections
from sinks.rows.row import Place
from sinks.writer import INSERT_SETTINGS, Writer

PROMISED_PER_S = 8_000
PLANNED_BYTES = 35_000
"""What a dispute was planned to weigh, raw."""
KEY = b"a benchmark's installation key"
SOURCES = {one.topic: one for one in projections(KEY)}

Log = list[tuple[Place, bytes]]


def run(disputes: int = 2_000, seed: int = 1) -> dict[str, Any]:
    """Store `disputes` made-up disputes; the first twentieth warms up and is not timed."""
    offsets: dict[str, Iterator[int]] = {topic: itertools.count() for topic in SOURCES}
    log = [
        (Place(topic, number % 12, next(offsets[topic])), event.to_bytes())
        for number in range(disputes)
        for topic, event in events(number, seed)
    ]
    gc.collect()
    gc.freeze()  # the log would lie in Kafka, not in what this process's collector walks
    with clickhouse() as server:
        writer = Writer(
            lambda: connect(server.address, timeout_s=120), migrate.migrate, ErasedWords().screen
        )
        sink = ClickHouseSink(writer, _refuse)
        warm_up = len(log) // 20
        _store(sink, log[:warm_up])
        load, server_cpu = os.getloadavg()[0], server.cpu_s()
        began, cpu = time.perf_counter(), time.process_time()
        _store(sink, log[warm_up:])
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        server_cpu = server.cpu_s() - server_cpu
        with connect(server.address) as client:
            stored = int(client.command("SELECT count() FROM v_disputes"))  # type: ignore[arg-type]
            by_table = dict(
                client.query(
                    "SELECT table, sum(bytes_on_disk) FROM system.parts "
                    "WHERE active AND database = currentDatabase() GROUP BY table ORDER BY table"
                ).result_rows
            )
            alone = _client_alone(client, server, log[warm_up:])
    gc.unfreeze()
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
        "load_1m": round(load, 1),
        "cores": os.cpu_count(),
        "sink_cpu_ms_per_event": round(cpu / timed * 1000, 3),
        "server_cpu_ms_per_event": round(server_cpu / timed * 1000, 3),
        "events_per_cpu_s": round(timed / (cpu + server_cpu)),
        "client_alone": alone,
        "of_client_alone": round(per_s / alone["events_per_s"], 2),
        "stored": stored,
        "events_per_dispute": round(len(log) / disputes, 1),
        "raw_bytes_per_dispute": sum(len(value) for _, value in log) // disputes,
        "planned_raw_bytes_per_dispute": PLANNED_BYTES,
        "bytes_on_disk_per_dispute": sum(by_table.values()) // disputes,
        "of_which_events_as_bytes": by_table.get("events", 0) // disputes,
        "by_table": {table: size // disputes for table, size in by_table.items()},
    }


def _store(sink: ClickHouseSink, log: Log) -> None:
    flushed, unflushed = time.monotonic(), 0
    for place, value in log:
        sink.add(_record(place, value), b"key", 0, [], place.topic, place.partition, place.offset)
        unflushed += 1
        if unflushed == COMMIT_EVERY or time.monotonic() - flushed > COMMIT_INTERVAL_S:
            sink.flush()
            flushed, unflushed = time.monotonic(), 0
    sink.flush()


def _record(place: Place, value: bytes) -> Record:
    record = read(SOURCES[place.topic], place, b"key", value)
    assert record is not None
    return record


def _client_alone(client: Client, server: Running, log: Log) -> dict[str, float]:
    """The same rows in the same batches, one insert after the other; reading and gathering are not timed."""
    took = cpu = server_cpu = 0.0
    for first in range(0, len(log), FULL_BATCH):
        batch = Batch()
        for place, value in log[first : first + FULL_BATCH]:
            record = _record(place, value)
            batch.add(record.source, record.rows)
        ready = [
            (table, list(rows.columns), rows.by_column(range(len(rows.rows))))
            for table, rows in batch.tables.items()
        ]
        used, used_there, began = time.process_time(), server.cpu_s(), time.perf_counter()
        for table, columns, data in ready:
            client.insert(table, data, columns, column_oriented=True, settings=INSERT_SETTINGS)
        took += time.perf_counter() - began
        cpu += time.process_time() - used
        server_cpu += server.cpu_s() - used_there
    return {
        "events_per_s": round(len(log) / took),
        "client_cpu_ms_per_event": round(cpu / len(log) * 1000, 3),
        "server_cpu_ms_per_event": round(server_cpu / len(log) * 1000, 3),
    }


def _refuse(records: Any) -> None:
    raise RuntimeError(f"ClickHouse refused a made-up row: {records[0].reason}")
