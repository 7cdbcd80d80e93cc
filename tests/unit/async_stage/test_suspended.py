"""Partitions lost in an outage: what was paid for counts again, or never, by what is committed."""

from collections.abc import Callable
from typing import Any

from confluent_kafka import OFFSET_INVALID, TopicPartition

from topologies.async_stage.admission import Admission
from topologies.async_stage.assignments import Assignments
from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.intake import Intake
from topologies.async_stage.message import Message, Output
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.offset_codec import Progress, encode

PLACE = TopicPartition("input", 0)


class FakeConsumer:
    """Knows what is committed and nothing else."""

    def __init__(self) -> None:
        self.progress: Progress | None = None

    def committed(self, asked: list[TopicPartition], timeout: float) -> list[TopicPartition]:
        if self.progress is None:
            return [TopicPartition(each.topic, each.partition, OFFSET_INVALID) for each in asked]
        position, metadata = self.progress.position, encode(self.progress)
        return [TopicPartition(each.topic, each.partition, position, metadata) for each in asked]

    def incremental_assign(self, partitions: list[TopicPartition]) -> None: ...

    def pause(self, partitions: list[TopicPartition]) -> None: ...


class FakeRunner:
    """Takes messages and never calls."""

    running = queued = waiting = received = 0

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.discarded: list[Entry] = []

    def submit(self, entries: list[Entry]) -> None:
        self.entries += entries
        self.received += len(entries)

    def withdraw(self, partitions: Any) -> None: ...

    def forget(self, partitions: Any) -> None: ...

    def discard(self, entries: list[Entry]) -> None:
        self.discarded += entries


class Side:
    """The Kafka side without Kafka: everything asked of the loop is done at once."""

    def __init__(self) -> None:
        self.consumer: Any = FakeConsumer()
        self.runner: Any = FakeRunner()
        self.metrics = StageMetrics(10)
        self.delivered: list[Result] = []
        self.assignments = Assignments(120.0, self.metrics)
        self.intake = Intake(
            self.assignments,
            self.runner,
            Admission(10, 10, 100, 100),
            self.metrics,
            self._call,
            self.delivered.append,
            None,
        )

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        function(*arguments)

    def assign(self, progress: Progress | None) -> list[Entry]:
        self.consumer.progress = progress
        self.assignments.assigned([PLACE], now=1e12)
        overtaken = self.assignments.resolve(self.consumer, now=1e12)
        self.intake.discard(overtaken)
        return overtaken

    def lose(self) -> None:
        self.intake.withdraw(self.assignments.suspended([PLACE], now=0.0))

    def deliver(self, *offsets: int) -> list[int]:
        """Messages come from Kafka; the offsets handed to new calls."""
        before = len(self.runner.entries)
        partition = self.assignments.owned["input", 0]
        for offset in offsets:
            partition.buffer.append(Message("input", 0, offset, b"", b""))
        self.intake.hand_over(self.consumer)
        return [each.message.offset for each in self.runner.entries[before:]]

    def result(self, number: int) -> Result:
        return Result(self.runner.entries[number], [Output("out", b"", b"paid for")])


def test_a_running_call_is_adopted_by_the_next_assignment() -> None:
    side = Side()
    side.assign(None)
    assert side.deliver(0, 1, 2) == [0, 1, 2]
    side.lose()
    side.assign(Progress(0))
    assert side.deliver(0, 1, 2, 3) == [3], "only what was not begun before"
    late = side.result(1)
    assert late.entry.partition is side.assignments.owned["input", 0]
    assert late.entry.partition.live
    assert side.metrics.adopted == 3


def test_a_result_that_came_while_cut_off_is_delivered_when_its_message_is_again_ours() -> None:
    side = Side()
    side.assign(None)
    side.deliver(0, 1)
    side.lose()
    side.assignments.late(side.result(1))
    assert side.metrics.late_results_dropped == 0
    side.assign(Progress(0))
    assert side.deliver(0, 1) == []
    assert [each.entry.message.offset for each in side.delivered] == [1]


def test_what_another_instance_finished_meanwhile_is_discarded() -> None:
    side = Side()
    side.assign(None)
    side.deliver(0, 1, 2)
    side.lose()
    side.assignments.late(side.result(1))
    side.assign(Progress(0, b"\x02"))  # 1 is finished
    assert [each.message.offset for each in side.runner.discarded] == [1]
    assert side.deliver(0, 1, 2) == []
    assert side.delivered == []
    assert side.metrics.skipped_done == 1


def test_calls_survive_two_losses() -> None:
    side = Side()
    side.assign(None)
    side.deliver(0, 1)
    side.lose()
    side.assign(Progress(0))
    side.deliver(0)
    side.lose()
    side.assignments.late(side.result(0))
    side.assignments.late(side.result(1))
    side.assign(Progress(0))
    assert side.deliver(0, 1) == []
    assert [each.entry.message.offset for each in side.delivered] == [0, 1]
    assert all(each.entry.partition.live for each in side.delivered)


def test_a_call_that_was_dropped_is_made_again() -> None:
    side = Side()
    side.assign(None)
    side.deliver(0)
    side.runner.entries[0].dropped = True
    side.lose()
    side.assign(Progress(0))
    assert side.deliver(0) == [0]


def test_a_revoked_partition_is_not_suspended() -> None:
    side = Side()
    side.assign(None)
    side.deliver(0)
    late = side.result(0)
    side.assignments.removed([PLACE])
    side.assignments.late(late)
    assert side.metrics.late_results_dropped == 1
    side.assign(Progress(0))
    assert side.deliver(0) == [0]


def test_a_partition_that_does_not_come_back_is_given_up() -> None:
    side = Side()
    side.assign(None)
    side.deliver(0)
    side.lose()
    assert side.assignments.expired(now=119.0) == []
    assert len(side.assignments.expired(now=121.0)) == 1
    side.assign(Progress(0))
    assert side.deliver(0) == [0]
