"""One judge's ruling on one grievance, with everything an auditor needs to weigh it."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import DisputeEvent, Id, UtcDatetime
from schemas.docket import Usage

RulingValue = Literal["UPHELD", "REJECTED", "ESCALATE", "FAILED"]
"""FAILED is an abstention: the seat was asked and gave nothing that counts."""


class Ruling(DisputeEvent):
    """Key: grievance_id. Exactly one per grievance and seat."""

    ruling_id: Id
    grievance_id: Id
    category: Id
    seat: Annotated[int, Field(ge=1)]
    ruling: RulingValue
    confidence: Annotated[float, Field(ge=0, le=1)] = 0.0
    citations: tuple[str, ...] = ()
    seen: tuple[str, ...] | None = None
    """The fields of the frozen snapshot that the judge saw: all that its category lists, or those it
    asked for. None where it was not asked."""
    reason: str = ""
    failure: str | None = None
    """Why the ruling is FAILED: `citation_missing`, `refused`, `deadline`, …"""
    provider: Id
    model: Id
    prompt_variant: Id
    prompt_hash: str
    attempts: int = 1
    usage: Usage = Usage()
    request_id: str | None = None
    raw_reply: str = ""
    evidence_hash: str
    grievance_at: UtcDatetime
    """When the grievance was created, which the outer window counts from."""
