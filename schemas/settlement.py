"""What settlement proposes line by line, and the decision after the customer's allowance."""

from typing import Literal

from schemas.base import CurrencyCode, DisputeEvent, Id, Minor, Model, UtcDatetime
from schemas.dispute import Tier
from schemas.docket import Usage

Disposition = Literal["pay", "person", "nothing"]
"""What becomes of a line: paid automatically, decided by a person, or nothing (rejected, or 0)."""


class ScopeShare(Model):
    """One pay scope and what it is worth: the unit of goods or the fee that is paid once, ever."""

    scope: Id
    """`L1#2` (line, unit), `LATE`, `fee:packaging`, `whole`, `tx:NIP-1001`."""
    amount_minor: Minor
    ceiling_minor: Minor | None = None
    """The most a person may approve for it, where that is more than `amount_minor`: a claim that the
    rules do not price (a fraud claim is owed what a person finds) still has a scope and an upper end."""


class PriceLine(Model):
    """One grievance, priced."""

    grievance_id: Id
    category: Id
    ruling: Literal["UPHELD", "REJECTED", "ESCALATE"]
    scope: str
    """What the line pays for: `unit`, `weight`, `late`, `fee`, `whole`, `transaction`, `none`."""
    line_id: Id | None = None
    quantity: int | None = None
    amount_minor: Minor = 0
    """What the line is worth as ruled; 0 unless UPHELD."""
    amount_if_upheld_minor: Minor = 0
    ceiling_minor: Minor = 0
    """The most a person may approve for the line."""
    disposition: Disposition = "nothing"
    scopes: tuple[ScopeShare, ...] = ()
    """The pay scopes behind `amount_minor`, or behind `amount_if_upheld_minor` while a person decides."""
    basis: str = ""
    """How the amount came about, in words and numbers."""
    person_reason: str | None = None


class Proposal(DisputeEvent):
    """Key: customer_id. What would be paid, authorised by a rule or by a person."""

    proposal_id: Id
    currency: CurrencyCode
    lines: tuple[PriceLine, ...]
    amount_minor: Minor
    """What would be paid if the allowance lets it."""
    proposed_minor: Minor
    """What the rules priced before any stop."""
    decision_rule: Id
    """The first matching rule of those settlement can see."""
    escalated: tuple[str, ...] = ()
    needs_person: bool = False
    tier: Tier = 1
    history_minor: Minor = 0
    """Automatic payments of the last window that only the evidence knows of."""
    whole_ceiling_minor: Minor = 0
    """What a person may still pay for the order, or the transaction, as a whole, beside the lines that
    wait; 0 where only the lines can be approved."""
    authorised_by: str = "rule"
    """`rule`, or `person:<reviewer>` for a review."""
    review_id: Id | None = None
    charge: Id | None = None
    """What the gateway calls the payment that is refunded, where the evidence says so."""
    filed_at: UtcDatetime
    received_at: UtcDatetime
    usage: Usage = Usage()


class Decision(DisputeEvent):
    """Key: settles_under. The proposal after the allowance; `decision_rule` says why."""

    decision_id: Id
    """Also the payment's idempotency key."""
    currency: CurrencyCode
    lines: tuple[PriceLine, ...]
    amount_minor: Minor
    """To be paid now; 0 where nothing is."""
    proposed_minor: Minor
    decision_rule: Id
    escalated: tuple[str, ...] = ()
    needs_person: bool = False
    tier: Tier = 1
    whole_ceiling_minor: Minor = 0
    """As the proposal has it."""
    authorised_by: str = "rule"
    review_id: Id | None = None
    charge: Id | None = None
    """What the gateway calls the payment that is refunded, where the evidence says so."""
    filed_at: UtcDatetime
    received_at: UtcDatetime
    usage: Usage = Usage()
    proposal_hash: str | None = None
    """Of the proposal's bytes: proposals are keyed by customer, so they are in no dispute's chain, and the
    decision, which is, vouches for its own."""
    seal: str | None = None
    """Proves that this installation's allowance made it (`streams/sealing.py`); without it nothing is paid."""
