"""A rate per minute, let through in short periods: a minute's worth never leaves at once."""

from typing import Final

from aiolimiter import AsyncLimiter

_SECONDS = 60.0
SLOWER: Final = 0.8
SLOWEST: Final = 0.05
RETURNS_PER_S: Final = 0.05
CREEPS_PER_S: Final = 0.004
NEARLY: Final = 0.9
"""After calls were turned away the pace returns quickly to nearly where that happened, and from there on
creeps, so that a provider which admits less than we were told is asked for more only now and then. Of the
present pace, per second's worth of calls that ended well."""


class Pace:
    """Requests or tokens of one provider, for one taker at a time.

    In any stretch of T seconds no more than `largest` + T × rate is let through, and what one taker
    asks for beyond `largest` it waits for bit by bit. `aiolimiter` serves its waiters smallest first,
    which would starve the large calls; the gate lets one in at a time.

    A provider that turns calls away admits less than we were told: the pace falls to a share of the
    rate and comes back by and by.

    Args:
        per_minute: the rate.
        period_s: what may leave at once is this many seconds' worth, and 1 at least.
    """

    def __init__(self, per_minute: float, period_s: float) -> None:
        self._per_second = per_minute / _SECONDS
        self.largest = max(1.0, self._per_second * period_s)
        self._limiter = AsyncLimiter(self.largest, self.largest / self._per_second)
        self._owed = 0.0  # below zero: taken for calls that turned out to need less
        self.share = 1.0
        """Of the rate, above 0 and at most 1."""
        self._too_much = 1.0

    async def take(self, amount: float) -> None:
        """Wait until so much may leave. Whoever stops waiting leaves what was let through to the next."""
        self._owed += amount
        try:
            while self._owed > 0:
                # At half the rate everything weighs twice as much.
                part = min(self._owed, self.largest * self.share)
                await self._limiter.acquire(min(part / self.share, self.largest))
                self._owed -= part
        except BaseException:
            self._give_back(amount)
            raise

    def correct(self, estimated: float, actual: float) -> None:
        """A call that took `estimated` used `actual`: the difference is the next takers' to pay or to have."""
        self._give_back(estimated - actual)

    def turned_away(self) -> None:
        """The provider admits less than this."""
        self._too_much = self.share
        self.share = max(SLOWEST, self.share * SLOWER)

    def answered(self) -> None:
        """A call ended well."""
        per_s = RETURNS_PER_S if self.share < NEARLY * self._too_much else CREEPS_PER_S
        self.share = min(1.0, self.share + per_s / self._per_second)

    def _give_back(self, amount: float) -> None:
        """What lies unused for longer than a period is gone, as it is at the provider."""
        self._owed = max(self._owed - amount, -self.largest)
