"""A grievance: one atomic claim that evidence could confirm or contradict."""

from typing import Annotated, Any, Literal

from pydantic import Field

from schemas.base import DisputeEvent, Id, Model, UtcDatetime

LeftOutKind = Literal[
    "feeling", "opinion", "demand", "rhetoric", "other_order", "instruction", "context"
]


class Claim(Model):
    """What the extraction found, checked in code against the complaint and the order."""

    grievance_id: Id
    index: Annotated[int, Field(ge=1)]
    category: Id
    text: str
    """Stands alone: makes sense without the complaint."""
    span_start: Annotated[int, Field(ge=0)]
    span_end: Annotated[int, Field(ge=0)]
    """Characters [start, end) of the complaint's text."""
    line_id: Id | None = None
    quantity: Annotated[int, Field(ge=1, le=10_000)] | None = None
    scope: Literal["line", "order"] = "line"
    """`order` where the claim is about the whole order."""
    safety: bool = False


class LeftOut(Model):
    """A statement that is not a grievance, and why."""

    kind: LeftOutKind
    span_start: Annotated[int, Field(ge=0)]
    span_end: Annotated[int, Field(ge=0)]


class Grievance(DisputeEvent):
    """Key: grievance_id. What a judge sees, and nothing else: the claim and the evidence it needs."""

    grievance_id: Id
    claim: Claim
    evidence: dict[str, Any]
    """The fields of the frozen snapshot that the pack lists for the category."""
    evidence_hash: str
    """Of the whole snapshot, so that a ruling can be tied to it."""
    filed_at: UtcDatetime
    seats: tuple[int, ...]
    of: Annotated[int, Field(ge=1)]
    """N, the number of grievances in the dispute."""
