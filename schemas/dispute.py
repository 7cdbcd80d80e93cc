"""An opened dispute: who, under which pack, on which frozen evidence."""

from typing import Any, Literal

from schemas.base import DisputeEvent, Id, Model, UtcDatetime

Outcome = Literal["evidence_unavailable", "evidence_invalid", "order_too_old", "extraction_failed"]
"""What ends a dispute before pricing; each goes to a person."""

Tier = Literal[1, 2, 3]


class ScreeningFlag(Model):
    """One rule of the screening that matched. Never blocks, never decides: it forces a person."""

    rule: Id
    where: str
    """`complaint` or the path of the evidence field."""


class Dispute(DisputeEvent):
    """Key: settles_under. Everything a later stage needs to know of the complaint, frozen."""

    text: str
    filed_at: UtcDatetime
    received_at: UtcDatetime
    channel: Id = "api"
    evidence: dict[str, Any] | None = None
    evidence_hash: str | None = None
    evidence_stale: bool = False
    """True when the newest record at the end of the grace was captured before the filing."""
    evidence_problems: tuple[str, ...] = ()
    screening: tuple[ScreeningFlag, ...] = ()
    tier: Tier = 1
    acknowledge_by: UtcDatetime | None = None
    resolve_by: UtcDatetime | None = None
    outcome: Outcome | None = None
