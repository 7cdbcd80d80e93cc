"""The sink against the real engine: replays, kills, refused rows, a table altered by hand."""

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client
from quixstreams.sinks import SinkBackpressureError

from ops.chaos.cutting_proxy import CuttingProxy
from sinks import migrate
from sinks.app import read
from sinks.clickhouse_sink import ClickHouseSink, RefusedRecord, RowsRefused, stop_at_refused
from sinks.connection import address_from, connect
from sinks.rows.projections import projections
from sinks.rows.row import Place
from sinks.writer import Writer
from tests.support.clickhouse import ClickHouseProcess, clickhouse_process
from tests.unit.sinks.sample_events import FILED, KEY, DisputeEvents

PROJECTION = {projection.topic: projection for projection in projections(KEY)}
Log = list[tuple[Place, bytes, bytes]]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    with clickhouse_process(tmp_path_factory.mktemp("sink")) as running:
        yield running


@pytest.fixture
def database(server: ClickHouseProcess, request: pytest.FixtureRequest) -> str:
    """An empty database of this test's own."""
    name = f"d{abs(hash(request.node.name))}"
    with server.client() as client:
        client.command(f"CREATE DATABASE {name}")
    return name


def opener(server: ClickHouseProcess, database: str) -> Callable[[], Client]:
    return lambda: connect(
        address_from({"REFUND_BENCH_CLICKHOUSE": f"{server.url}/{database}"}), timeout_s=10
    )


def kafka_of(disputes: int) -> Log:
    """What `disputes` disputes leave in Kafka, with an offset per topic."""
    offsets: dict[str, Iterator[int]] = {}
    log: Log = []
    for number in range(disputes):
        made = DisputeEvents(number, FILED + timedelta(seconds=number))
        for topic, events in made.with_complaint().items():
            for event in events:
                offset = next(offsets.setdefault(topic, itertools.count()))
                log.append((Place(topic, number % 12, offset), b"key", event.to_bytes()))
    return log


def consume(sink: ClickHouseSink, log: Log, checkpoint: int = 200) -> int:
    """Read the log as Quix does: flush at checkpoints, go back to the last one when told to wait.

    How often it had to wait.
    """
    committed, waits = 0, 0
    while committed < len(log):
        upto = min(committed + checkpoint, len(log))
        for place, key, value in log[committed:upto]:
            record = read(PROJECTION[place.topic], place, key, value)
            sink.add(record, key, 0, [], place.topic, place.partition, place.offset)
        try:
            sink.flush()
        except SinkBackpressureError as pressure:
            waits += 1
            threading.Event().wait(min(pressure.retry_after, 0.3))
            continue
        committed = upto
    return waits


def keeps_nothing(records: Sequence[RefusedRecord]) -> None:
    raise AssertionError(f"refused: {records[0].table}: {records[0].reason}")


def tables(client: Client) -> list[str]:
    """Tables of what Kafka told; each has a view."""
    names = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND engine = 'ReplacingMergeTree' AND name NOT IN ('schema_migrations', 'erased_disputes') ORDER BY name"
    )
    return [row[0] for row in names.result_rows]


def counts(client: Client, source: str = "v_{}") -> dict[str, int]:
    return {
        table: int(client.command(f"SELECT count() FROM {source.format(table)}"))  # type: ignore[arg-type]
        for table in tables(client)
    }


def expected(disputes: int) -> dict[str, int]:
    per_dispute = {
        "complaints": 1, "disputes": 1, "evidence_snapshots": 1, "dockets": 1, "grievances": 4, "judge_rulings": 12,
        "verdicts": 4, "proposals": 1, "decisions": 1, "payments": 1, "letters": 1, "reviews": 1,
        "operations": 1, "events": 30, "ledger_entries": 3, "disputes_current": 1, "audit_entries": 2, "dead_letters": 1,
    }  # fmt: skip
    return {table: disputes * rows for table, rows in sorted(per_dispute.items())}


def with_bytes_of(refused: int, counted: dict[str, int]) -> dict[str, int]:
    """The bytes of a record are kept, also where a table refuses its row."""
    return {**counted, "events": counted["events"] + refused}


def test_events_replayed_in_any_batches_show_once(server: ClickHouseProcess, database: str) -> None:
    open_client = opener(server, database)
    log = kafka_of(8)
    sink = ClickHouseSink(Writer(open_client, migrate.migrate), keeps_nothing)
    assert consume(sink, log) == 0
    assert consume(sink, log, checkpoint=61) == 0
    assert consume(sink, log[len(log) // 2 :], checkpoint=47) == 0
    with open_client() as client:
        assert counts(client) == expected(8)
        current = client.query("SELECT DISTINCT sequence, status FROM v_disputes_current")
        assert current.result_rows == [(9, "part_paid_in_review")]


class KillsBefore:
    """A connection whose server dies at its n-th insert, before the insert or while it is under way."""

    def __init__(self, server: ClickHouseProcess, client: Client, insert: int, late: bool) -> None:
        self._server, self._client, self._insert, self._late = server, client, insert, late
        self.killed = threading.Event()
        self._counting = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def insert(self, *args: Any, **kwargs: Any) -> Any:
        with self._counting:
            self._insert -= 1
            now = self._insert == 0
        if now:
            if self._late:
                threading.Timer(0.002, self._kill).start()
            else:
                self._kill()
        return self._client.insert(*args, **kwargs)

    def _kill(self) -> None:
        self._server.kill()
        self.killed.set()


@pytest.mark.parametrize(
    ("insert", "late", "full_batch"),
    [(5, False, 10_000), (2, True, 10_000), (9, True, 300), (30, True, 300)],
)
def test_clickhouse_killed_in_the_middle_of_a_flush_loses_nothing(
    server: ClickHouseProcess, database: str, insert: int, late: bool, full_batch: int
) -> None:
    """A flush of one batch, and one of several of which some are stored already."""
    open_client = opener(server, database)
    with open_client() as client:
        migrate.migrate(client)
    doomed = KillsBefore(server, open_client(), insert, late)
    first = iter([doomed])
    writer = Writer(lambda: next(first, None) or open_client(), migrate.check)  # type: ignore[arg-type,return-value]
    sink = ClickHouseSink(writer, keeps_nothing, full_batch=full_batch)
    log = kafka_of(60)
    waits: list[int] = []
    consuming = threading.Thread(target=lambda: waits.append(consume(sink, log, checkpoint=1_000)))
    consuming.start()
    assert doomed.killed.wait(timeout=10)
    server.start()
    consuming.join(timeout=20)
    assert waits
    assert waits[0] > 0
    with open_client() as client:
        assert counts(client) == expected(60)


def test_connections_cut_before_the_reply_lose_and_double_nothing(
    server: ClickHouseProcess, database: str
) -> None:
    with opener(server, database)() as client:
        migrate.migrate(client)
    proxy = CuttingProxy(server.port, seed=1, unanswered=0.04, cut_short=0.02).start()
    try:
        behind = address_from(
            {"REFUND_BENCH_CLICKHOUSE": f"http://127.0.0.1:{proxy.port}/{database}"}
        )
        writer = Writer(lambda: connect(behind, timeout_s=10), migrate.check)
        consume(ClickHouseSink(writer, keeps_nothing), kafka_of(12), checkpoint=100)
        writer.close()
    finally:
        proxy.stop()
    assert proxy.unanswered > 0
    assert proxy.cut_short > 0
    with opener(server, database)() as client:
        assert counts(client) == expected(12)


def test_a_clickhouse_that_is_away_is_backpressure_in_bounded_memory(
    server: ClickHouseProcess, database: str
) -> None:
    def away() -> Client:
        raise ConnectionRefusedError

    sink = ClickHouseSink(Writer(away), keeps_nothing, most_bytes=50_000)
    for place, key, value in kafka_of(60):
        record = read(PROJECTION[place.topic], place, key, value)
        sink.add(record, key, 0, [], place.topic, place.partition, place.offset)
        assert sink.buffered_bytes < 60_000
    with pytest.raises(SinkBackpressureError):
        sink.flush()
    sink.flush()


def test_a_row_the_client_cannot_write_becomes_a_dead_letter(
    server: ClickHouseProcess, database: str
) -> None:
    open_client = opener(server, database)
    kept: list[RefusedRecord] = []
    sink = ClickHouseSink(Writer(open_client, migrate.migrate), kept.extend)
    log = kafka_of(10)
    ruling = DisputeEvents(77).ruling(1, 1)
    endless = ruling.usage.model_copy(update={"latency_ms": 2**63})
    bad = ruling.model_copy(update={"usage": endless}).to_bytes()
    log.insert(40, (Place("rulings", 3, 9_001), b"k", bad))
    assert consume(sink, log, checkpoint=10_000) == 0
    (one,) = kept
    assert (one.place, one.key, one.value) == (Place("rulings", 3, 9_001), b"k", bad)
    assert (one.table, "latency_ms" in one.reason) == ("judge_rulings", True)
    with open_client() as client:
        assert counts(client) == with_bytes_of(1, expected(10))


def test_a_row_the_engine_refuses_becomes_a_dead_letter(
    server: ClickHouseProcess, database: str
) -> None:
    """The endpoint must say so: chDB's own streaming insert reports such a row as stored."""
    open_client = opener(server, database)
    kept: list[RefusedRecord] = []
    writer = Writer(open_client, migrate.migrate)
    sink = ClickHouseSink(writer, kept.extend)
    with open_client() as client:
        migrate.migrate(client)
        client.command("ALTER TABLE payments ADD CONSTRAINT small CHECK amount_minor < 1000000")
        log = kafka_of(10)
        huge = DisputeEvents(77).payment().model_copy(update={"amount_minor": 2_000_000})
        log.insert(40, (Place("payments", 4, 9_002), b"k", huge.to_bytes()))
        assert consume(sink, log, checkpoint=10_000) == 0
        (one,) = kept
        assert (one.place, one.table) == (Place("payments", 4, 9_002), "payments")
        assert one.reason == "code 469 VIOLATED_CONSTRAINT"
        assert counts(client) == with_bytes_of(1, expected(10))
        writer.close()


def test_without_a_dead_letter_box_the_sink_stops_at_a_refused_row(
    server: ClickHouseProcess, database: str
) -> None:
    sink = ClickHouseSink(Writer(opener(server, database), migrate.migrate), stop_at_refused)
    ruling = DisputeEvents().ruling(1, 1)
    endless = ruling.usage.model_copy(update={"latency_ms": 2**63})
    bad = ruling.model_copy(update={"usage": endless}).to_bytes()
    with pytest.raises(RowsRefused, match="rulings-3 at offset 9"):
        consume(sink, [(Place("rulings", 3, 9), b"k", bad)])


@pytest.mark.parametrize(
    "by_hand",
    ["DROP TABLE letters", "ALTER TABLE letters DROP COLUMN kind", "RENAME TABLE letters TO gone"],
)
def test_a_table_altered_by_hand_is_waited_for_not_dead_lettered(
    server: ClickHouseProcess, database: str, by_hand: str
) -> None:
    open_client = opener(server, database)
    sink = ClickHouseSink(Writer(open_client, migrate.migrate), keeps_nothing)
    consume(sink, kafka_of(1))
    with open_client() as client:
        client.command(by_hand)
    for place, key, value in kafka_of(3):
        record = read(PROJECTION[place.topic], place, key, value)
        sink.add(record, key, 0, [], place.topic, place.partition, place.offset)
    with pytest.raises(SinkBackpressureError):
        sink.flush()


def test_every_column_is_explained_and_views_hold_no_words(
    server: ClickHouseProcess, database: str
) -> None:
    open_client = opener(server, database)
    consume(ClickHouseSink(Writer(open_client, migrate.migrate), keeps_nothing), kafka_of(1))
    with open_client() as client:
        columns = client.query(
            "SELECT table, name, comment FROM system.columns WHERE database = currentDatabase()"
        ).result_rows
        bare = [(t, c) for t, c, comment in columns if not t.startswith("v_") and not comment]
        assert bare == []
        views = {table for table, _, _ in columns if table.startswith("v_")}
        assert views >= {f"v_{table}" for table in tables(client)}
        for view in views:
            assert "SECRET-WORDS" not in str(client.query(f"SELECT * FROM {view}").result_rows)
        assert "SECRET-WORDS" in str(client.query("SELECT * FROM judge_rulings").result_rows)
