"""Runs the handler's calls on the asyncio loop: slots, retries, deadlines, the breaker.

Everything here happens on the loop; the Kafka thread reads a few counters and gets results
through `deliver`. A message holds a slot only while its call runs. However a call and its
timeout race, an entry is settled once, because one coroutine decides it.
"""

import asyncio
import dataclasses
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from topologies.async_stage.circuit_breaker import CircuitBreaker
from topologies.async_stage.dead_letters import DeadLetterOffice
from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.errors import DeadlineExceeded, ProviderDown, RetryLater
from topologies.async_stage.key_order import KeyOrder
from topologies.async_stage.message import Message, Output
from topologies.async_stage.metrics import BusyMeter, StageMetrics
from topologies.async_stage.partition import Partition
from topologies.async_stage.retry_policy import RetryPolicy

LOG = logging.getLogger("refund_bench.async_stage")

Handler = Callable[[Message], Awaitable[list[Output]]]
OnExhausted = Callable[[Message, BaseException], Awaitable[list[Output]]]


@dataclasses.dataclass(frozen=True, slots=True)
class CallLimits:
    """How many calls, and for how long."""

    slots: int
    attempt_timeout_s: float
    deadline_s: float


class CallRunner:
    """One stage's calls."""

    def __init__(
        self,
        handler: Handler,
        on_exhausted: OnExhausted | None,
        office: DeadLetterOffice,
        limits: CallLimits,
        retry: RetryPolicy,
        breaker: CircuitBreaker,
        metrics: StageMetrics,
        deliver: Callable[[Result | None], None],
    ) -> None:
        self._handler = handler
        self._on_exhausted = on_exhausted
        self._office = office
        self._limits = limits
        self._retry = retry
        self._breaker = breaker
        self._metrics = metrics
        self._deliver = deliver
        self._order = KeyOrder()
        self._fresh: deque[Entry] = deque()
        self._due: deque[Entry] = deque()
        self._backoff: dict[Entry, asyncio.TimerHandle] = {}
        self._running: set[Entry] = set()
        self._exhausting: set[Entry] = set()
        self._probe_timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self.busy = BusyMeter(limits.slots, time.monotonic())
        self.received = 0

    # What the Kafka thread reads.

    @property
    def running(self) -> int:
        """Calls running."""
        return len(self._running)

    @property
    def unsettled(self) -> int:
        """Calls running, and messages whose end is being written."""
        return len(self._running) + len(self._exhausting)

    @property
    def queued(self) -> int:
        """Messages that could start at once if there were a slot."""
        return len(self._fresh) + len(self._due)

    @property
    def waiting(self) -> int:
        """Messages that could not."""
        return len(self._backoff) + self._order.blocked

    # What it asks for, through call_soon_threadsafe.

    def submit(self, entries: list[Entry]) -> None:
        """Take these messages."""
        self.received += len(entries)
        for entry in entries:
            if self._order.enter(entry):
                self._fresh.append(entry)
        self._pump()

    def forget(self, partitions: Iterable[Partition]) -> None:
        """These partitions are no longer ours: cancel their calls, drop the rest."""
        gone = set(partitions)
        self._order.forget(gone)
        for entry in self._everything():
            if entry.partition in gone:
                self._drop(entry)
        self._fresh = deque(entry for entry in self._fresh if not entry.dropped)
        self._due = deque(entry for entry in self._due if not entry.dropped)
        self._pump()

    def stop(self) -> None:
        """Start no more calls; the running ones go on."""
        self._stopped = True
        for timer in self._backoff.values():
            timer.cancel()
        if self._probe_timer:
            self._probe_timer.cancel()

    def cancel(self) -> None:
        """Abandon the running calls."""
        for entry in [*self._running, *self._exhausting]:
            self._drop(entry)

    def observe(self) -> None:
        """Refresh the gauges that only this thread knows."""
        now = time.monotonic()
        started = [entry.first_started_at for entry in [*self._running, *self._due, *self._backoff]]
        oldest = min((at for at in started if at is not None), default=now)
        self._metrics.oldest_in_flight_s = now - oldest
        self._metrics.in_flight = len(self._running)
        self._metrics.queued = len(self._fresh)
        self._metrics.waiting_on_retry = len(self._backoff) + len(self._due)
        self._metrics.waiting_on_order = self._order.blocked
        self._metrics.breaker_state = int(self._breaker.state)

    # How it works.

    def _everything(self) -> list[Entry]:
        waiting = [*self._fresh, *self._due, *self._backoff]
        return [*self._running, *self._exhausting, *waiting]

    def _pump(self) -> None:
        while len(self._running) < self._limits.slots and not self._stopped:
            queue = self._due or self._fresh
            if not queue:
                return
            now = time.monotonic()
            if not self._breaker.may_start(now):
                self._wait_for_probe(now)
                return
            self._start(queue.popleft(), now)

    def _start(self, entry: Entry, now: float) -> None:
        if entry.first_started_at is None:
            entry.first_started_at = now
            entry.deadline_at = self._breaker.active(now) + self._limits.deadline_s
        self._running.add(entry)
        self._metrics.calls += 1
        self.busy.set(len(self._running), now)
        entry.task = asyncio.get_running_loop().create_task(self._attempt(entry, now))

    async def _attempt(self, entry: Entry, started_at: float) -> None:
        left = self._time_left(entry, started_at)
        failure: RetryLater | None = None
        outputs: list[Output] = []
        try:
            if left > 0:
                async with asyncio.timeout(left):
                    outputs = await self._handler(entry.message)
        except RetryLater as error:
            failure = error
        except TimeoutError:
            failure = RetryLater("timeout")
        except asyncio.CancelledError:
            entry.dropped = True
        except Exception as error:
            outputs = [self._dead_letter(entry, error)]
        now = time.monotonic()
        self._running.discard(entry)
        self.busy.set(len(self._running), now)
        if entry.dropped:
            self._leave(entry)
        elif left <= 0:
            await self._exhaust(entry, RetryLater("waiting for a slot"))
        elif failure is None:
            if self._breaker.succeeded(started_at, now):
                LOG.warning("breaker closed")
            self._settle(entry, outputs)
        elif self._back_off(entry, failure, now):
            self._deliver(None)
        else:
            await self._exhaust(entry, failure)
        self._pump()

    def _time_left(self, entry: Entry, now: float) -> float:
        assert entry.deadline_at is not None
        left = entry.deadline_at - self._breaker.active(now)
        return max(0.0, min(self._limits.attempt_timeout_s, left))

    def _back_off(self, entry: Entry, failure: RetryLater, now: float) -> bool:
        """Arrange the next attempt; False when there is no time for one."""
        down = isinstance(failure, ProviderDown)
        if self._breaker.failed(now, down=down):
            self._metrics.breaker_openings += 1
            LOG.warning("breaker opened", extra={"reason": failure.reason})
        is_open = self._breaker.next_probe_at is not None
        delay = self._retry.delay_s(entry.message.attempt, failure.after_s)
        assert entry.deadline_at is not None
        if not is_open and self._breaker.active(now) + delay >= entry.deadline_at:
            return False
        self._metrics.retries[failure.reason] += 1
        entry.message = dataclasses.replace(entry.message, attempt=entry.message.attempt + 1)
        if is_open:
            self._due.append(entry)
        elif not self._stopped:
            loop = asyncio.get_running_loop()
            self._backoff[entry] = loop.call_later(delay, self._is_due, entry)
        return True

    def _is_due(self, entry: Entry) -> None:
        del self._backoff[entry]
        self._due.append(entry)
        self._pump()

    async def _exhaust(self, entry: Entry, failure: RetryLater) -> None:
        error = DeadlineExceeded(
            f"gave up after {entry.message.attempt} attempts, the last failed with {failure.reason}"
        )
        error.__cause__ = failure
        self._metrics.exhausted += 1
        self._exhausting.add(entry)
        self._pump()
        try:
            if self._on_exhausted is None:
                outputs = [self._dead_letter(entry, error)]
            else:
                outputs = await self._on_exhausted(entry.message, error)
        except asyncio.CancelledError:
            entry.dropped = True
        except Exception as crash:
            outputs = [self._dead_letter(entry, crash)]
        self._exhausting.discard(entry)
        if entry.dropped:
            self._leave(entry)
        else:
            self._settle(entry, outputs)

    def _dead_letter(self, entry: Entry, error: BaseException) -> Output:
        self._metrics.dead_letters[type(error).__name__] += 1
        LOG.warning(
            "dead letter",
            extra={"offset": entry.message.offset, "error_type": type(error).__name__},
        )
        return self._office.write(entry.message, error)

    def _settle(self, entry: Entry, outputs: list[Output]) -> None:
        self._deliver(Result(entry, outputs))
        self._leave(entry)

    def _leave(self, entry: Entry) -> None:
        entry.task = None
        follower = self._order.leave(entry)
        if follower is not None:
            self._fresh.appendleft(follower)

    def _drop(self, entry: Entry) -> None:
        entry.dropped = True
        if entry.task is not None:
            entry.task.cancel()
            return
        timer = self._backoff.pop(entry, None)
        if timer is not None:
            timer.cancel()
        self._leave(entry)

    def _wait_for_probe(self, now: float) -> None:
        at = self._breaker.next_probe_at
        if at is not None and (self._probe_timer is None or self._probe_timer.cancelled()):
            loop = asyncio.get_running_loop()
            self._probe_timer = loop.call_later(max(0.0, at - now), self._probe)

    def _probe(self) -> None:
        self._probe_timer = None
        self._pump()
