"""The docket: exactly one per dispute, whatever became of the extraction."""

from typing import Any

from schemas.base import DisputeEvent, Id, Model, UtcDatetime
from schemas.dispute import Outcome, ScreeningFlag, Tier
from schemas.grievance import Claim, LeftOut

DELETED = "(deleted)"
"""What stands where a customer's words were."""


class Usage(Model):
    """What calls to a model cost. `cost_micros` is in millionths of a US dollar."""

    calls: int = 0
    """Every call that was answered, re-asks and tool turns included."""
    re_asks: int = 0
    """Calls that carried a correction."""
    tool_turns: int = 0
    """Calls whose answer asked for evidence."""
    retries: int = 0
    """Calls that gave no answer, for an overload, an outage or a timeout, and were made again while there
    was time."""
    input_tokens: int = 0
    """All that was read, from the cache or not."""
    cache_read_tokens: int = 0
    """The part of `input_tokens` that came from the provider's cache."""
    cache_write_tokens: int = 0
    """The part of `input_tokens` that was written to it."""
    output_tokens: int = 0
    cost_micros: int = 0
    latency_ms: int = 0

    def plus(self, other: "Usage") -> "Usage":
        return Usage(
            **{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields}
        )


class Docket(DisputeEvent):
    """Key: settles_under. The grievances and their number, what was left out, and the frozen evidence.

    N = 0 with an `outcome` where there was no evidence or extraction failed; N = 0 without one where
    the complaint holds nothing that can be checked.
    """

    text: str
    filed_at: UtcDatetime
    received_at: UtcDatetime
    claims: tuple[Claim, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    evidence: dict[str, Any] | None = None
    evidence_hash: str | None = None
    evidence_stale: bool = False
    screening: tuple[ScreeningFlag, ...] = ()
    safety_words: bool = False
    """True where the pack's own word list found a safety matter in the text."""
    tier: Tier = 1
    acknowledge_by: UtcDatetime | None = None
    resolve_by: UtcDatetime | None = None
    outcome: Outcome | None = None
    problem: str | None = None
    """Why, in words an officer can act on, where there is an outcome."""
    model: str | None = None
    prompt_hash: str | None = None
    usage: Usage = Usage()
    raw_reply: str | None = None
    charge: Id | None = None
    """The evidence's `payment_reference`, in settlement's own copy, which outlives the evidence there."""
