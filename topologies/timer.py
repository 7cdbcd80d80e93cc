"""timers (compacted) ► timer app ► deadlines. "It is time", once.

A stage that waits writes a timer in its own transaction; this app keeps those of its partitions in a
heap. When one is due it produces the deadline under the waiting key and the timer's tombstone in one
transaction. Apart, a crash between the two would repeat the deadline, and a stage that has forgotten
its wait by then would take it for one where nobody ever answered; and a timer that a stage sets again
when it hears the deadline could stand before the old one's tombstone, and never ring. A restart reads
the compacted topic again; there is nothing else to recover.
"""

import heapq
import logging
import signal
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, TopicPartition

from schemas.dead_letter import DeadLetter
from schemas.timer import Deadline, Timer
from schemas.topics import DEAD_LETTERS, DEADLINES, TIMERS
from topologies import clients
from topologies.dead_letters import DeadLetterBox, describe, record_key
from topologies.keyed_stage import FITS
from topologies.quix_app import group

log = logging.getLogger("refund_bench.timer")
POLL_S = 0.1
BATCH = 2_000
BROKER_ANSWERS_WITHIN_S = 30.0
SAY_WHEN_AT_THE_END: dict[str, Any] = {"enable.partition.eof": True}


class TimerHeap:
    """The open timers by due time. Pure; a timer that was replaced or cancelled is skipped when popped."""

    def __init__(self) -> None:
        self._timers: dict[str, tuple[int, Timer]] = {}
        self._heap: list[tuple[datetime, str]] = []

    def __len__(self) -> int:
        return len(self._timers)

    def set(self, partition: int, timer: Timer) -> None:
        self._timers[timer.timer_id] = (partition, timer)
        heapq.heappush(self._heap, (timer.due_at, timer.timer_id))

    def cancel(self, timer_id: str) -> None:
        self._timers.pop(timer_id, None)

    def drop_partition(self, partition: int) -> None:
        """Forget the timers of a partition that is another instance's now."""
        self._timers = {key: held for key, held in self._timers.items() if held[0] != partition}

    def due(self, now: datetime) -> list[Timer]:
        """Take out every timer whose time has come, earliest first."""
        ready: list[Timer] = []
        while self._heap and self._heap[0][0] <= now:
            due_at, timer_id = heapq.heappop(self._heap)
            held = self._timers.get(timer_id)
            if held is not None and held[1].due_at == due_at:
                del self._timers[timer_id]
                ready.append(held[1])
        return ready


def deadline_of(timer: Timer, now: datetime) -> Deadline:
    """The deadline that answers a timer."""
    return Deadline(at=now, **timer.model_dump(exclude={"at", "schema_version"}))


def read_timer(key: bytes | None, value: bytes) -> Timer:
    """A timer that can be answered.

    Raises:
        ValueError: not a timer; under another key than its own, where its tombstone would not reach it
            and every restart would ring it again; or its deadline could not be written, which would end
            the app at every start.
    """
    timer = Timer.from_bytes(value)
    if key != timer.timer_id.encode():
        raise ValueError("record: its key is not its timer_id")
    try:
        size = len(deadline_of(timer, timer.at).to_bytes())
    except TypeError as error:
        raise ValueError(f"payload: cannot be written again: {error}") from None
    if size >= FITS:
        raise ValueError(f"record: {size} bytes is too large to be answered")
    return timer


class TimerApp:
    """Reads timers, keeps them, answers when due."""

    def __init__(
        self, box: DeadLetterBox, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._box = box
        self._clock = clock
        self._refused: list[tuple[bytes, DeadLetter]] = []
        self._heap = TimerHeap()
        self._stop = threading.Event()
        self._consumer = clients.consumer(
            group("timer"), instance=clients.ordinal(), **SAY_WHEN_AT_THE_END
        )
        self._producer = clients.transactional_producer(group("timer"), clients.ordinal())
        self._behind: set[int] = set()
        """Partitions whose end has not been reached yet: a tombstone may still come for what was read."""

    def stop(self, *_: Any) -> None:
        self._stop.set()

    def run(self) -> int:
        """Run until SIGTERM or SIGINT.

        Raises:
            KafkaException: deadlines could not be delivered; a restart reads the timers again.
        """
        signal.signal(signal.SIGTERM, self.stop)
        signal.signal(signal.SIGINT, self.stop)
        self._producer.init_transactions(BROKER_ANSWERS_WITHIN_S)
        self._consumer.subscribe(
            [TIMERS.name], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )
        log.info("timer app started", extra={"broker": clients.broker()})
        try:
            while not self._stop.is_set():
                for message in self._consumer.consume(BATCH, POLL_S):
                    self._take(message)
                self._bury()
                if not self._behind:
                    self._ring(self._heap.due(self._clock()))
        finally:
            self._consumer.close()
        return 0

    def _assigned(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            partition.offset = OFFSET_BEGINNING
            self._behind.add(partition.partition)
        consumer.assign(partitions)

    def _revoked(self, consumer: Any, partitions: list[TopicPartition]) -> None:
        for partition in partitions:
            self._behind.discard(partition.partition)
            self._heap.drop_partition(partition.partition)

    def _take(self, message: Any) -> None:
        if message.error():
            if message.error().code() == KafkaError._PARTITION_EOF:
                self._behind.discard(message.partition())
            else:
                log.warning("cannot read timers", extra={"error": message.error().str()})
            return
        timer_id = (message.key() or b"").decode("utf-8", "replace")
        if message.value() is None:
            self._heap.cancel(timer_id)
            return
        try:
            self._heap.set(message.partition(), read_timer(message.key(), message.value()))
        except ValueError as error:
            self._refuse(message, error)

    def _refuse(self, message: Any, error: ValueError) -> None:
        """Our own stages write this topic; a timer that cannot be read has no waiter to answer."""
        letter = self._box.seal(
            stage="timer",
            topic=TIMERS.name,
            partition=message.partition(),
            offset=message.offset(),
            key=message.key(),
            value=message.value(),
            error=describe(error),
            now=datetime.fromtimestamp(message.timestamp()[1] / 1000, UTC),
        )
        log.warning(
            "dead letter",
            extra={
                "stage": "timer", "dead_letter_id": letter.dead_letter_id, "error": letter.error,
            },
        )  # fmt: skip
        self._refused.append((record_key(message.key(), TIMERS.name), letter))

    def _bury(self) -> None:
        if not self._refused:
            return
        self._producer.begin_transaction()
        for key, letter in self._refused:
            self._produce(DEAD_LETTERS.name, key, letter.to_bytes())
        self._commit()
        self._refused.clear()

    def _ring(self, timers: list[Timer]) -> None:
        for first in range(0, len(timers), BATCH):
            batch = timers[first : first + BATCH]
            now = self._clock()
            self._producer.begin_transaction()
            for timer in batch:
                answer = deadline_of(timer, now).to_bytes()
                self._produce(DEADLINES.name, timer.waiting_key.encode(), answer)
                self._produce(TIMERS.name, timer.timer_id.encode(), None)
            self._commit()
            log.info("deadlines", extra={"count": len(batch)})

    def _produce(self, topic: str, key: bytes, value: bytes | None) -> None:
        while True:
            try:
                self._producer.produce(topic, key=key, value=value)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _commit(self) -> None:
        """Until it is known; a broker that restarts is no reason to start again ourselves."""
        while True:
            try:
                self._producer.commit_transaction(BROKER_ANSWERS_WITHIN_S)
                return
            except KafkaException as error:
                if not error.args[0].retriable():
                    raise
