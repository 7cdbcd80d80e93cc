"""How long a model takes to answer, as a distribution that can be written on a command line."""

import math
import re
from dataclasses import dataclass
from statistics import NormalDist

_FIXED = re.compile(r"^(\d+(?:\.\d+)?)$")
_RANGE = re.compile(r"^(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)$")
_LOGNORMAL = re.compile(r"^lognormal:(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)$")


@dataclass(frozen=True)
class Latency:
    """Seconds: fixed where low and high are one, uniform between them, or lognormal by median and sigma."""

    low: float = 0.0
    high: float = 0.0
    sigma: float | None = None

    def drawn(self, chance: float) -> float:
        """The latency at that quantile, `chance` in [0, 1)."""
        if self.sigma is None:
            return self.low + (self.high - self.low) * chance
        deviation = NormalDist().inv_cdf(min(max(chance, 1e-9), 1 - 1e-9))
        return self.low * math.exp(self.sigma * deviation)


def latency(said: str) -> Latency:
    """`1.5` (fixed), `1-2` (uniform) or `lognormal:MEDIAN:SIGMA`, in seconds.

    Raises:
        ValueError: none of these; says which there are.
    """
    if found := _FIXED.match(said):
        return Latency(float(found[1]), float(found[1]))
    if (found := _RANGE.match(said)) and float(found[1]) <= float(found[2]):
        return Latency(float(found[1]), float(found[2]))
    if found := _LOGNORMAL.match(said):
        return Latency(float(found[1]), float(found[1]), float(found[2]))
    raise ValueError(
        f"latency {said!r}: write seconds as 1.5, a range as 1-2, or lognormal:MEDIAN:SIGMA"
    )
