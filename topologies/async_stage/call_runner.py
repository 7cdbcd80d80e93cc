"""Runs the handler's calls on the asyncio loop: slots, retries, deadlines, the breaker.

Everything here happens on the loop; the Kafka thread reads a few counters and gets results
through `deliver`. A message holds a slot only while its call runs. However a call and its
timeout race, an entry is settled once, because one coroutine decides it.
"""

import asyncio
import dataclasses
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from topologies.async_stage.circuit_breaker import CircuitBreaker
from topologies.async_stage.endings import Endings
from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.errors import Hold, ProviderDown, RetryLater
from topologies.async_stage.key_order import KeyOrder
from topologies.async_stage.message import Message, Output, checked
from topologies.async_stage.metrics import BusyMeter, StageMetrics
from topologies.async_stage.partition import Partition
from topologies.async_stage.retry_policy import RetryPolicy

LOG = logging.getLogger("refund_bench.async_stage")

Handler = Callable[[Message], Awaitable[list[Output]]]


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
        endings: Endings,
        limits: CallLimits,
        retry: RetryPolicy,
        breaker: CircuitBreaker,
        metrics: StageMetrics,
        deliver: Callable[[Result | None], None],
        clock: Callable[[], float],
    ) -> None:
        self._handler = handler
        self._endings = endings
        self._limits = limits
        self._retry = retry
        self._breaker = breaker
        self._metrics = metrics
        self._deliver = deliver
        self._clock = clock
        self._order = KeyOrder()
        self._fresh: deque[Entry] = deque()
        self._due: deque[Entry] = deque()
        self._backoff: dict[Entry, asyncio.TimerHandle] = {}
        self._held: dict[Entry, float] = {}
        self._running: set[Entry] = set()
        self._exhausting: set[Entry] = set()
        self._probe_timer: asyncio.TimerHandle | None = None
        self._stopped = False
        self.busy = BusyMeter(limits.slots, clock())
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
        return len(self._backoff) + len(self._held) + self._order.blocked

    # What it asks for, through call_soon_threadsafe.

    def submit(self, entries: list[Entry]) -> None:
        """Take these messages."""
        self.received += len(entries)
        for entry in entries:
            if self._order.enter(entry):
                self._fresh.append(entry)
        self._pump()

    def withdraw(self, partitions: Iterable[Partition]) -> None:
        """These partitions are leaving: begin no more of their calls."""
        gone = set(partitions)
        self._order.forget(gone)
        for entry in [*self._fresh, *self._due, *self._backoff, *self._held]:
            if entry.partition in gone:
                self._drop(entry)
        self._fresh = deque(entry for entry in self._fresh if not entry.dropped)
        self._due = deque(entry for entry in self._due if not entry.dropped)
        self._pump()

    def forget(self, partitions: Iterable[Partition]) -> None:
        """These partitions are no longer ours: cancel their calls too."""
        gone = set(partitions)
        for entry in [*self._running, *self._exhausting]:
            if entry.partition in gone:
                self._metrics.cancelled += 1
                self._drop(entry)
        self.withdraw(gone)

    def discard(self, entries: list[Entry]) -> None:
        """These messages were finished by somebody else."""
        for entry in entries:
            self._drop(entry)
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
        self.stop()
        for entry in [*self._running, *self._exhausting]:
            self._drop(entry)

    def observe(self) -> None:
        """Refresh the gauges that only this thread knows."""
        now = self._clock()
        started = [entry.first_started_at for entry in [*self._running, *self._due, *self._backoff]]
        oldest = min((at for at in started if at is not None), default=now)
        self._metrics.oldest_in_flight_s = now - oldest
        self._metrics.in_flight = len(self._running)
        self._metrics.queued = len(self._fresh)
        self._metrics.waiting_on_retry = len(self._backoff) + len(self._due)
        self._metrics.held = len(self._held)
        self._metrics.waiting_on_order = self._order.blocked
        self._metrics.breaker_state = int(self._breaker.state)

    # Starting calls.

    def _pump(self) -> None:
        while len(self._running) < self._limits.slots and not self._stopped:
            queue = self._due or self._fresh
            if not queue:
                return
            now = self._clock()
            if not self._breaker.may_start(now):
                self._wait_for_probe(now)
                return
            self._start(queue.popleft(), now)

    def _wait_for_probe(self, now: float) -> None:
        at = self._breaker.next_probe_at
        if at is not None and self._probe_timer is None:
            loop = asyncio.get_running_loop()
            self._probe_timer = loop.call_later(max(0.0, at - now), self._probe)

    def _probe(self) -> None:
        self._probe_timer = None
        self._pump()

    def _start(self, entry: Entry, now: float) -> None:
        if entry.first_started_at is None:
            entry.first_started_at = now
            entry.deadline_at = self._breaker.active(now) + self._limits.deadline_s
        left = entry.deadline_at - self._breaker.active(now)
        if left <= 0:
            self._exhaust(entry, RetryLater("no slot before the deadline"))
            return
        self._running.add(entry)
        entry.counted_in = entry.partition
        entry.partition.running += 1
        self._metrics.calls += 1
        self.busy.set(len(self._running), now)
        timeout_s = min(self._limits.attempt_timeout_s, left)
        call = self._attempt(entry, now, timeout_s)
        entry.task = asyncio.get_running_loop().create_task(call)

    # One call and what follows from it.

    async def _attempt(self, entry: Entry, started_at: float, timeout_s: float) -> None:
        failure: RetryLater | None = None
        hold: Hold | None = None
        outputs: list[Output] = []
        try:
            async with asyncio.timeout(timeout_s):
                outputs = checked(await self._handler(entry.message))
        except Hold as error:
            hold = error
        except RetryLater as error:
            failure = error
        except TimeoutError:
            failure = RetryLater("timeout")
        except asyncio.CancelledError:
            failure = RetryLater("cancelled")  # not by us: something the handler awaited was
        except Exception as error:
            outputs = self._endings.dead_letter(entry.message, error)
        if entry.dropped:
            self._metrics.late_results_dropped += bool(outputs)
            return
        now = self._clock()
        entry.task = None
        if hold is not None:
            self._hold(entry, hold, now)
        elif failure is not None:
            self._back_off(entry, failure, now)
        else:
            if self._breaker.succeeded(started_at, now):
                LOG.warning("breaker closed")
            self._settle(entry, outputs)
        self._ended(entry, now)
        self._pump()

    def _back_off(self, entry: Entry, failure: RetryLater, now: float) -> None:
        """Arrange the next attempt, or the end when there is no time for one."""
        if self._breaker.failed(now, down=isinstance(failure, ProviderDown)):
            self._metrics.breaker_openings += 1
            LOG.warning("breaker opened", extra={"reason": failure.reason})
        is_open = self._breaker.next_probe_at is not None
        delay = self._retry.delay_s(entry.message.attempt, failure.after_s)
        if not is_open and self._breaker.active(now) + delay >= entry.deadline_at:
            self._exhaust(entry, failure)
            return
        self._metrics.retries[failure.reason] += 1
        entry.message = dataclasses.replace(entry.message, attempt=entry.message.attempt + 1)
        if is_open:
            self._due.append(entry)  # the probes' pace is the backoff
        else:
            loop = asyncio.get_running_loop()
            self._backoff[entry] = loop.call_later(delay, self._is_due, entry)
        self._deliver(None)  # a slot is free: the Kafka thread may have something for it

    def _is_due(self, entry: Entry) -> None:
        del self._backoff[entry]
        self._due.append(entry)
        self._pump()

    def _hold(self, entry: Entry, hold: Hold, now: float) -> None:
        """Put it aside until it is released; its deadline stands still."""
        self._held[entry] = self._breaker.active(now)
        hold.released.add_done_callback(lambda _: self._released(entry))
        self._deliver(None)

    def _released(self, entry: Entry) -> None:
        held_since = self._held.pop(entry, None)
        if held_since is None:
            return  # dropped meanwhile
        entry.deadline_at += self._breaker.active(self._clock()) - held_since
        self._due.append(entry)
        self._pump()

    def _exhaust(self, entry: Entry, failure: RetryLater) -> None:
        self._exhausting.add(entry)
        entry.task = asyncio.get_running_loop().create_task(self._exhausted(entry, failure))

    async def _exhausted(self, entry: Entry, failure: RetryLater) -> None:
        outputs = await self._endings.exhausted(entry.message, failure)
        if not entry.dropped:
            entry.task = None
            self._settle(entry, outputs)
            self._exhausting.discard(entry)
            self._pump()

    def _settle(self, entry: Entry, outputs: list[Output]) -> None:
        self._deliver(Result(entry, outputs))
        self._leave(entry)

    # An entry counts as running until its result is delivered: the Kafka thread that sees none
    # running will find every result in its inbox.

    def _ended(self, entry: Entry, now: float) -> None:
        if entry in self._running:
            self._running.discard(entry)
            if entry.counted_in is not None:
                entry.counted_in.running -= 1
            self.busy.set(len(self._running), now)

    def _leave(self, entry: Entry) -> None:
        follower = self._order.leave(entry)
        if follower is not None:
            self._fresh.appendleft(follower)

    def _drop(self, entry: Entry) -> None:
        """Let go of it here and now: a task that is cancelled before its first step never runs."""
        entry.dropped = True
        if entry.task is not None:
            entry.task.cancel()
        self._ended(entry, self._clock())
        self._exhausting.discard(entry)
        self._held.pop(entry, None)
        timer = self._backoff.pop(entry, None)
        if timer is not None:
            timer.cancel()
        self._leave(entry)
