"""The current state of a dispute, and its chained history; neither holds free text."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import CurrencyCode, Event, Id, Minor, Model, PackRef, UtcDatetime
from schemas.docket import Usage
from schemas.verdict import Votes

Status = Literal[
    "received", "awaiting_evidence", "extracting", "judging", "settling", "paying",
    "part_paid_in_review", "in_review", "paid", "closed_no_payment",
]  # fmt: skip

FINAL: frozenset[Status] = frozenset(
    {"part_paid_in_review", "in_review", "paid", "closed_no_payment"}
)
"""Where the pipeline has done its part: paid, handed over or closed."""


class LedgerGrievance(Model):
    grievance_id: Id
    category: Id
    line_id: Id | None = None
    quantity: int | None = None
    scope: str = "line"
    ruling: str | None = None
    votes: Votes | None = None
    confidence: float | None = None
    amount_minor: Minor = 0
    amount_if_upheld_minor: Minor = 0
    ceiling_minor: Minor = 0
    """The most a person may approve for it."""
    disposition: str | None = None
    basis: str | None = None


class LedgerEntry(Event):
    """Key: dispute_id, compacted."""

    dispute_id: Id
    order_id: Id
    customer_id: Id
    settles_under: Id
    pack: PackRef | None = None
    policy: Id
    status: Status
    sequence: Annotated[int, Field(ge=0)]
    """Number of events of the dispute seen so far; 0 is intake's, while the evidence is awaited."""
    filed_at: UtcDatetime
    stages: dict[str, UtcDatetime] = {}
    """When each stage's event was made."""
    settled_at: UtcDatetime | None = None
    tier: int | None = None
    acknowledge_by: UtcDatetime | None = None
    resolve_by: UtcDatetime | None = None
    evidence_hash: str | None = None
    evidence_stale: bool = False
    screening: tuple[str, ...] = ()
    outcome: str | None = None
    grievances: tuple[LedgerGrievance, ...] = ()
    left_out: int | None = None
    decision_rule: str | None = None
    currency: CurrencyCode | None = None
    amount_minor: Minor = 0
    """Decided automatically."""
    proposed_minor: Minor = 0
    paid_minor: Minor = 0
    """Confirmed by the gateway, automatic part and reviews."""
    pending_minor: Minor = 0
    """What a person may still approve."""
    ceiling_minor: Minor = 0
    """The most a person may approve for what waits; another dispute on the order may have left less."""
    waits_for: str | None = None
    """While a person must act: `person`, `second_person` (tier 3), or `evidence` that was asked for."""
    safety: bool = False
    """A safety matter was found: first in the queue."""
    escalated: tuple[str, ...] = ()
    needs_person: bool = False
    llm_calls: int = 0
    cost_micros: int = 0
    usage: Usage = Usage()
    """What the calls took: tokens, cached ones, re-asks, tool turns, retries. Late rulings are not in it."""
    simulated: bool = False
    letters: int = 0
    reviews: tuple[str, ...] = ()
    review_rules: dict[str, str] = {}
    """Review → what became of it, a refusal with its reason included."""
    attached: int = 0
    """How often something was added to the case for its officer."""
    chain_head: str = ""


class AuditEntry(Event):
    """Key: dispute_id. `chain` = sha256(previous chain ‖ event_hash), so that a change shows.

    `at` is the broker's time of the event."""

    dispute_id: Id
    """The dispute; for what was done to the installation `operations:<subject>`, a chain of its own."""
    sequence: Annotated[int, Field(ge=1)]
    topic: Id
    partition: int
    offset: int
    event_hash: str
    previous: str
    chain: str
