"""From Kafka's records to calls: buffers, admission, and what was finished before a restart."""

import logging
from collections.abc import Callable, Iterable
from typing import Final

from confluent_kafka import TIMESTAMP_NOT_AVAILABLE, Consumer, KafkaError
from confluent_kafka import Message as Record

from topologies.async_stage.admission import Admission
from topologies.async_stage.assignments import Assignments
from topologies.async_stage.call_runner import CallRunner
from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.errors import Fenced, StageFailed
from topologies.async_stage.message import Message
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.offset_tracker import Arrival
from topologies.async_stage.partition import Partition

LOG = logging.getLogger("refund_bench.async_stage")

_MOST_AT_ONCE: Final = 500


class Intake:
    """Used by the Kafka thread only; `call` runs a function on the asyncio loop."""

    def __init__(
        self,
        assignments: Assignments,
        runner: CallRunner,
        admission: Admission,
        metrics: StageMetrics,
        call: Callable[..., object],
        deliver: Callable[[Result], object],
        order: Callable[[Message], bytes] | None,
    ) -> None:
        self._assignments = assignments
        self._runner = runner
        self._admission = admission
        self._metrics = metrics
        self._call = call
        self._deliver = deliver
        self._order = order
        self._handed = 0
        self._closed = False
        self._turn = 0

    @property
    def idle(self) -> bool:
        """Nothing is at hand and nothing is under way."""
        return not any(
            each.buffer or each.tracker.has_unfinished for each in self._assignments.owned.values()
        )

    @property
    def room(self) -> int:
        """How many messages the calls would take now."""
        on_the_way = self._handed - self._runner.received
        queued = self._runner.queued + on_the_way
        return self._admission.room(self._runner.running, queued, self._runner.waiting)

    @property
    def calls_are_fed(self) -> bool:
        """Whether the calls have at hand what they can begin in the next few milliseconds."""
        return self.room <= self._admission.prefetch // 2

    def read(self, consumer: Consumer) -> None:
        """Take what is there. Even with no room one message, since polling is a duty."""
        buffered = sum(len(each.buffer) for each in self._assignments.owned.values())
        wanted = min(_MOST_AT_ONCE, max(1, self.room - buffered))
        for record in consumer.consume(wanted, 0):
            self.arrived(record)

    def arrived(self, record: Record | None) -> None:
        """One record from Kafka, or an error in its place."""
        if record is None:
            return
        error = record.error()
        if error is not None:
            _complain(error)
            return
        message = _message(record)
        partition = self._assignments.owned.get((message.topic, message.partition))
        if partition is not None and not self._closed:
            partition.buffer.append(message)

    def hand_over(self, consumer: Consumer) -> None:
        """Give the calls as many messages as there is room for, the partitions in turn."""
        partitions = list(self._assignments.owned.values())
        if not partitions:
            return
        room = self.room
        if room < self._admission.prefetch // 4:
            room = 0  # the calls have plenty at hand: a few at a time would only wake the loop
        entries: list[Entry] = []
        self._turn = (self._turn + 1) % len(partitions)
        giving = [*partitions[self._turn :], *partitions[: self._turn]]
        while giving and len(entries) < room:
            giving = [each for each in giving if self._admit_one(each, entries)]
        if entries:
            self._handed += len(entries)
            self._call(self._runner.submit, entries)
        for partition in self._assignments.owned.values():
            self._pause_or_resume(consumer, partition)

    def close(self) -> None:
        """Admit nothing more."""
        self._closed = True
        for partition in self._assignments.owned.values():
            partition.buffer.clear()

    def withdraw(self, partitions: list[Partition]) -> None:
        """Begin no more calls of these; their `withdrawn` says when that is so."""
        for partition in partitions:
            partition.buffer.clear()
        self._call(self._runner.withdraw, partitions)
        for partition in partitions:
            self._call(partition.withdrawn.set)

    def forget(self, partitions: Iterable[Partition]) -> None:
        """These are gone: their calls are cancelled."""
        gone = list(partitions)
        self._call(self._runner.forget, [*gone, *filter(None, (it.predecessor for it in gone))])

    def discard(self, entries: list[Entry]) -> None:
        """Somebody else finished these."""
        if entries:
            self._call(self._runner.discard, entries)

    def observe(self) -> None:
        """Refresh the gauges of the partitions."""
        owned = list(self._assignments.owned.values())
        self._metrics.span = {str(each.number): each.tracker.span for each in owned}
        self._metrics.paused = {str(each.number): int(each.paused) for each in owned}

    def _admit_one(self, partition: Partition, entries: list[Entry]) -> bool:
        """Move a message from the partition's buffer; False when it has none to give now."""
        while partition.buffer and partition.ready:
            message = partition.buffer[0]
            if not partition.tracker.fits(message.offset, self._admission.span):
                return False
            arrival = partition.tracker.admit(message.offset)
            if arrival is Arrival.REWOUND:
                self._rewind(partition)
                return False
            partition.buffer.popleft()
            if arrival is Arrival.NEW:
                entry = self._adopt(partition, message)
                if entry is None:
                    entry = Entry(message, partition, self._order_of(message))
                    entries.append(entry)
                partition.entries[message.offset] = entry
                return True
            if arrival is Arrival.DONE:
                self._metrics.skipped_done += 1
            else:
                self._metrics.redelivered += 1
        return False

    def _order_of(self, message: Message) -> bytes | None:
        """Its order key; what cannot be read keeps the record key's order and fails in its call."""
        if self._order is None:
            return None
        try:
            return self._order(message)
        except Exception:
            LOG.exception("no order key", extra={"offset": message.offset})
            return message.key or b""

    def _adopt(self, partition: Partition, message: Message) -> Entry | None:
        """A call that an earlier assignment of this partition began is not paid again."""
        entry = partition.inherited(message.offset)
        if entry is not None:
            entry.partition = partition
            self._metrics.adopted += 1
            result = partition.stranded.pop(message.offset, None)
            if result is not None:
                self._deliver(result)
        return entry

    def _rewind(self, partition: Partition) -> None:
        LOG.warning(
            "the log restarted below the committed offset: nothing of it counts as done",
            extra={"topic": partition.topic, "partition": partition.number},
        )
        self._metrics.rewinds += 1
        self._assignments.rewound(partition)
        self.forget([partition])

    def _pause_or_resume(self, consumer: Consumer, partition: Partition) -> None:
        buffered = len(partition.buffer)
        if not partition.paused and self._admission.pauses(buffered):
            consumer.pause([partition.at()])
            partition.paused = True
        elif partition.paused and self._admission.resumes(buffered):
            consumer.resume([partition.at()])
            partition.paused = False


def _complain(error: KafkaError) -> None:
    if error.code() == KafkaError.FENCED_INSTANCE_ID or (
        error.code() == KafkaError._FATAL and "fenced" in error.str().lower()
    ):
        raise Fenced(f"another process has our group instance id: {error.str()}")
    if error.fatal() or error.code() == KafkaError._FATAL:
        raise StageFailed(f"the consumer failed for good: {error.str()}")
    LOG.warning("the consumer reports: %s", error.str())


def _message(record: Record) -> Message:
    kind, at = record.timestamp()
    return Message(
        record.topic(),
        record.partition(),
        record.offset(),
        record.key(),
        record.value() or b"",
        {name: value or b"" for name, value in record.headers() or ()},
        0 if kind == TIMESTAMP_NOT_AVAILABLE else at,
    )
