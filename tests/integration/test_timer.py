"""timers ► timer app ► deadlines on Apache Kafka: due ones ring, also those set before it started."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from ops.local.kafka import LocalKafka
from schemas.timer import Deadline, Timer
from schemas.topics import DEADLINES, PARTITIONS, TIMERS
from tests.support.wait import until
from topologies import clients
from topologies.topic_admin import create_topics

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(120)]
CODE = (
    "from topologies.dead_letters import DeadLetterBox; from topologies.timer import TimerApp; "
    "raise SystemExit(TimerApp(DeadLetterBox(b'k' * 32)).run())"
)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A broker of our own, with the real topics."""
    kafka = LocalKafka(tmp_path_factory.mktemp("kafka"))
    kafka.start()
    create_topics(kafka.bootstrap, 1)
    yield kafka.bootstrap
    kafka.stop()


class App:
    """The timer app in a process of its own."""

    def __init__(self, bootstrap: str) -> None:
        self._environment = {**os.environ, "REFUND_BENCH_BROKER": bootstrap}
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen([sys.executable, "-c", CODE], env=self._environment)

    def end(self, how: signal.Signals) -> int:
        self.process.send_signal(how)
        return self.process.wait(15)


@pytest.fixture
def app(broker: str) -> Iterator[App]:
    running = App(broker)
    yield running
    if running.process.poll() is None:
        running.end(signal.SIGKILL)


def timer(due_at: datetime) -> Timer:
    name = uuid.uuid4().hex
    return Timer(
        at=datetime.now(UTC),
        timer_id=f"tally:tally_window:{name}",
        stage="tally",
        kind="tally_window",
        waiting_key=f"waiting-{name}",
        due_at=due_at,
        payload={"n": 1},
    )


def set_in_a_transaction(broker: str, *timers: Timer) -> None:
    """As our stages do it, so that markers follow the records."""
    producer = clients.transactional_producer(f"test-{uuid.uuid4().hex}", 0, broker)
    producer.init_transactions(15)
    producer.begin_transaction()
    for each in timers:
        producer.produce(TIMERS.name, key=each.timer_id, value=each.to_bytes())
    producer.commit_transaction(15)


class Reader:
    """Everything a topic holds, read on from call to call."""

    def __init__(self, broker: str, topic: str) -> None:
        self._consumer = clients.consumer(f"read-{uuid.uuid4().hex}", bootstrap=broker)
        self._consumer.assign([TopicPartition(topic, p, 0) for p in range(PARTITIONS)])
        self._seen: list[Any] = []

    def all(self) -> list[Any]:
        self._seen += [m for m in self._consumer.consume(500, 0.1) if m.error() is None]
        return self._seen

    def of(self, key: str) -> list[Any]:
        return [m for m in self.all() if m.key() == key.encode()]


def test_timers_ring_when_due_under_the_waiting_key_and_are_taken_back(
    broker: str, app: App
) -> None:
    deadlines, timers = Reader(broker, DEADLINES.name), Reader(broker, TIMERS.name)
    soon, later = (timer(datetime.now(UTC) + timedelta(seconds=s)) for s in (1, 600))
    set_in_a_transaction(broker, soon, later)
    [message] = until(lambda: deadlines.of(soon.waiting_key), 30)
    deadline = Deadline.from_bytes(message.value())
    assert deadline.model_dump(exclude={"at"}) == soon.model_dump(exclude={"at"})
    assert deadline.at >= soon.due_at, "never before it is due"
    until(lambda: any(m.value() is None for m in timers.of(soon.timer_id)))
    assert deadlines.of(later.waiting_key) == []


def test_a_timer_set_before_the_app_started_rings(broker: str) -> None:
    waiting = timer(datetime.now(UTC))
    set_in_a_transaction(broker, waiting)
    running, deadlines = App(broker), Reader(broker, DEADLINES.name)
    try:
        assert until(lambda: deadlines.of(waiting.waiting_key), 30)
    finally:
        running.end(signal.SIGKILL)


def test_killed_before_it_is_due_it_still_rings_after_the_restart(broker: str, app: App) -> None:
    deadlines = Reader(broker, DEADLINES.name)
    first = timer(datetime.now(UTC))
    set_in_a_transaction(broker, first)
    until(lambda: deadlines.of(first.waiting_key), 30)
    second = timer(datetime.now(UTC) + timedelta(seconds=2))
    set_in_a_transaction(broker, second)
    app.end(signal.SIGKILL)
    app.start()
    assert until(lambda: deadlines.of(second.waiting_key), 30)
    assert len(deadlines.of(first.waiting_key)) == 1, "its tombstone outlived the kill"


def test_a_wait_that_ended_early_does_not_ring(broker: str, app: App) -> None:
    ended, other = (
        timer(datetime.now(UTC) + timedelta(seconds=2)),
        timer(datetime.now(UTC) + timedelta(seconds=2.5)),
    )
    set_in_a_transaction(broker, ended, other)
    producer = clients.producer(broker)
    producer.produce(TIMERS.name, key=ended.timer_id, value=None)
    assert producer.flush(10) == 0
    deadlines = Reader(broker, DEADLINES.name)
    until(lambda: deadlines.of(other.waiting_key), 30)
    assert deadlines.of(ended.waiting_key) == []


def test_told_to_stop_it_ends_with_success(broker: str, app: App) -> None:
    set_in_a_transaction(broker, due := timer(datetime.now(UTC)))
    deadlines = Reader(broker, DEADLINES.name)
    until(lambda: deadlines.of(due.waiting_key), 30)
    assert app.end(signal.SIGTERM) == 0
