"""`privacy erase` as a command, on Apache Kafka and a ClickHouse engine: recorded, tombstoned, kept from coming back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ops.bounded_read import every_partition, read_all
from ops.cases import complaint_of, labelled
from ops.local.kafka import LocalKafka
from schemas.complaint import Complaint
from schemas.ids import customer_hash
from schemas.ledger import LedgerEntry
from schemas.operation import Operation
from schemas.topics import BY_NAME
from sinks import migrate
from sinks.app import read
from sinks.connection import address_from, connect
from sinks.rows.projections import PROJECTIONS
from sinks.rows.row import Place
from sinks.writer import Writer
from tests.support.clickhouse import clickhouse_process
from tests.support.recorded import KEY, Recorded
from tests.support.tables import by_table
from tests.unit.cli.calling import Cli
from topologies import clients
from topologies.dead_letters import DeadLetterBox
from topologies.topic_admin import create_topics

pytestmark = pytest.mark.kafka
PROJECTION = {projection.topic: projection for projection in PROJECTIONS}
CUSTOMER = 'cust-"z'
"""An id that stands escaped in an event's bytes."""
WORDS = "Quillfeather"


@pytest.fixture
def told() -> Recorded:
    told = Recorded(disagreement=0.5)
    for case, customer in zip(
        labelled("food-delivery"), (CUSTOMER, CUSTOMER, "cust-other"), strict=False
    ):
        told.file(case, customer_id=customer, text=case["complaint"]["text"] + f" {WORDS} here.")
    return told


@pytest.fixture
def cli(
    kafka: LocalKafka, told: Recorded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Cli]:
    """Both stores hold the recorded disputes."""
    made = create_topics(kafka.bootstrap, replication=1)
    with clickhouse_process(tmp_path) as server:
        for name, value in {
            "XDG_STATE_HOME": str(tmp_path), "REFUND_BENCH_BROKER": kafka.bootstrap,
            "REFUND_BENCH_CLICKHOUSE": server.url, "REFUND_BENCH_INSTALLATION_KEY": KEY.decode(),
        }.items():  # fmt: skip
            monkeypatch.setenv(name, value)
        writer = Writer(lambda: connect(address_from()), migrate.migrate)
        producer = clients.producer()
        for place, key, value, _ in told.log:
            producer.produce(place.topic, value, key.encode())
            producer.poll(0)
            if place.topic in PROJECTION:
                record = read(PROJECTION[place.topic], Place(*place), key.encode(), value)
                assert record is not None
                assert writer.write(by_table(record.rows)) == []
        assert producer.flush(20) == 0
        writer.close()
        yield Cli()
    admin = clients.admin(kafka.bootstrap)  # its answers die with it
    for deleted in admin.delete_topics(made).values():
        deleted.exception(timeout=20)


def held(topic: str) -> dict[str, bytes | None]:
    """Key → the newest value, as compaction leaves a topic."""
    found = read_all(every_partition(BY_NAME[topic]), lambda _: True)
    return {(one.key or b"").decode(): one.value for one in found}


def test_an_erasure_is_recorded_takes_the_ledgers_entries_and_nothing_is_put_back(
    cli: Cli, told: Recorded
) -> None:
    assert cli("privacy", "erase", "--customer", "cust-nobody", "--json").code == 1
    assert held("operations") == {}, "nothing is recorded of whom nothing is known"
    entries = {one.dispute_id: one for one in told.events("ledger")}
    mine = {name for name, entry in entries.items() if entry.customer_id == CUSTOMER}
    case = complaint_of(labelled("food-delivery")[0])
    broken = Complaint.model_validate({**case, "customer_id": CUSTOMER, "text": WORDS}).to_bytes()
    letter = DeadLetterBox(KEY).seal(
        stage="intake", topic="complaints", partition=3, offset=17, key=b"o", value=broken, error="x",
        now=datetime.now(UTC),
    )  # fmt: skip
    producer = clients.producer()
    producer.produce("dead-letters", letter.to_bytes(), b"o")
    assert producer.flush(20) == 0

    answer = cli("privacy", "erase", "--customer", CUSTOMER, "--as", "dpo", "--json")
    assert (answer.code, set(answer.json["disputes"])) == (0, mine)
    assert answer.json["rows"] > 0
    assert CUSTOMER not in answer.out
    pseudonym = customer_hash(KEY, CUSTOMER)
    acts = {key: Operation.from_bytes(value or b"") for key, value in held("operations").items()}
    assert acts.keys() == {*mine, pseudonym}
    assert {(one.action, one.actor) for one in acts.values()} == {("customer_erased", "dpo")}

    ledger = held("ledger")
    gone = {name for name, value in ledger.items() if value is None}
    assert gone == set(answer.json["tombstoned"])
    assert gone | set(answer.json["open"]) == mine
    assert gone
    for name in gone:
        assert cli("status", name, "--json").code == 1
    left = [LedgerEntry.from_bytes(value) for name, value in ledger.items() if value is not None]
    assert {one.customer_id for one in left if one.dispute_id not in mine} == {"cust-other"}

    refused = cli("dead-letters", "replay", letter.dead_letter_id, "--json")
    assert (refused.code, "was erased" in refused.json["error"]) == (2, True)
    again = cli("privacy", "erase", "--customer", CUSTOMER, "--as", "dpo", "--json")
    assert (again.code, again.json["rows"], set(again.json["disputes"])) == (0, 0, mine)
