"""The price lines: what became of each claim, with the sum in words and numbers."""

from schemas.grievance import Claim
from schemas.settlement import PriceLine, ScopeShare
from streams.pricing.draft import Draft, Ruling, Want
from streams.pricing.record import PricedRecord
from streams.pricing.resolve import Resolved


def upheld_line(got: Resolved, record: PricedRecord) -> PriceLine:
    """An upheld line that code may pay; 0 is also an answer, and its basis says why."""
    draft = got.draft
    basis = _basis(got)
    if got.notes:
        basis += f" → {record.show(got.amount)}"
    return PriceLine(
        grievance_id=draft.claim.grievance_id,
        category=draft.claim.category,
        ruling="UPHELD",
        scope=draft.asked.scope,
        line_id=draft.claim.line_id,
        quantity=draft.asked.quantity,
        amount_minor=got.amount,
        amount_if_upheld_minor=got.amount,
        ceiling_minor=got.ceiling,
        disposition="pay" if got.amount else "nothing",
        scopes=_shares(got.wants, paid_only=True),
        basis=basis,
    )


def escalated_line(got: Resolved) -> PriceLine:
    """A line that a person decides: what it would pay, and the most that may be approved for it."""
    draft = got.draft
    return PriceLine(
        grievance_id=draft.claim.grievance_id,
        category=draft.claim.category,
        ruling=draft.ruling,
        scope=draft.asked.scope,
        line_id=draft.claim.line_id,
        quantity=draft.asked.quantity,
        amount_if_upheld_minor=got.alone_minor,
        ceiling_minor=max(got.ceiling, got.alone_minor),
        disposition="person",
        scopes=_shares(got.wants, paid_only=False),
        basis=_basis(got),
        person_reason=draft.person_reason,
    )


def rejected_line(draft: Draft) -> PriceLine:
    return PriceLine(
        grievance_id=draft.claim.grievance_id,
        category=draft.claim.category,
        ruling="REJECTED",
        scope="none",
        line_id=draft.claim.line_id,
        quantity=draft.claim.quantity,
        basis="rejected: pays nothing",
    )


def unpriced_line(claim: Claim, ruling: Ruling | None) -> PriceLine:
    """A claim of a dispute that ended before pricing."""
    rejected = ruling == "REJECTED"
    return PriceLine(
        grievance_id=claim.grievance_id,
        category=claim.category,
        ruling=ruling or "ESCALATE",
        scope="none",
        line_id=claim.line_id,
        quantity=claim.quantity,
        disposition="nothing" if rejected else "person",
        basis="rejected: pays nothing" if rejected else "not priced",
    )


def _basis(got: Resolved) -> str:
    asked = got.draft.asked
    parts = (asked.basis, asked.problem and f"not priced: {asked.problem}", *got.notes)
    return "; ".join(part for part in parts if part)


def _shares(wants: tuple[Want, ...], paid_only: bool) -> tuple[ScopeShare, ...]:
    return tuple(
        ScopeShare(
            scope=want.scope,
            amount_minor=want.amount,
            ceiling_minor=want.ceiling if want.ceiling > want.amount else None,
        )
        for want in wants
        if want.amount or not paid_only
    )
