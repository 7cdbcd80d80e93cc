"""How long to wait before the next attempt."""

import random
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Full jitter over a doubling ceiling; the provider's own Retry-After is obeyed, capped."""

    first_s: float = 1.0
    ceiling_s: float = 8.0
    retry_after_cap_s: float = 30.0
    rng: random.Random = field(default_factory=random.Random)

    def delay_s(self, attempt: int, after_s: float | None = None) -> float:
        """The pause after this attempt (the first is 1) failed."""
        if after_s is not None:
            asked = min(max(after_s, 0.0), self.retry_after_cap_s)
            # Never earlier than asked; a little later, so that a refused burst does not return as
            # a burst.
            return asked * (1 + 0.1 * self.rng.random())
        ceiling = min(self.ceiling_s, self.first_s * 2.0 ** min(attempt - 1, 30))
        return self.rng.random() * ceiling
