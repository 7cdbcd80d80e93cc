"""Stops calling a provider that is down, and finds out when it is back.

Closed: calls flow. Open: none does, but for one probe per interval. The first call that began
after the opening and succeeds closes it. Time spent open is not the messages' fault: `active`
is a clock that stands still meanwhile, and deadlines are kept on it.
"""

from enum import IntEnum


class BreakerState(IntEnum):
    """Also the value of the `breaker_state` metric."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


class CircuitBreaker:
    """Times are arguments; nothing here reads a clock."""

    def __init__(self, failures_to_open: int, probe_every_s: float) -> None:
        self._failures_to_open = failures_to_open
        self._probe_every_s = probe_every_s
        self._failures = 0
        self._opened_at: float | None = None
        self._next_probe_at = 0.0
        self._probing = False
        self._paused_s = 0.0

    @property
    def state(self) -> BreakerState:
        """Half-open is open with a probe under way."""
        if self._opened_at is None:
            return BreakerState.CLOSED
        return BreakerState.HALF_OPEN if self._probing else BreakerState.OPEN

    @property
    def next_probe_at(self) -> float | None:
        """When an open breaker lets the next call through; None when closed."""
        return None if self._opened_at is None else self._next_probe_at

    def active(self, now: float) -> float:
        """The clock that stands still while the breaker is open."""
        paused = self._paused_s + (now - self._opened_at if self._opened_at is not None else 0.0)
        return now - paused

    def may_start(self, now: float) -> bool:
        """Whether a call may start now; an open breaker's yes is a probe and starts the wait."""
        if self._opened_at is None:
            return True
        if now < self._next_probe_at:
            return False
        self._next_probe_at = now + self._probe_every_s
        self._probing = True
        return True

    def succeeded(self, started_at: float, now: float) -> bool:
        """A call ended well; says whether that closed the breaker."""
        if self._opened_at is None:
            self._failures = 0
            return False
        if started_at < self._opened_at:
            return False
        self._paused_s += now - self._opened_at
        self._opened_at = None
        self._probing = False
        self._failures = 0
        return True

    def failed(self, now: float, *, down: bool) -> bool:
        """A call failed in a way worth retrying; says whether that opened the breaker."""
        if self._opened_at is not None:
            self._probing = False
            return False
        self._failures += 1
        if not down and self._failures < self._failures_to_open:
            return False
        self._opened_at = now
        self._next_probe_at = now + self._probe_every_s
        return True
