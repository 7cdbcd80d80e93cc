"""How many calls of one provider may run at the same time: found out, not configured.

Additive increase, multiplicative decrease, as TCP does it (RFC 5681). The provider says by 429, 529 and
silence that it has too many of them; what it does not say is how many are right.
"""

from typing import Final

DECREASE: Final = 0.8
STEPS_TO_CEILING: Final = 20
"""So many windows of success lead from nothing to the ceiling."""


class ConcurrencyLimit:
    """The limit, between 1 and the ceiling. It begins at the ceiling: the pace alone keeps a first
    burst within what the provider admits. Times are arguments; nothing here reads a clock.

    Raises:
        ValueError: the ceiling is below 1.
    """

    def __init__(self, ceiling: int) -> None:
        if ceiling < 1:
            raise ValueError("the ceiling must be at least 1")
        self._ceiling = ceiling
        self._step = max(1, ceiling // STEPS_TO_CEILING)
        self._successes = 0
        self._decreased_at = float("-inf")
        self.now = ceiling
        """Calls that may run at the same time."""
        self.events = 0
        """Congestion events so far."""

    def succeeded(self, running: int) -> None:
        """A call ended well while so many ran, itself included.

        Only a limit that was reached has been tried; a window is as many such calls as the limit.
        """
        if running < self.now:
            return
        self._successes += 1
        if self._successes >= self.now:
            self._successes = 0
            self.now = min(self._ceiling, self.now + self._step)

    def congested(self, started_at: float, now: float) -> bool:
        """A call was turned away or not answered; says whether that is a new event.

        Calls that had begun before the last decrease tell of the same congestion again.
        """
        if started_at < self._decreased_at:
            return False
        self._decreased_at = now
        self._successes = 0
        self.now = max(1, int(self.now * DECREASE))
        self.events += 1
        return True
