"""The commands that talk to Kafka, on Apache Kafka."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from ops.bounded_read import every_partition, read_all
from ops.local.kafka import LocalKafka
from schemas.complaint import Complaint
from schemas.operation import Operation
from schemas.topics import ALL, BY_NAME, COMPLAINTS, EVIDENCE, LEDGER, PARTITIONS
from streams.emit import emit
from tests.support.wait import until
from tests.unit.cli.bad_input import CASE, REFUSED, TO_A_PERSON, case
from tests.unit.cli.calling import Cli
from tests.unit.sinks.sample_events import WORDS, DisputeEvents
from topologies import clients
from topologies.dead_letters import DeadLetterBox
from topologies.partitioner import partition_of
from topologies.topic_admin import create_topics

pytestmark = pytest.mark.kafka
KEY = "an installation key for tests"


@pytest.fixture(scope="module")
def bootstrap(kafka: LocalKafka) -> Iterator[str]:
    """The contract's topics on the shared broker, gone after this module."""
    made = create_topics(kafka.bootstrap, replication=1)
    yield kafka.bootstrap
    admin = clients.admin(kafka.bootstrap)
    for deleted in admin.delete_topics(made).values():
        deleted.exception(timeout=20)


@pytest.fixture
def cli(bootstrap: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("REFUND_BENCH_BROKER", bootstrap)
    monkeypatch.setenv("REFUND_BENCH_REPLICATION", "1")
    monkeypatch.setenv("REFUND_BENCH_INSTALLATION_KEY", KEY)
    return Cli()


def order(number: str) -> bytes:
    def change(made: dict) -> None:
        made["complaint"]["order_id"] = made["evidence"]["order_id"] = number

    return case(change)


def produce(topic: str, key: str | None, value: bytes) -> None:
    producer = clients.producer()
    producer.produce(topic, key=key, value=value)
    assert producer.flush(20) == 0


def held(topic: str, key: str) -> list[bytes]:
    found = read_all(every_partition(BY_NAME[topic]), lambda one: one.key == key.encode())
    for one in found:
        assert one.partition == partition_of(key.encode(), PARTITIONS)
    return [one.value or b"" for one in found]


def test_topics_are_created_once_and_described_without_a_difference(cli: Cli) -> None:
    again = cli("topics", "create", "--json")
    assert (again.code, again.json["created"]) == (0, [])
    described = cli("topics", "describe", "--json")
    assert (described.code, described.json["differences"]) == (0, [])
    names = [topic["name"] for topic in described.json["topics"]]
    assert names[: len(ALL)] == [topic.name for topic in ALL]
    changelogs = [topic for topic in described.json["topics"] if topic["changelog_of"]]
    assert {topic["changelog_of"] for topic in changelogs} == {
        "intake", "tally", "settlement", "allowance", "ledger"
    }  # fmt: skip
    assert {topic["config"]["cleanup.policy"] for topic in changelogs} == {"compact"}


def test_a_topic_that_was_changed_by_hand_is_named(cli: Cli, bootstrap: str) -> None:
    def set_type(value: str) -> None:
        entry = ConfigEntry(
            "message.timestamp.type", value, incremental_operation=AlterConfigOpType.SET
        )
        resource = ConfigResource(ResourceType.TOPIC, "payments", incremental_configs=[entry])
        admin = clients.admin(bootstrap)
        for done in admin.incremental_alter_configs([resource]).values():
            done.result(timeout=10)

    set_type("CreateTime")
    try:
        until(lambda: cli("topics", "describe").code == 1, 10)
        answer = cli("topics", "describe", "--json")
        assert [(d["topic"], d["what"], d["found"]) for d in answer.json["differences"]] == [
            ("payments", "message.timestamp.type", "CreateTime")
        ]
        assert "kafka-configs" in cli("topics", "describe").out
    finally:
        set_type("LogAppendTime")


def test_submit_files_complaint_and_evidence_under_the_orders_key(cli: Cli) -> None:
    answer = cli("submit", "-", "--json", stdin=order("o-sub-1"))
    found = answer.json
    assert (answer.code, found["accepted"], found["rejected"], found["evidence"]) == (0, 1, 0, 1)
    assert found["disputes"][0]["order_id"] == "o-sub-1"
    complaint = Complaint.from_bytes(held("complaints", "o-sub-1")[0])
    assert (complaint.policy, complaint.evidence) == ("food-delivery", None)
    assert orjson.loads(held("evidence", "o-sub-1")[0])["paid_total_minor"] == 15000
    status = cli("status", "o-sub-1", "--json").json
    assert (status["status"], status["dispute_id"]) == ("received", found["disputes"][0]["dispute_id"])  # fmt: skip


def test_inline_evidence_travels_with_the_records_role(cli: Cli) -> None:
    cli("submit", "-", "--inline", stdin=order("o-sub-2"))
    complaint = Complaint.from_bytes(held("complaints", "o-sub-2")[0])
    assert complaint.source.role == "records"
    assert complaint.evidence is not None
    assert held("evidence", "o-sub-2") == []


def test_a_repeat_in_the_file_or_in_the_ledger_is_not_filed_again(cli: Cli) -> None:
    first = cli("submit", "-", "--json", stdin=order("o-dup") + b"\n" + order("o-dup")).json
    assert (first["accepted"], first["duplicates"]) == (1, 1)
    dispute = first["disputes"][0]["dispute_id"]
    assert first["disputes"][1] == {
        "line": 2, "order_id": "o-dup", "dispute_id": dispute, "duplicate": True
    }  # fmt: skip
    entry = DisputeEvents(1).ledger(1).model_copy(update={"dispute_id": dispute})
    produce(LEDGER.name, dispute, entry.to_bytes())
    second = cli("submit", "-", "--json", stdin=order("o-dup")).json
    assert (second["accepted"], second["duplicates"]) == (0, 1)
    assert len(held("complaints", "o-dup")) == 1


def test_bad_lines_are_rejected_and_the_others_filed(cli: Cli) -> None:
    bad, field = REFUSED["lone surrogate in the text"]
    odd, _ = TO_A_PERSON["amount negative"]
    answer = cli("submit", "-", "--json", stdin=b"\n".join([order("o-mix"), bad, odd]))
    found = answer.json
    assert (answer.code, found["accepted"], found["rejected"]) == (2, 2, 1)
    assert [(e["line"], e["field"]) for e in found["errors"]] == [(2, field)]
    assert [(w["line"], w["field"]) for w in found["warnings"]] == [
        (3, "evidence.paid_total_minor")
    ]


def test_an_identity_is_not_sent_as_evidence(cli: Cli) -> None:
    identity = {"kind": "food-order", "order_id": "o-none", "currency": "INR"}
    made = orjson.dumps(
        {**CASE, "complaint": {**CASE["complaint"], "order_id": "o-none"}, "evidence": identity}
    )
    assert cli("submit", "-", "--json", stdin=made).json["evidence"] == 0
    assert held("evidence", "o-none") == []


def test_status_and_explain_read_the_whole_trail(cli: Cli) -> None:
    events = DisputeEvents(77, filed=datetime.now(UTC) - timedelta(seconds=30))
    producer = clients.producer()
    for topic, made in events.all().items():
        for event in made:
            if topic != "dead-letters":
                one = emit(BY_NAME[topic], event)
                producer.produce(topic, key=one.key, value=event.to_bytes())
    assert producer.flush(20) == 0
    other = DisputeEvents(78)  # another dispute under the same order
    produce("disputes", "1916", other.dispute().model_copy(update=events.order | {"dispute_id": "d-000078"}).to_bytes())  # fmt: skip
    for asked in ("d-000077", "1916"):
        status = cli("status", asked, "--json")
        assert (status.code, status.json["status"]) == (0, "part_paid_in_review")
        assert status.json["sequence"] == 9
    assert WORDS not in cli("status", "1916").out
    found = cli("explain", "d-000077", "--json").json
    assert [len(g["rulings"]) for g in found["grievances"]] == [3, 3, 3, 3]
    assert found["grievances"][2]["votes"]["ESCALATE"] == 2
    assert found["grievances"][1]["line"]["amount_minor"] == 64000
    assert found["payments"][0]["amount_minor"] == 68900
    whose = {step["event"].get("dispute_id") or step["event"]["subject"] for step in found["steps"]}
    assert whose == {"d-000077"}
    assert len(found["steps"]) == sum(map(len, events.all().values())) - 1
    assert [op["operation_id"] for op in found["operations"]] == ["read-d-000077"]
    assert cli("explain", "d-000077", "--as", "two words").code == 2
    tree = cli("explain", "1916", "--as", "auditor-7").out
    read = cli("explain", "1916", "--json").json["operations"][-1]
    assert (read["action"], read["actor"], read["details"]["command"]) == (
        "customer_text_read", "auditor-7", "explain",
    )  # fmt: skip
    for shown in ("sha256:evidence", "MISSING_ITEM", "count: 3 UPHELD", "2 × 320.00", "₹689.00", "letter, outcome"):  # fmt: skip
        assert shown in tree


def test_an_unknown_id_is_an_answer_of_its_own(cli: Cli) -> None:
    for command in ("status", "explain"):
        answer = cli(command, "d-000000000000000000000000", "--json")
        assert (answer.code, answer.json["ok"]) == (1, False)


def dead_letter(
    topic: str, value: bytes, offset: int, key: bytes | None, error: str = "text: is empty"
) -> str:
    letter = DeadLetterBox(KEY.encode()).seal(
        stage="intake", topic=topic, partition=3, offset=offset, key=key, value=value,
        error=error, now=datetime.now(UTC),
    )  # fmt: skip
    produce("dead-letters", key.decode() if key else topic, letter.to_bytes())
    return letter.dead_letter_id


def test_a_dead_letter_is_listed_shown_repaired_and_put_back(cli: Cli, tmp_path: Path) -> None:
    broken = orjson.dumps({**CASE["complaint"], "policy": "food-delivery", "text": ""})
    letter = dead_letter("complaints", broken, 17, b"order-9001")
    items = cli("dead-letters", "list", "--json").json["items"]
    mine = next(item for item in items if item["id"] == letter)
    assert (mine["topic"], mine["partition"], mine["offset"]) == ("complaints", 3, 17)
    assert (mine["error"], mine["replayed_at"]) == ("text: is empty", None)
    shown = cli("dead-letters", "show", letter, "--as", "sre-2", "--json").json
    [read] = [Operation.from_bytes(one) for one in held("operations", letter)]
    assert (read.action, read.actor) == ("customer_text_read", "sre-2")
    assert (shown["value"].encode(), shown["key"]) == (broken, "order-9001")

    file = tmp_path / "repaired.json"
    file.write_bytes(broken)
    refused = cli("dead-letters", "replay", letter, "--file", str(file), "--json")
    assert (refused.code, refused.json["errors"][0]["field"]) == (2, "text")

    file.write_bytes(broken.replace(b'"text":""', b'"text":"One roti is missing"') + b"\n")
    answer = cli("dead-letters", "replay", letter, "--file", str(file), "--json")
    assert (answer.code, answer.json["key"]) == (0, "order-9001")
    assert Complaint.from_bytes(held("complaints", "order-9001")[-1]).text == "One roti is missing"
    noted = next(i for i in cli("dead-letters", "list", "--json").json["items"] if i["id"] == letter)  # fmt: skip
    assert (noted["replays"], noted["error"]) == (1, "replayed: text: is empty")
    open_ids = [i["id"] for i in cli("dead-letters", "list", "--open", "--json").json["items"]]
    assert letter not in open_ids


def test_a_record_that_came_without_a_key_goes_back_under_its_own(cli: Cli) -> None:
    whole = orjson.dumps({**CASE["evidence"], "order_id": "o-nokey"})
    letter = dead_letter(EVIDENCE.name, whole, 18, None)
    assert cli("dead-letters", "replay", letter, "--json").json["key"] == "o-nokey"
    assert held("evidence", "o-nokey") == [whole]
    garbage = dead_letter(COMPLAINTS.name, b"\xff\x00", 19, None)
    assert cli("dead-letters", "replay", garbage).code == 2
    assert cli("dead-letters", "show", garbage, "--json").json["value_base64"] == "/wA="


def test_a_dead_letter_of_another_installation_stays_shut(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = dead_letter("complaints", b"{}", 20, b"order-9001")
    monkeypatch.setenv("REFUND_BENCH_INSTALLATION_KEY", "another installation's key")
    answer = cli("dead-letters", "show", letter, "--json")
    assert (answer.code, "installation key" in answer.json["error"]) == (2, True)


def test_what_the_async_stage_could_not_wrap_is_still_listed(cli: Cli) -> None:
    producer = clients.producer()
    headers = {"origin.topic": b"decisions", "origin.partition": b"4", "origin.offset": b"5", "error.type": b"X"}  # fmt: skip
    producer.produce("dead-letters", key="k", value=b"not a letter", headers=headers)
    assert producer.flush(20) == 0
    item = next(i for i in cli("dead-letters", "list", "--json").json["items"] if i["id"].startswith("unwrapped"))  # fmt: skip
    assert (item["topic"], item["partition"], item["offset"]) == ("decisions", 4, 5)
    assert cli("dead-letters", "show", item["id"], "--json").json["value"] == "not a letter"
