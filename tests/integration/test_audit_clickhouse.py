"""Rows of a real ClickHouse engine that somebody changed, dropped or swapped are found without Kafka."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from ops.audit.chains import Checked
from ops.audit.heads import write_heads
from ops.audit.recount import from_clickhouse
from ops.audit.verify import verify_dispute, verify_period
from ops.cases import labelled
from schemas.operation import Operation
from sinks import migrate
from sinks.app import read
from sinks.connection import address_from, connect
from sinks.rows.projections import PROJECTIONS
from sinks.rows.row import Place, Row
from sinks.writer import Writer
from tests.support.clickhouse import ClickHouseProcess, clickhouse_process
from tests.support.recorded import BEGIN, Recorded
from tests.support.tables import by_table
from tests.unit.cli.calling import Cli

PROJECTION = {projection.topic: projection for projection in PROJECTIONS}
LATER = BEGIN + timedelta(days=2)
SYNC = "SETTINGS mutations_sync = 2"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    with clickhouse_process(tmp_path_factory.mktemp("audit")) as running:
        yield running


@pytest.fixture(scope="module")
def run() -> Recorded:
    recorded = Recorded(disagreement=0.5)
    for case in labelled("food-delivery")[:3]:
        recorded.file(case)
    mine = recorded.events("disputes")[0].dispute_id
    for number, subject in enumerate((mine, "packs", "packs")):
        recorded.operate(
            Operation(
                at=recorded.now, operation_id=f"op-{number}", subject=subject,
                action="customer_text_read", actor="asha",
            )
        )  # fmt: skip
    return recorded


@dataclass
class Store:
    """The recorded disputes, stored as the sink stores them."""

    client: Client
    url: str
    rows: list[Row]
    writer: Writer

    def fill(self, *tables: str) -> None:
        rows = [row for row in self.rows if not tables or row.table in tables]
        for table in tables:
            self.client.command(f"TRUNCATE TABLE {table}")
        assert self.writer.write(by_table(rows)) == []


@pytest.fixture(scope="module")
def store(server: ClickHouseProcess, run: Recorded) -> Iterator[Store]:
    with server.client() as admin:
        admin.command("CREATE DATABASE audited")
    url = f"{server.url}/audited"
    where = address_from({"REFUND_BENCH_CLICKHOUSE": url})
    rows: list[Row] = []
    for place, key, value, _ in run.log:
        if place.topic in PROJECTION:
            record = read(PROJECTION[place.topic], Place(*place), key.encode(), value)
            assert record is not None
            rows += record.rows
    with connect(where) as mine:
        made = Store(mine, url, rows, Writer(lambda: connect(where), migrate.migrate))
        made.fill()
        yield made
        made.writer.close()


@pytest.fixture
def tampered(store: Store) -> Iterator[Callable[[str], None]]:
    """Runs a statement, and puts right what it did when the test is over."""
    touched: list[str] = []

    def tamper(sql: str) -> None:
        touched.append(re.split(r"TABLE |INTO ", sql)[1].split()[0])
        store.client.command(sql)

    yield tamper
    store.fill(*touched)


def verify(client: Client, run: Recorded) -> Checked:
    found = verify_dispute(run.events("disputes")[0].dispute_id, client, False, LATER)
    assert found is not None
    return found


def what(checked: Checked) -> set[str]:
    return {fault.what for fault in checked.faults}


def test_what_the_sink_stored_is_whole(store: Store, run: Recorded) -> None:
    client = store.client
    checked = verify(client, run)
    assert (checked.faults, checked.disputes, checked.chains) == ([], 1, 2)
    period = verify_period(BEGIN - timedelta(days=1), LATER, client, False, LATER)
    assert (period.faults, period.disputes, period.chains) == ([], 3, 5)
    assert period.events == len(run.events("audit"))


ALTERED = {
    "a price": ("ALTER TABLE decisions UPDATE amount_minor = 1 WHERE 1 {sync}", "row_altered"),
    "a count": ("ALTER TABLE verdicts UPDATE votes_upheld = 0 WHERE 1 {sync}", "row_altered"),
    "a judge's words": ("ALTER TABLE judge_rulings UPDATE reason = 'x' WHERE seat = 1 {sync}", "row_altered"),
    "a line": ("ALTER TABLE proposals UPDATE line_bases = ['free'] WHERE 1 {sync}", "row_altered"),
    "an operation": ("ALTER TABLE operations UPDATE actor = 'nobody' WHERE 1 {sync}", "row_altered"),
    "a row dropped": ("ALTER TABLE payments DELETE WHERE 1 {sync}", "row_missing"),
    "a row added": (
        "INSERT INTO reviews (review_id, dispute_id, action, at) SELECT 'r-9', dispute_id, 'approve', at FROM disputes",
        "row_extra",
    ),
    "an event's bytes": (
        "ALTER TABLE events UPDATE value = replaceOne(value, 'UPHELD', 'REJECTED') WHERE topic = 'verdicts' {sync}",
        "event_altered",
    ),
    "bytes and hash": (
        "ALTER TABLE events UPDATE value = '{{}}', event_hash = 'sha256:x' WHERE topic = 'decisions' {sync}",
        "event_altered",
    ),
    "an event dropped": ("ALTER TABLE events DELETE WHERE topic = 'payments' {sync}", "event_missing"),
    "a ruling dropped": ("ALTER TABLE events DELETE WHERE topic = 'rulings' {sync}", "vouched_missing"),
    "events swapped": (
        "INSERT INTO events SELECT e.* REPLACE (o.value AS value, o.event_hash AS event_hash, 1 AS erased) "
        "FROM events AS e JOIN events AS o ON e.subject = o.subject AND e.topic = o.topic "
        "WHERE e.topic = 'verdicts' AND e.kafka_offset != o.kafka_offset LIMIT 1 BY e.kafka_offset",
        "event_reordered",
    ),
    "a link changed": ("ALTER TABLE audit_entries UPDATE event_hash = 'sha256:x' WHERE sequence = 3 {sync}", "link_altered"),
    "a link dropped": ("ALTER TABLE audit_entries DELETE WHERE sequence = 3 {sync}", "link_missing"),
    "the last links dropped": ("ALTER TABLE audit_entries DELETE WHERE sequence > 5 {sync}", "event_not_in_chain"),
}  # fmt: skip


@pytest.mark.parametrize("name", ALTERED)
def test_tampering_with_a_row_is_found(
    store: Store, run: Recorded, tampered: Callable[[str], None], name: str
) -> None:
    sql, expected = ALTERED[name]
    tampered(sql.format(sync=SYNC))
    assert expected in what(verify(store.client, run))


def test_a_wrong_count_or_price_injected_into_the_store_is_found_by_recount(
    store: Store, run: Recorded, tampered: Callable[[str], None]
) -> None:
    disputes = [event.dispute_id for event in run.events("disputes")]
    sound = from_clickhouse(store.client, disputes, run.packs)
    assert (sound.faults, sound.disputes) == ([], 3)
    changed = "replaceOne(value, '\"amount_minor\":', '\"amount_minor\":1')"
    tampered(f"ALTER TABLE events UPDATE value = {changed} WHERE topic = 'decisions' {SYNC}")
    assert "decision_differs" in what(from_clickhouse(store.client, disputes, run.packs))
    changed = "replaceOne(value, '\"UPHELD\":3', '\"UPHELD\":2')"
    tampered(f"ALTER TABLE events UPDATE value = {changed} WHERE topic = 'verdicts' {SYNC}")
    assert "count_differs" in what(from_clickhouse(store.client, disputes, run.packs))


def test_the_command_says_so_with_its_exit_code(
    store: Store,
    run: Recorded,
    tampered: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("REFUND_BENCH_BROKER", "127.0.0.1:1")
    monkeypatch.setenv("REFUND_BENCH_CLICKHOUSE", store.url)
    cli, mine = Cli(), run.events("disputes")[0]
    sound = cli("audit", "verify", mine.order_id, "--json")
    assert (sound.code, sound.json["ok"], sound.json["stores"]) == (0, True, ["clickhouse"])
    assert sound.json["events"] >= 10
    again = cli("audit", "recount", "--since", "2026-09-01", "--json")
    assert (again.code, again.json["disputes"], again.json["faults"]) == (0, 3, [])
    heads = {mine.dispute_id: (1, "sha256:x")}
    file = write_heads(tmp_path, BEGIN.date(), BEGIN + timedelta(hours=6), heads, True)
    anew = cli("audit", "verify", "--since", "2026-09-01", "--heads", str(file), "--json")
    assert [(f["what"], f["where"]) for f in anew.json["faults"]] == [("head_differs", "clickhouse")]  # fmt: skip
    tampered(f"ALTER TABLE payments DELETE WHERE 1 {SYNC}")
    broken = cli("audit", "verify", mine.dispute_id, "--json")
    assert (broken.code, broken.json["faults"][0]["what"]) == (1, "row_missing")
    assert "row_missing" in cli("audit", "verify", "--since", "2026-09-01").out
    assert cli("audit", "verify", "d-unknown").code == 1
