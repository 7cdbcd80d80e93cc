"""The provider's limit: a token bucket that refills all the time, as Anthropic's and OpenAI's do."""

import math
from dataclasses import dataclass


class Bucket:
    """Holds up to `depth`, refilled at `per_s`. Times are monotonic seconds."""

    def __init__(self, per_s: float, depth: float, now: float) -> None:
        self.per_s = per_s
        self.depth = depth
        self._held = depth
        self._at = now

    def held(self, now: float) -> float:
        self._held = min(self.depth, self._held + max(0.0, now - self._at) * self.per_s)
        self._at = max(self._at, now)
        return self._held

    def take(self, cost: float, now: float) -> float:
        """Take, and 0; or take nothing, and the seconds until there is enough."""
        cost = min(cost, self.depth)  # a call larger than the bucket waits for a full one
        held = self.held(now)
        if held >= cost:
            self._held -= cost
            return 0.0
        return (cost - held) / self.per_s


@dataclass(frozen=True)
class Standing:
    """What the rate-limit headers say after a call."""

    requests_a_minute: int
    requests_left: int
    requests_full_in_s: float
    tokens_a_minute: int
    tokens_left: int
    tokens_full_in_s: float


PLENTY_OF_REQUESTS, PLENTY_OF_TOKENS = 4_000, 2_000_000
"""A minute, said where no limit is set; nothing is refused for them."""


class Admission:
    """The limits of one API: requests and prompt tokens."""

    def __init__(
        self,
        per_s: float | None,
        burst: float | None,
        tokens_per_s: float | None,
        now: float,
    ) -> None:
        self._requests = Bucket(per_s, burst or max(1.0, per_s), now) if per_s else None
        self._tokens = Bucket(tokens_per_s, tokens_per_s * 60, now) if tokens_per_s else None

    def ask(self, tokens: int, now: float) -> float:
        """0 where the call is admitted, else the seconds to wait."""
        if self._tokens and self._tokens.held(now) < min(tokens, self._tokens.depth):
            return self._tokens.take(tokens, now)
        wait_s = self._requests.take(1, now) if self._requests else 0.0
        if not wait_s and self._tokens:
            self._tokens.take(tokens, now)
        return wait_s

    def standing(self, now: float) -> Standing:
        requests, tokens = self._requests, self._tokens
        return Standing(
            *(_standing(requests, now) if requests else (PLENTY_OF_REQUESTS,) * 2 + (0.0,)),
            *(_standing(tokens, now) if tokens else (PLENTY_OF_TOKENS,) * 2 + (0.0,)),
        )


def _standing(bucket: Bucket, now: float) -> tuple[int, int, float]:
    held = bucket.held(now)
    return round(bucket.per_s * 60), math.floor(held), (bucket.depth - held) / bucket.per_s
