"""The archive over a real ClickHouse engine: written, read back, read through; erased with the words gone everywhere."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import pytest
from clickhouse_connect.driver.client import Client

from ops.archive import day as days
from ops.archive.checking import check
from ops.archive.day import Manifest, read_manifest, rows_of
from ops.archive.folder import VARIABLE, Archive, ArchiveError
from ops.archive.run import Ran, run
from ops.audit.case import find_case
from ops.audit.chains import Checked
from ops.audit.recount import from_clickhouse
from ops.audit.verify import verify_dispute
from ops.cases import labelled
from ops.erasure.erasing import erase_everywhere, recorded
from ops.erasure.finding import disputes_of
from ops.explanation import explanation
from schemas.ledger import LedgerEntry
from schemas.operation import Operation
from sinks import migrate
from sinks.app import read
from sinks.connection import address_from, connect
from sinks.erased import ErasedWords
from sinks.retention import Retention
from sinks.rows.projections import PROJECTIONS
from sinks.rows.row import Place, Row
from sinks.writer import Writer
from tests.support.clickhouse import ClickHouseProcess, clickhouse_process
from tests.support.recorded import BEGIN, Recorded
from tests.support.tables import by_table
from tests.support.wait import until

PROJECTION = {projection.topic: projection for projection in PROJECTIONS}
DAY = BEGIN.date()
SOON, IN_100_DAYS, IN_2_YEARS = (DAY + timedelta(days=days) for days in (3, 100, 800))
LATER = BEGIN + timedelta(days=2)
WORDS = "my name is Zaphod Quillfeather of 42 Marrow Lane"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClickHouseProcess]:
    with clickhouse_process(tmp_path_factory.mktemp("archived")) as running:
        yield running


@pytest.fixture(scope="module")
def told() -> Recorded:
    """Two disputes of one customer, who gives their name, and one of another."""
    recorded_ = Recorded(disagreement=0.5)
    first, second, third = labelled("food-delivery")[:3]
    for case, customer in ((first, "cust-z"), (second, "cust-z"), (third, "cust-other")):
        text = case["complaint"]["text"] + f" And {WORDS}."
        recorded_.file(case, customer_id=customer, text=text)
    return recorded_


@dataclass
class Store:
    """A database of its own with the recorded disputes, taken long ago, and an archive beside it."""

    client: Client
    url: str
    archive: Archive
    writer: Writer
    folder: Path
    rows: list[Row]
    noted: list[Manifest] = field(default_factory=list)

    def write(self, rows: list[Row]) -> None:
        assert self.writer.write(by_table(rows)) == []
        self.client.command("ALTER TABLE events UPDATE ingested_at = at WHERE 1 SETTINGS mutations_sync = 2")  # fmt: skip

    def run(self, today: date, retention: Retention | None = None) -> Ran:
        return run(self.client, self.archive, retention or Retention(), today - timedelta(days=1), today, self.noted.append)  # fmt: skip

    def count(self, what: str) -> int:
        return int(self.client.query(f"SELECT count() FROM {what}").result_rows[0][0])


def rows_from(told: Recorded) -> list[Row]:
    rows: list[Row] = []
    for place, key, value, _ in told.log:
        if place.topic in PROJECTION:
            record = read(PROJECTION[place.topic], Place(*place), key.encode(), value)
            assert record is not None
            rows += record.rows
    return rows


@pytest.fixture(scope="module")
def database(server: ClickHouseProcess) -> Iterator[Client]:
    with server.client() as admin:
        admin.command("CREATE DATABASE archived")
    with connect(address_from({"REFUND_BENCH_CLICKHOUSE": f"{server.url}/archived"})) as mine:
        migrate.migrate(mine)
        yield mine


@pytest.fixture
def store(
    server: ClickHouseProcess, database: Client, told: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:  # fmt: skip
    for table in tables(database):
        database.command(f"TRUNCATE TABLE {table}")
    url = f"{server.url}/archived"
    folder = tmp_path / "archive"
    monkeypatch.setenv(VARIABLE, str(folder))
    writer = Writer(lambda: connect(address_from({"REFUND_BENCH_CLICKHOUSE": url})), screen=ErasedWords().screen)  # fmt: skip
    made = Store(database, url, Archive(str(folder)), writer, folder, rows_from(told))
    made.write(made.rows)
    yield made
    writer.close()


def tables(client: Client) -> list[str]:
    found = client.query(
        "SELECT name FROM system.tables WHERE database = currentDatabase() "
        "AND engine LIKE '%MergeTree' AND name != 'schema_migrations'"
    )
    return [row[0] for row in found.result_rows]


def dispute(told: Recorded, number: int = 0) -> str:
    found: str = told.events("disputes")[number].dispute_id
    return found


def verified(store: Store, told: Recorded, number: int = 0) -> Checked:
    found = verify_dispute(dispute(told, number), store.client, False, LATER)
    assert found is not None
    return found


def test_every_event_is_archived_once_and_its_texts_go_when_they_are_due_and_read_back(
    store: Store, told: Recorded
) -> None:
    ran = store.run(SOON)
    events = store.count("events FINAL")
    assert [(one.day, one.rows) for one in ran.written] == [(DAY, events)]
    assert (ran.emptied, ran.behind, ran.faults) == ({}, [], [])
    assert [one.hash for one in store.noted] == [ran.written[0].manifest]
    again = store.run(SOON)
    assert (again.written, again.emptied, len(store.noted)) == ([], {}, 1)

    later = store.run(IN_100_DAYS)
    assert later.emptied[DAY] > 0
    assert store.count("judge_rulings WHERE notEmpty(raw_reply)") == 0
    assert store.count("events WHERE topic = 'rulings' AND value != ''") == 0
    assert store.count("judge_rulings WHERE empty(reason)") == 0, "kept a year"
    assert store.count("events WHERE topic = 'disputes' AND value = ''") == 0, "kept a year"
    store.run(IN_2_YEARS)
    assert store.count("evidence_snapshots WHERE notEmpty(body)") == 0
    assert store.count("events WHERE topic = 'decisions' AND value = ''") == 0, "kept 7 years"
    assert store.run(IN_2_YEARS).emptied == {}


def test_what_reads_the_trail_reads_the_archive_without_being_told(
    store: Store, told: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUND_BENCH_CLICKHOUSE", store.url)

    def explained() -> object:
        case = find_case(dispute(told), "clickhouse")
        assert case is not None
        return explanation(case.trail)

    before, sound = explained(), verified(store, told)
    store.run(SOON)
    store.run(IN_2_YEARS)
    assert store.count("disputes WHERE notEmpty(text)") == 0
    assert explained() == before
    after = verified(store, told)
    assert (after.faults, after.events, after.erased) == ([], sound.events, 0)
    disputes = [event.dispute_id for event in told.events("disputes")]
    recounted = from_clickhouse(store.client, disputes, told.packs)
    assert (recounted.faults, recounted.disputes) == ([], 3)


def test_without_the_archive_or_with_a_changed_one_it_says_so(
    store: Store, told: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.run(SOON)
    store.run(IN_100_DAYS)
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(ArchiveError, match=VARIABLE):
        verified(store, told)
    monkeypatch.setenv(VARIABLE, str(store.folder))
    manifest = read_manifest(store.archive, DAY)
    assert manifest is not None
    store.archive.write(f"{DAY}/manifest.json", Manifest(DAY).to_bytes())
    assert "event_missing" in {fault.what for fault in verified(store, told).faults}
    said = {DAY: manifest.hash}
    assert "recorded was" in check(store.archive, said, SOON, 2555).faults[0]
    store.archive.write(f"{DAY}/manifest.json", manifest.to_bytes())
    assert check(store.archive, said, SOON, 2555).faults == []
    for file in manifest.files:
        store.archive.delete(file.name)
    assert "is missing" in check(store.archive, said, SOON, 2555).faults[0]


@pytest.mark.parametrize("harm", ["changed", "missing", "no manifest"])
def test_nothing_is_emptied_that_cannot_be_read_back(store: Store, harm: str) -> None:
    store.run(SOON)
    [file] = store.noted[0].files
    if harm == "changed":
        store.archive.write(file.name, store.archive.read(file.name)[:-1] + b"x")  # type: ignore[index]
    elif harm == "missing":
        store.archive.delete(file.name)
    else:
        store.archive.delete(f"{DAY}/manifest.json")
    ran = store.run(IN_100_DAYS)
    assert ran.emptied == {}
    assert len(ran.faults) == 1
    assert ran.behind == [DAY]
    assert store.count("judge_rulings WHERE empty(raw_reply) AND failure = ''") == 0
    assert store.count("events WHERE value = ''") == 0


def test_bytes_that_are_not_their_events_are_not_archived(store: Store) -> None:
    store.client.command(
        "ALTER TABLE events UPDATE value = concat(value, ' ') WHERE topic = 'verdicts' SETTINGS mutations_sync = 2"
    )
    ran = store.run(SOON)
    assert ran.written == []
    assert "has not the bytes of its event" in ran.faults[0]
    assert store.count("events WHERE archived = 1") == 0


def test_what_comes_late_or_again_is_archived_too_and_the_rest_once(
    store: Store, told: Recorded
) -> None:
    some = [row for row in store.rows if row.table == "events" and row.values["topic"] == "rulings"]
    store.client.command("ALTER TABLE events DELETE WHERE topic = 'rulings' SETTINGS mutations_sync = 2")  # fmt: skip
    store.run(SOON)
    store.write(some)
    again = store.run(SOON)
    assert [(one.day, one.rows) for one in again.written] == [(DAY, len(some))]
    store.run(IN_100_DAYS)
    store.write(store.rows)  # the sink reads Kafka from its beginning
    replayed = store.run(IN_100_DAYS)
    assert replayed.faults == []
    assert store.count("events FINAL WHERE topic = 'rulings' AND value != ''") == 0
    assert verified(store, told).faults == []
    manifest = read_manifest(store.archive, DAY)
    assert manifest is not None
    held = [p for file in manifest.files for p in days.read_back(store.archive, file)]
    assert set(held) == {p for p in held if p.topic != "audit"}


def test_what_clickhouse_took_just_now_waits(store: Store) -> None:
    store.client.command("ALTER TABLE events UPDATE ingested_at = now64(3) WHERE topic = 'rulings' SETTINGS mutations_sync = 2")  # fmt: skip
    store.run(SOON)
    assert store.count("events FINAL WHERE archived = 0 AND topic != 'rulings'") == 0
    assert store.count("events FINAL WHERE archived = 1 AND topic = 'rulings'") == 0


@pytest.mark.parametrize("at", ["write", "record"])
def test_cut_off_anywhere_the_next_run_does_the_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch, at: str
) -> None:
    class Killed(Exception):
        pass

    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        if at == "write":
            patch.setattr("ops.archive.writing.write_manifest", killed)
        else:
            patch.setattr(store, "run", lambda today: run(store.client, store.archive, Retention(), today, today, killed))  # fmt: skip
        with pytest.raises(Killed):
            store.run(SOON)
    assert store.count("events WHERE archived = 1") == 0
    store.noted = []
    assert [one.day for one in store.run(SOON).written] == [DAY]
    assert len(store.archive.names(DAY.isoformat())) == 2, "one file and the manifest, no leftovers"


def test_the_oldest_days_leave_the_archive(store: Store) -> None:
    store.run(SOON)
    ran = store.run(DAY + timedelta(days=2556))
    assert ran.expired == [DAY]
    assert read_manifest(store.archive, DAY) is None
    assert store.archive.names(DAY.isoformat()) == []


# Erasure


def erase(store: Store, told: Recorded, customer: str = "cust-z") -> dict[str, list[str]]:
    """As the command does it, Kafka being the recording."""
    entries: dict[str, LedgerEntry] = {}
    for entry in told.events("ledger"):
        if entry.customer_id == customer:
            entries[entry.dispute_id] = entry
    disputes = disputes_of(store.client, customer)
    assert disputes == entries.keys()
    tombstoned: list[str] = []
    for operation in recorded(disputes, "c-hmac", "dpo", "request", told.now):
        told.operate(operation)
    found = erase_everywhere(
        store.client, store.archive, disputes, entries, told.now, store.noted.append, tombstoned.extend
    )  # fmt: skip
    assert found.tombstoned == tombstoned
    return {"disputes": found.disputes, "tombstoned": tombstoned, "open": found.open or []}


def continued(told: Recorded) -> Recorded:
    """The same disputes, to go on from without changing them for other tests."""
    mine = Recorded(disagreement=0.5)
    mine.log, mine.now = list(told.log), told.now
    mine._offsets, mine._state = told._offsets.copy(), dict(told._state)
    return mine


def found_in(store: Store, words: str) -> set[str]:
    """Every place that holds the words: each table in any column, replaced rows included, and archive files."""
    asked = " UNION ALL ".join(
        f"SELECT '{table}' FROM {table} WHERE position(formatRow('JSONEachRow', *), '{words}') > 0"
        for table in tables(store.client)
    )
    places = {str(row[0]) for row in store.client.query(asked).result_rows}
    for path in store.folder.rglob("*"):
        if path.suffix == ".parquet":
            with open(path, "rb") as file:
                if any(words in row.value for row in rows_of(file)):
                    places.add(str(path))
    return places


def replaced_parts(client: Client) -> list[str]:
    """Tables with a part on disk that another has replaced. Dropping a partition that is not there sends the
    cleaner at once, which otherwise comes round in some minutes."""
    found = client.query(
        "SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND NOT active "
        "AND rows > 0"
    )
    names = {str(row[0]) for row in found.result_rows} & set(tables(client))
    for table in sorted(names):
        client.command(f"ALTER TABLE {table} MODIFY SETTING old_parts_lifetime = 1")
        client.command(f"ALTER TABLE {table} DROP PARTITION ID '190001'")
    return sorted(names)


def test_no_store_holds_an_erased_customers_words_and_the_others_keep_theirs(store: Store) -> None:
    told = Recorded(disagreement=0.5)
    secrets = ("Quillfeather", "Marrowlane", "Trillian")
    for case, customer, secret in zip(labelled("food-delivery")[:3], ("cust-z", "cust-z", "cust-other"), secrets, strict=True):  # fmt: skip
        told.file(case, customer_id=customer, text=case["complaint"]["text"] + f" {secret} here.")
    for table in tables(store.client):
        store.client.command(f"TRUNCATE TABLE {table}")
    store.write(rows_from(told))
    store.run(SOON)
    before = found_in(store, "Quillfeather")
    assert before >= {"disputes", "events"}
    assert any(place.endswith(".parquet") for place in before)
    money = "SELECT sum(amount_minor), count() FROM decisions FINAL"
    paid = store.client.query(money).result_rows
    kept = [table for table in tables(store.client) if table != "erased_disputes"]
    counts = {table: store.count(f"{table} FINAL") for table in kept}

    erased = erase(store, told)
    for secret in secrets[:2]:
        assert found_in(store, secret) == set()
    assert found_in(store, "Trillian") >= {"disputes", "events"}
    own = f"dispute_id IN {tuple(erased['disputes'])}"
    for words in ("evidence_snapshots WHERE notEmpty(body)", "judge_rulings WHERE notEmpty(raw_reply)", "grievances WHERE notEmpty(text)"):  # fmt: skip
        assert store.count(f"{words} AND {own}") == 0
    assert store.client.query(money).result_rows == paid
    assert {table: store.count(f"{table} FINAL") for table in kept} == counts

    # The parts that a mutation replaced leave the disk too; and a merge brings nothing back.
    held = [table for table in kept if counts[table]]
    for table in held:
        store.client.command(f"OPTIMIZE TABLE {table} FINAL")
    until(lambda: not replaced_parts(store.client), timeout_s=60, every_s=0.3)
    for secret in secrets[:2]:
        assert found_in(store, secret) == set()


def test_what_was_erased_is_explained_by_the_chain_and_the_chain_verifies(
    store: Store, told: Recorded
) -> None:
    run_ = continued(told)
    store.run(SOON)
    before = verified(store, run_)
    erase(store, run_)
    store.write([row for row in rows_from(run_) if row.table in ("operations", "audit_entries", "events")])  # fmt: skip
    checked = verified(store, run_)
    assert checked.faults == []
    assert checked.erased > 0
    assert checked.events + checked.erased == before.events + 1, "the act itself is linked"
    unexplained = "ALTER TABLE operations DELETE WHERE 1 SETTINGS mutations_sync = 2"
    store.client.command(unexplained)
    store.client.command("ALTER TABLE events DELETE WHERE topic = 'operations' SETTINGS mutations_sync = 2")  # fmt: skip
    store.client.command("ALTER TABLE audit_entries DELETE WHERE dispute_id LIKE 'operations:%' SETTINGS mutations_sync = 2")  # fmt: skip
    assert {f.what for f in verified(store, run_).faults} == {"erased_unexplained"}
    other = verified(store, run_, 2)
    assert (other.faults, other.erased) == ([], 0)


def test_what_the_sink_reads_again_or_late_brings_no_words_back(
    store: Store, told: Recorded
) -> None:
    run_ = continued(told)
    store.run(SOON)
    erased = erase(store, run_)
    store.write(store.rows)
    own = f"dispute_id IN {tuple(erased['disputes'])}"
    for query in ("disputes WHERE notEmpty(text)", "judge_rulings WHERE notEmpty(raw_reply)", "letters WHERE notEmpty(body)"):  # fmt: skip
        assert store.count(f"{query} AND {own}") == 0
    assert store.count(f"events WHERE topic = 'disputes' AND value != '' AND {own.replace('dispute_id', 'subject')}") == 0  # fmt: skip


def test_only_decided_disputes_leave_the_ledger(store: Store, told: Recorded) -> None:
    run_ = continued(told)
    done = erase(store, run_)
    latest = {entry.dispute_id: entry.status for entry in run_.events("ledger")}
    assert set(done["tombstoned"]) | set(done["open"]) == set(done["disputes"])
    assert {latest[one] for one in done["tombstoned"]} <= {"paid", "closed_no_payment"}
    assert not {latest[one] for one in done["open"]} & {"paid", "closed_no_payment"}


def test_an_operation_names_nobody() -> None:
    made: list[Operation] = recorded(["d-1"], "c-hmac", "dpo", "request", BEGIN)
    assert [(one.subject, one.action) for one in made] == [("d-1", "customer_erased"), ("c-hmac", "customer_erased")]  # fmt: skip
