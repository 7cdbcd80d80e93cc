"""The traps that DESIGN.md lists, each sprung on Apache Kafka."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from confluent_kafka import OFFSET_END, TopicPartition
from quixstreams import Application

from ops.cases import complaint_of, evidence_of, labelled
from ops.local.kafka import LocalKafka
from schemas.ids import dispute_id
from schemas.topics import COMPLAINTS, DEADLINES, DISPUTES, EVIDENCE, PARTITIONS, PROPOSALS, REVIEWS
from topologies import clients, intake
from topologies.partitioner import partition_of
from topologies.quix_app import InputSetChanged, application, changelog, output_topic
from topologies.settings import Settings
from topologies.topic_admin import create_topics

KEY = b"traps test installation key"
IDLE_S = 1.0

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKafka]:
    """A broker of our own, with the real topics."""
    kafka = LocalKafka(tmp_path_factory.mktemp("kafka"))
    kafka.start()
    before = os.environ.copy()
    os.environ["REFUND_BENCH_BROKER"] = kafka.bootstrap
    os.environ["REFUND_BENCH_INSTALLATION_KEY"] = KEY.decode()
    os.environ["REFUND_BENCH_REPLICATION"] = "1"
    create_topics(kafka.bootstrap)
    yield kafka
    os.environ.clear()
    os.environ.update(before)
    kafka.stop()


def settings(folder: Path) -> Settings:
    return Settings.from_environment({**os.environ, "REFUND_BENCH_STATE_DIR": str(folder)})


def run_intake(folder: Path) -> None:
    """Run the intake app until its inputs have been silent for a while, in a process of its own as in
    production: several Quix applications after another in one process have crashed its collector."""
    code = (
        "from topologies import intake; from topologies.settings import Settings; "
        "settings = Settings.from_environment(); "
        f"intake.stage(settings).build(settings).run(timeout={IDLE_S})"
    )
    environment = {**os.environ, "REFUND_BENCH_STATE_DIR": str(folder)}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True, timeout=60)


def produce(topic: str, key: str, value: dict[str, Any], timestamp: datetime | None = None) -> None:
    producer = clients.producer()
    extra = {"timestamp": int(timestamp.timestamp() * 1000)} if timestamp else {}
    producer.produce(topic, key=key, value=orjson.dumps(value), **extra)
    assert producer.flush(10) == 0


def read_all(topic: str) -> list[Any]:
    """Every committed record of a topic."""
    consumer = clients.consumer(f"read-{uuid.uuid4()}")
    partitions = [TopicPartition(topic, p, 0) for p in range(PARTITIONS)]
    ends = {p.partition: consumer.get_watermark_offsets(p, timeout=10)[1] for p in partitions}
    consumer.assign([p for p in partitions if ends[p.partition]])
    found: list[Any] = []
    open_partitions = {p for p, end in ends.items() if end}
    while open_partitions:
        for message in consumer.consume(500, 0.2):
            assert message.error() is None, message.error()
            found.append(message)
        # Transaction markers take offsets too, so the position says when a partition has been read.
        at = {
            p.partition: p.offset
            for p in consumer.position([TopicPartition(topic, p) for p in open_partitions])
        }
        open_partitions = {p for p in open_partitions if at[p] < ends[p]}
    consumer.close()
    return found


def food(
    case_id: str, order: str, text: str | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    case = next(case for case in labelled("food-delivery") if case["id"].startswith(case_id))
    complaint = {**complaint_of(case), "order_id": order, "customer_id": f"c-{order}"}
    if text:
        complaint["text"] = text
    record = evidence_of(case)
    assert record is not None
    return complaint, {**record, "order_id": order, "customer_id": f"c-{order}"}


def test_one_key_through_every_producer_lands_in_one_partition(
    broker: LocalKafka, tmp_path: Path
) -> None:
    keys = [f"order-{n}" for n in range(40)] + ["₹-order", "d-1.g2", "x"]
    plain = clients.producer()
    transactional = clients.transactional_producer("traps", 0)
    transactional.init_transactions(10)
    transactional.begin_transaction()
    for key in keys:
        plain.produce(REVIEWS.name, key=key.encode(), value=b"plain")
        transactional.produce(REVIEWS.name, key=key.encode(), value=b"transactional")
    plain.flush(10)
    transactional.commit_transaction(10)
    app: Application = application("traps", settings(tmp_path))
    topic = output_topic(app, REVIEWS)
    with app.get_producer() as quix:
        for key in keys:
            quix.produce(topic.name, key=key.encode(), value=b"quix")
        quix.flush(10)
    where: dict[str, set[int]] = {}
    writers: dict[str, set[bytes]] = {}
    for message in read_all(REVIEWS.name):
        where.setdefault(message.key().decode(), set()).add(message.partition())
        writers.setdefault(message.key().decode(), set()).add(message.value())
    assert where == {key: {partition_of(key.encode(), PARTITIONS)} for key in keys}
    assert all(writers[key] == {b"plain", b"transactional", b"quix"} for key in keys)


def test_a_record_dated_400_days_ahead_makes_nobody_forget(
    broker: LocalKafka, tmp_path: Path
) -> None:
    complaint, record = food("food-06", "calm")
    produce(COMPLAINTS.name, "calm", complaint)
    produce(EVIDENCE.name, "calm", record)
    run_intake(tmp_path)
    # Another order of the same partition brings a timestamp far in the future.
    home = partition_of(b"calm", PARTITIONS)
    other = next(
        f"rush-{n}" for n in range(500) if partition_of(f"rush-{n}".encode(), PARTITIONS) == home
    )
    rushed, rushed_record = food("food-06", other)
    ahead = datetime.now(UTC) + timedelta(days=400)
    produce(COMPLAINTS.name, other, rushed, ahead)
    produce(EVIDENCE.name, other, rushed_record, ahead)
    # The first complaint once more: it must still be known.
    produce(COMPLAINTS.name, "calm", complaint)
    run_intake(tmp_path)
    opened = [orjson.loads(m.value())["order_id"] for m in read_all(DISPUTES.name)]
    assert opened.count("calm") == 1
    assert opened.count(other) == 1
    newest = max(m.timestamp()[1] for m in read_all(COMPLAINTS.name))
    assert newest < datetime.now(UTC).timestamp() * 1000 + 60_000, (
        "the broker's clock stamps records, not the sender's"
    )


def test_an_input_purged_by_retention_costs_no_memory(broker: LocalKafka, tmp_path: Path) -> None:
    complaint, record = food("food-22", "purged")
    produce(COMPLAINTS.name, "purged", complaint)
    produce(EVIDENCE.name, "purged", record)
    run_intake(tmp_path)
    # While the app is away more comes, and retention takes it before anyone has read it.
    for n in range(3):
        produce(EVIDENCE.name, "purged", {**record, "note": n})
    admin = clients.admin()
    purge = [TopicPartition(EVIDENCE.name, p, OFFSET_END) for p in range(PARTITIONS)]
    for future in admin.delete_records(purge).values():
        future.result(10)
    produce(COMPLAINTS.name, "purged", complaint)
    run_intake(tmp_path)
    opened = [orjson.loads(m.value())["order_id"] for m in read_all(DISPUTES.name)]
    assert opened.count("purged") == 1, (
        "the state was rebuilt from the changelog and still knows the dispute"
    )


def test_state_survives_the_loss_of_the_state_directory(broker: LocalKafka, tmp_path: Path) -> None:
    complaint, record = food("food-13", "moved")
    produce(COMPLAINTS.name, "moved", complaint)
    produce(EVIDENCE.name, "moved", record)
    run_intake(tmp_path / "first")
    produce(COMPLAINTS.name, "moved", complaint)
    run_intake(tmp_path / "second")
    opened = [orjson.loads(m.value())["order_id"] for m in read_all(DISPUTES.name)]
    assert opened.count("moved") == 1


def test_a_changed_input_set_is_refused_at_start(broker: LocalKafka, tmp_path: Path) -> None:
    stage = intake.stage(settings(tmp_path))
    stage.inputs = (COMPLAINTS, EVIDENCE, DEADLINES, PROPOSALS)
    with pytest.raises(InputSetChanged, match="intake keeps its state in"):
        stage.build(settings(tmp_path))
    assert (
        changelog("intake", (COMPLAINTS, EVIDENCE, DEADLINES))
        in clients.admin().list_topics(timeout=10).topics
    )


def test_evidence_before_its_complaint_waits_for_it(broker: LocalKafka, tmp_path: Path) -> None:
    complaint, record = food("food-05", "early")
    produce(EVIDENCE.name, "early", record)
    run_intake(tmp_path)
    produce(COMPLAINTS.name, "early", complaint)
    run_intake(tmp_path)
    opened = [orjson.loads(m.value()) for m in read_all(DISPUTES.name)]
    mine = [dispute for dispute in opened if dispute["order_id"] == "early"]
    assert [dispute["dispute_id"] for dispute in mine] == [
        dispute_id(KEY, "early", complaint["text"])
    ]
    assert mine[0]["evidence"]["line_items"] == record["line_items"]
