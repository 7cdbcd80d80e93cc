"""What the stub can be told to do wrong, with which chance, and which call it hits. Seeded: the same call
meets the same fate, whatever else is going on."""

import hashlib
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from ops.stub.latency import latency

Chance = Annotated[float, Field(ge=0, le=1)]
Seconds = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]

Kind = Literal["extraction", "judging", "letter", "other"]
"""What a prompt asks for; `other` where it is none of ours."""

WireFault = Literal[
    "rate_limited", "server_error", "overloaded", "bad_gateway", "hang", "reset_before",
    "reset_within", "broken_json", "html", "wrong_shape",
]  # fmt: skip
"""Between a sound request and a reply that can be read."""
Rejection = Literal[
    "unauthorised", "forbidden", "unknown_model", "no_credit", "context_too_long", "too_large",
    "unprocessable",
]  # fmt: skip
"""Trying again does not help. A share of `everything` is none of these: they are set by name."""
ReplyFault = Literal[
    "truncated", "refused", "empty", "prose_around", "several_objects", "missing_fields",
    "confidence_out_of_range", "unknown_ruling", "ghost_citations", "hedged",
    "unknown_category", "invented_quote", "unknown_line",
    "wrong_language", "wrong_amount", "blames", "promises", "grovels",
]  # fmt: skip
"""A reply that can be read and must not be believed."""
Misuse = Literal["obedient"]
"""A sound reply from a judge that does as the customer says: UPHELD, sure of itself, soundly cited. Code cannot
tell it from a good one, so it is no part of `everything`."""

WIRE: frozenset[str] = frozenset(get_args(WireFault))
REJECTIONS: frozenset[str] = frozenset(get_args(Rejection))
IN_REPLY: frozenset[str] = frozenset(get_args(ReplyFault)) | frozenset(get_args(Misuse))

_JSON = ("prose_around", "several_objects", "missing_fields")
_ANY = ("truncated", "refused", "empty")
_OF_KIND: dict[Kind, tuple[str, ...]] = {
    "judging": (*_ANY, *_JSON, "confidence_out_of_range", "unknown_ruling", "ghost_citations", "hedged"),
    "extraction": (*_ANY, *_JSON, "unknown_category", "invented_quote", "unknown_line"),
    "letter": (*_ANY, "wrong_language", "wrong_amount", "blames", "promises", "grovels"),
    "other": _ANY,
}  # fmt: skip


def befalling(kind: Kind) -> tuple[str, ...]:
    """Every fault of `everything` that a call of this kind can meet, in a fixed order."""
    return (*get_args(WireFault), *_OF_KIND[kind])


class Faults(BaseModel):
    """The body of POST /_faults; what is left out is off."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = 0
    latency: str = "0"
    """Before a reply: `1.5`, `1-2`, `lognormal:MEDIAN:SIGMA`."""
    stragglers: Chance = 0
    """The share of calls that take `straggler_s` instead."""
    straggler_s: Seconds = 30
    shares: dict[str, Chance] = {}
    """The chance of each fault; those that a kind of call cannot meet do not strike it."""
    everything: Chance = 0
    """One chance, spread evenly over every fault a call of its kind can meet."""
    first_attempts: int | None = None
    """When set, only that many calls on one matter meet a fault; re-asks and retries count."""
    on: tuple[str, ...] = ()
    """Only these models or prompts (`judge-strict`); empty is all."""
    retry_after_s: Seconds = 1
    """What a drawn 429 says."""
    admit_per_s: Positive | None = None
    """A token bucket for each of the two APIs; what is over gets 429."""
    burst: Positive | None = None
    """Its depth; one second's worth where not set."""
    admit_tokens_per_s: Positive | None = None
    """The same for prompt tokens."""
    down: tuple[str, ...] = ()
    """Models or prompts that answer nothing but `down_with`."""
    down_with: str = "overloaded"
    """A fault of the wire or a rejection."""

    @field_validator("latency")
    @classmethod
    def _can_be_drawn(cls, said: str) -> str:
        latency(said)
        return said

    @field_validator("shares")
    @classmethod
    def _are_known(cls, shares: dict[str, float]) -> dict[str, float]:
        known = WIRE | REJECTIONS | IN_REPLY
        for fault in shares:
            if fault not in known:
                raise ValueError(f"{fault!r} is no fault; there are {', '.join(sorted(known))}")
        return shares

    @field_validator("down_with")
    @classmethod
    def _ends_the_call(cls, fault: str) -> str:
        if fault not in WIRE | REJECTIONS:
            known = ", ".join(sorted(WIRE | REJECTIONS))
            raise ValueError(f"{fault!r} is nothing to be down with; there are {known}")
        return fault

    @model_validator(mode="after")
    def _adds_up(self) -> "Faults":
        if sum(self.shares.values()) + self.everything > 1:
            raise ValueError("shares and everything together are above 1")
        return self

    def is_down(self, model: str, prompt: str) -> bool:
        return model in self.down or prompt in self.down

    def strike(self, kind: Kind, model: str, prompt: str, matter: str, attempt: int) -> str | None:
        """The fault that this call meets, if any."""
        if self.first_attempts is not None and attempt > self.first_attempts:
            return None
        if self.on and model not in self.on and prompt not in self.on:
            return None
        drawn = self.draw("fault", matter, attempt)
        possible = befalling(kind)
        for fault, share in self.shares.items():
            if fault in REJECTIONS or fault in possible or (fault, kind) == ("obedient", "judging"):
                if drawn < share:
                    return fault
                drawn -= share
        if drawn < self.everything:
            return possible[int(drawn / self.everything * len(possible))]
        return None

    def latency_s(self, matter: str, attempt: int) -> float:
        if self.draw("straggler", matter, attempt) < self.stragglers:
            return self.straggler_s
        return latency(self.latency).drawn(self.draw("latency", matter, attempt))

    def draw(self, name: str, matter: str, attempt: int) -> float:
        """In [0, 1), the same for the same call."""
        told = f"{self.seed}:{name}:{matter}:{attempt}".encode()
        return int.from_bytes(hashlib.blake2b(told, digest_size=7).digest(), "big") / 2**56
