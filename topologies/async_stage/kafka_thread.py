"""The thread that owns a stage's consumer and producer.

It reads, hands over to the calls on the loop, takes their results and commits them. Rebalance
callbacks run inside its polls and never inside a transaction, so a revoke waits for the commit
under way and then finds every partition in a known state.
"""

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable
from typing import Final

from confluent_kafka import (
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaError,
    TopicPartition,
)
from confluent_kafka import Message as Record

from topologies.async_stage.admission import Admission
from topologies.async_stage.assignments import Assignments
from topologies.async_stage.call_runner import CallRunner
from topologies.async_stage.committer import Committer
from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.errors import BrokerUnavailable, Fenced
from topologies.async_stage.message import Message
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.offset_tracker import Arrival
from topologies.async_stage.partition import Partition

LOG = logging.getLogger("refund_bench.async_stage")

_IDLE_POLL_S: Final = 0.25
_BUSY_WAIT_S: Final = 0.01
_FULL_WAIT_S: Final = 0.05
_MOST_AT_ONCE: Final = 500
_HEARTBEATS_S: Final = 2.5

Call = Callable[..., object]


class KafkaThread:
    """One stage's Kafka side. `call` runs a function on the asyncio loop."""

    def __init__(
        self,
        topic: str,
        consumer_factory: Callable[[], Consumer],
        committer: Committer,
        assignments: Assignments,
        runner: CallRunner,
        admission: Admission,
        metrics: StageMetrics,
        inbox: "queue.SimpleQueue[Result | None]",
        call: Call,
        order: Callable[[Message], bytes] | None,
        grace_s: float,
        revoke_wait_s: float,
    ) -> None:
        self._topic = topic
        self._consumer_factory = consumer_factory
        self._committer = committer
        self._assignments = assignments
        self._runner = runner
        self._admission = admission
        self._metrics = metrics
        self._inbox = inbox
        self._call = call
        self._order = order
        self._grace_s = grace_s
        self._revoke_wait_s = revoke_wait_s
        self._handed = 0
        self._closing = False
        self._stop = threading.Event()
        self._turn = 0

    def stop(self) -> None:
        """Admit nothing more, finish what runs within the grace, commit, end."""
        self._stop.set()
        self._inbox.put(None)

    def run(self) -> None:
        """Until stopped; raises StageFailed when it cannot go on."""
        self._committer.open()
        consumer = self._consumer_factory()
        self._consumer = consumer
        consumer.subscribe(
            [self._topic],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )
        try:
            while not self._stop.is_set():
                self._wait()
                self._read()
                self._assignments.resolve(consumer, time.monotonic())
                self._hand_over()
                self._commit_if_due()
            self._finish()
        finally:
            self._closing = True
            self._call(self._runner.cancel)
            consumer.close()
            self._committer.close()

    # Reading and handing over.

    def _wait(self) -> None:
        """Sleep until there is something to do: a result, a message, a commit that is due."""
        if not self._inbox.empty():
            self._collect()
            return
        now = time.monotonic()
        due = self._committer.wait_s(now)
        if due is None and not self._unfinished() and not self._assignments.resolving:
            self._arrived(self._consumer.poll(_IDLE_POLL_S))
            return
        wait = _BUSY_WAIT_S if self._room() > 0 else _FULL_WAIT_S
        wait = wait if due is None else min(wait, due)
        if wait > 0:
            try:
                self._insert(self._inbox.get(timeout=wait))
            except queue.Empty:
                return
        self._collect()

    def _collect(self) -> None:
        while True:
            try:
                self._insert(self._inbox.get_nowait())
            except queue.Empty:
                return

    def _insert(self, result: Result | None) -> None:
        if result is None:
            return
        if result.entry.partition.live:
            self._committer.add(result)
        else:
            self._metrics.late_results_dropped += 1

    def _read(self) -> None:
        """Take what is there. Even with no room one message, since polling is a duty."""
        buffered = sum(len(each.buffer) for each in self._assignments.owned.values())
        wanted = min(_MOST_AT_ONCE, max(1, self._room() - buffered))
        for record in self._consumer.consume(wanted, 0):
            self._arrived(record)

    def _arrived(self, record: Record | None) -> None:
        if record is None:
            return
        error = record.error()
        if error is not None:
            self._complain(error)
            return
        message = _message(record)
        partition = self._assignments.owned.get((message.topic, message.partition))
        if partition is not None:
            partition.buffer.append(message)

    def _complain(self, error: KafkaError) -> None:
        if error.code() == KafkaError.FENCED_INSTANCE_ID or (
            error.fatal() and "fenced" in error.str().lower()
        ):
            raise Fenced(f"another process has our group instance id: {error.str()}")
        if error.fatal():
            raise BrokerUnavailable(f"the consumer failed for good: {error.str()}")
        LOG.warning("the consumer reports: %s", error.str())

    def _room(self) -> int:
        on_the_way = self._handed - self._runner.received
        return self._admission.room(
            self._runner.running, self._runner.queued + on_the_way, self._runner.waiting
        )

    def _unfinished(self) -> bool:
        return any(
            each.tracker.has_unfinished or each.buffer for each in self._assignments.owned.values()
        )

    def _hand_over(self) -> None:
        """Give the calls as many messages as there is room for, the partitions in turn."""
        room = self._room()
        entries: list[Entry] = []
        partitions = list(self._assignments.owned.values())
        self._turn += 1
        start = self._turn % len(partitions) if partitions else 0
        open_ones = [*partitions[start:], *partitions[:start]]
        while open_ones and len(entries) < room:
            open_ones = [each for each in open_ones if self._admit_one(each, entries)]
        if entries:
            self._handed += len(entries)
            self._call(self._runner.submit, entries)
        for partition in partitions:
            self._pause_or_resume(partition)

    def _admit_one(self, partition: Partition, entries: list[Entry]) -> bool:
        """Move a message from the partition's buffer; False when it has none to give now."""
        while partition.buffer:
            message = partition.buffer[0]
            if not partition.tracker.fits(message.offset, self._admission.span):
                return False
            partition.buffer.popleft()
            arrival = partition.tracker.admit(message.offset)
            if arrival is Arrival.REWOUND:
                partition = self._rewind(partition)
                arrival = partition.tracker.admit(message.offset)
            if arrival is Arrival.NEW:
                key = self._order(message) if self._order else None
                entries.append(Entry(message, partition, key))
                return partition.live
            if arrival is Arrival.DONE:
                self._metrics.skipped_done += 1
            else:
                self._metrics.redelivered += 1
        return False

    def _rewind(self, partition: Partition) -> Partition:
        LOG.warning(
            "the log restarted below the committed offset: nothing of it counts as done",
            extra={"topic": partition.topic, "partition": partition.number},
        )
        self._metrics.rewinds += 1
        fresh = self._assignments.rewound(partition)
        fresh.buffer, partition.buffer = partition.buffer, fresh.buffer
        fresh.paused = partition.paused
        self._call(self._runner.forget, [partition])
        self._committer.drop([partition])
        return fresh

    def _pause_or_resume(self, partition: Partition) -> None:
        buffered = len(partition.buffer)
        if not partition.paused and self._admission.pauses(buffered):
            self._consumer.pause([partition.at()])
            partition.paused = True
        elif partition.paused and self._admission.resumes(buffered):
            self._consumer.resume([partition.at()])
            partition.paused = False

    # Committing.

    def _commit_if_due(self) -> None:
        self._committer.commit_if_due(self._consumer, self._probe_membership)

    def _probe_membership(self) -> None:
        """A lost producer id may mean a twin: long enough for the group to tell us so."""
        until = time.monotonic() + _HEARTBEATS_S
        while time.monotonic() < until and not self._stop.is_set():
            self._arrived(self._consumer.poll(0.1))

    # Rebalances. These run inside poll, consume or close.

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign([])
        self._committer.identify(consumer)
        self._assignments.assigned(partitions, time.monotonic())
        LOG.info("assigned", extra={"partitions": [each.partition for each in partitions]})

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Stop admitting, a brief wait, commit what is done, cancel the rest."""
        leaving = self._assignments.named(partitions)
        LOG.info("revoked", extra={"partitions": [each.partition for each in partitions]})
        if leaving and not self._closing and not self._committer.recovering:
            for partition in leaving:
                partition.buffer.clear()
            self._committer.identify(consumer, continues=True)
            until = time.monotonic() + self._revoke_wait_s
            while time.monotonic() < until and not self._stop.is_set():
                if not any(each.tracker.has_unfinished for each in leaving):
                    break
                self._serve_without_reading()
            self._committer.commit_now()
        self._let_go(consumer, partitions)

    def _serve_without_reading(self) -> None:
        with contextlib.suppress(queue.Empty):
            self._insert(self._inbox.get(timeout=_BUSY_WAIT_S))
        self._collect()
        self._hand_over()
        if self._committer.wait_s(time.monotonic()) == 0:
            self._committer.commit_now()

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """They are another's already: write nothing."""
        LOG.warning("lost", extra={"partitions": [each.partition for each in partitions]})
        self._committer.forget_identity()
        self._let_go(consumer, partitions)

    def _let_go(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        gone = self._assignments.removed(partitions)
        self._committer.drop(gone)
        self._call(self._runner.forget, gone)
        consumer.incremental_unassign([each.at() for each in gone])

    # The end.

    def _finish(self) -> None:
        """After stop: what runs may finish within the grace; what is done is committed."""
        self._call(self._runner.stop)
        until = time.monotonic() + self._grace_s
        for partition in self._assignments.owned.values():
            partition.buffer.clear()
        while time.monotonic() < until and self._runner.unsettled:
            self._serve_without_reading()
        self._collect()
        self._committer.commit_now()


def _message(record: Record) -> Message:
    kind, at = record.timestamp()
    return Message(
        record.topic() or "",
        record.partition() or 0,
        record.offset() or 0,
        record.key(),
        record.value() or b"",
        {name: value or b"" for name, value in record.headers() or ()},
        0 if kind == TIMESTAMP_NOT_AVAILABLE else at,
    )
