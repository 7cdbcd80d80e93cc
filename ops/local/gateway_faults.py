"""What the embedded gateway can be told to do wrong. Seeded: the same key meets the same fate."""

import random
import time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Chance = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]


class Refusal(BaseModel):
    """Refuse for good: the orders named, and this share of all keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    code: str = Field(min_length=1)
    message: str = "refused by the fault switch"
    order_ids: frozenset[str] = frozenset()
    probability: Chance = 0


class Faults(BaseModel):
    """The body of POST /faults; what is left out is off."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    latency_s: Seconds | tuple[Seconds, Seconds] = 0
    """Fixed, or drawn from a range, before anything else happens."""
    rate_limited: Chance = 0
    """429, not paid."""
    retry_after_s: Seconds = 1
    fail_before: Chance = 0
    """500, not paid."""
    fail_after: Chance = 0
    """Paid, then the answer is lost."""
    fail_after_with: Literal["500", "reset"] = "500"
    late_answer: Chance = 0
    """Paid at once, answered `late_answer_s` later: longer than any caller waits."""
    late_answer_s: Seconds = 30
    deliver_twice: Chance = 0
    """The request reaches the ledger twice at once, as from a proxy that repeats what it sends."""
    store_errors: bool = False
    """A key's 500 or refusal is its answer from then on, as with a real gateway, until keys are forgotten."""
    fail_look_up: Chance = 0
    duplicate_answer: bool = False
    """Answer a repeated key with 409 `duplicate`, not with the refund."""
    forget_keys_after_s: Seconds | None = None
    """Then the same key pays again, as a real gateway does; references are never forgotten."""
    refuse: tuple[Refusal, ...] = ()
    first_attempts: int | None = None
    """When set, only that many attempts of each key meet a 429 or a failure; then all is well."""

    def strikes(self, name: str, chance: float, key: str, attempt: int) -> bool:
        if self.first_attempts is not None and attempt > self.first_attempts:
            return False
        return self._draw(name, key, attempt) < chance

    def latency(self, key: str, attempt: int) -> float:
        if isinstance(self.latency_s, tuple):
            low, high = self.latency_s
            return low + (high - low) * self._draw("latency", key, attempt)
        return self.latency_s

    def refusal(self, key: str, order_id: str) -> Refusal | None:
        for refusal in self.refuse:
            drawn = self._draw(f"refuse:{refusal.code}", key, 0) < refusal.probability
            if drawn or order_id in refusal.order_ids:
                return refusal
        return None

    def _draw(self, name: str, key: str, attempt: int) -> float:
        return random.Random(f"{self.seed}:{name}:{key}:{attempt}").random()


class StoredErrors:
    """What a key was answered, where that was a failure; forgotten with the process and with the keys."""

    def __init__(self) -> None:
        self._held: dict[str, tuple[float, tuple[int, str, str]]] = {}

    def put(self, key: str, answer: tuple[int, str, str]) -> None:
        self._held.setdefault(key, (time.monotonic(), answer))

    def get(self, key: str, forget_after_s: float | None) -> tuple[int, str, str] | None:
        at, answer = self._held.get(key, (0.0, None))
        if forget_after_s is not None and time.monotonic() - at > forget_after_s:
            self._held.pop(key, None)
            return None
        return answer
