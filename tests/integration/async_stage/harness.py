"""A stage in this process, topics of its own, and a reader who sees only what is committed."""

import contextlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, IsolationLevel, TopicPartition
from confluent_kafka.admin import OffsetSpec

from tests.support.kafka import Topics
from tests.support.wait import until
from topologies import clients
from topologies.async_stage import AsyncStage, AsyncWorker, StageSettings

PARTITIONS = 4


@dataclass
class Run:
    """A worker running in a thread."""

    worker: AsyncWorker
    thread: threading.Thread
    exit_codes: list[object] = field(default_factory=list)

    def stop(self, timeout_s: float = 30.0) -> None:
        self.worker.stop()
        self.join(timeout_s)

    def join(self, timeout_s: float = 30.0) -> None:
        self.thread.join(timeout_s)
        assert not self.thread.is_alive(), "the worker did not end"


def start(*stages: AsyncStage) -> Run:
    worker = AsyncWorker(stages)
    run: Run

    def target() -> None:
        try:
            worker.run()
            run.exit_codes.append(0)
        except SystemExit as end:
            run.exit_codes.append(end.code)

    run = Run(worker, threading.Thread(target=target, daemon=True))
    run.thread.start()
    return run


@contextlib.contextmanager
def running(*stages: AsyncStage) -> Iterator[Run]:
    run = start(*stages)
    try:
        yield run
    finally:
        run.stop()


@dataclass
class Lane:
    """An input and an output topic and the group between them."""

    topics: Topics
    partitions: int = PARTITIONS

    def __post_init__(self) -> None:
        self.input, self.output, self.dead = self.topics.make(
            "in", "out", "dead", partitions=self.partitions
        )
        self.bootstrap = self.topics.bootstrap

    def settings(self, **changes: Any) -> StageSettings:
        given: dict[str, Any] = {
            "bootstrap": self.bootstrap,
            "ordinal": 0,
            "group_prefix": self.topics.prefix,
            "dead_letter_topic": self.dead,
            "revoke_wait_s": 0.5,
        }
        return StageSettings(**{**given, **changes})

    def send(self, numbers: Iterable[int], partition: int | None = None) -> list[bytes]:
        """One message per number; its key is its number."""
        # An idempotent producer needs half a second before its first record.
        producer = clients.producer(self.bootstrap, **{"enable.idempotence": False})
        keys = []
        for number in numbers:
            key = str(number).encode()
            place = {} if partition is None else {"partition": partition}
            while True:
                try:
                    producer.produce(self.input, key=key, value=b"value " + key, **place)
                    break
                except BufferError:
                    producer.poll(0.1)
            keys.append(key)
        assert producer.flush(30) == 0
        return keys

    def committed(self, group: str) -> dict[int, tuple[int, str | None]]:
        """What the group has committed, by partition."""
        consumer = clients.consumer(group, bootstrap=self.bootstrap)
        try:
            asked = [TopicPartition(self.input, number) for number in range(self.partitions)]
            return {
                each.partition: (each.offset, each.metadata)
                for each in consumer.committed(asked, timeout=30)
            }
        finally:
            consumer.close()

    def reader(self, topic: str | None = None) -> "Reader":
        return Reader(self.bootstrap, topic or self.output, self.partitions)


class Reader:
    """Reads a topic from its beginning, committed records only, and remembers all of it."""

    def __init__(self, bootstrap: str, topic: str, partitions: int) -> None:
        self.records: list[Any] = []
        self._consumer: Consumer = clients.consumer(
            f"reader-of-{topic}", bootstrap=bootstrap, **{"enable.partition.eof": False}
        )
        self._admin = clients.admin(bootstrap)
        self._topic = topic
        self._partitions = range(partitions)
        self._consumer.assign([TopicPartition(topic, each, 0) for each in self._partitions])

    @property
    def keys(self) -> list[bytes]:
        return [record.key() for record in self.records]

    def poll(self, timeout_s: float = 0.05) -> None:
        for record in self._consumer.consume(1_000, timeout_s):
            assert record.error() is None, record.error()
            self.records.append(record)

    def until(self, count: int, timeout_s: float = 60.0) -> list[bytes]:
        """Wait for so many records; says their keys."""

        def enough() -> bool:
            self.poll()
            return len(self.records) >= count

        until(enough, timeout_s, every_s=0)
        return self.keys

    def to_the_end(self) -> list[bytes]:
        """Everything committed now: reads each partition up to its last stable offset."""
        # Not asked through the consumer: its connection is held by the fetch under way.
        asked = {
            TopicPartition(self._topic, each): OffsetSpec.latest() for each in self._partitions
        }
        answers = self._admin.list_offsets(
            asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=15
        )
        ends = {each.partition: answer.result(15).offset for each, answer in answers.items()}

        def there() -> bool:
            self.poll()
            positions = self._consumer.position(
                [TopicPartition(self._topic, each) for each in self._partitions]
            )
            return all(max(each.offset, 0) >= ends[each.partition] for each in positions)

        until(there, 30, every_s=0)
        return self.keys

    def close(self) -> None:
        self._consumer.close()


def exactly_once(sent: Iterable[bytes], seen: Iterable[bytes]) -> None:
    """Each input has one output and there is nothing else."""
    assert sorted(seen) == sorted(sent)
