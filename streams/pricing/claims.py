"""Turns each claim and its ruling into a draft: contradictions found, and what it asks for by itself."""

from collections.abc import Iterable, Mapping, Sequence

from schemas.grievance import Claim
from schemas.pack import (
    Category,
    DeliveredUnits,
    FeeDifference,
    Formula,
    LateBands,
    MissingUnits,
    PolicyPack,
    RelatedSum,
    WrongUnits,
)
from streams.conditions import matches
from streams.pricing.draft import Asked, Draft, Ruling, Want
from streams.pricing.flat import price_fees, price_late, price_whole_order
from streams.pricing.goods import Missing, missing_units, price_goods
from streams.pricing.record import PricedRecord
from streams.pricing.transactions import price_formula, price_nothing, price_related


def draft_claims(
    pack: PolicyPack,
    record: PricedRecord,
    claims: Sequence[Claim],
    rulings: Mapping[str, Ruling],
) -> list[Draft]:
    """One draft per claim, in order. A rejected one asks for nothing."""
    ruled = [
        _ruled(claim, pack.category(claim.category), rulings.get(claim.grievance_id), record)
        for claim in claims
    ]
    missing = _missing(ruled, record)
    return [_asking(draft, record, missing) for draft in ruled]


def _ruled(
    claim: Claim, category: Category | None, ruling: Ruling | None, record: PricedRecord
) -> Draft:
    """The ruling as pricing takes it: an UPHELD that the record contradicts is for a person."""
    if ruling == "REJECTED":
        return Draft(claim, category, ruling)
    if category is None:
        return Draft(claim, None, "ESCALATE", person_reason="the pack has no such category")
    if ruling != "UPHELD":
        reason = None if ruling else "no ruling was given"
        return Draft(claim, category, ruling or "ESCALATE", person_reason=reason)
    if claim.safety:
        return Draft(claim, category, ruling, person_reason="a safety matter")
    if not category.automatic:
        return Draft(claim, category, ruling, person_reason="never decided automatically")
    if not _of_whole_order(claim, category, record):
        facts = record.line_facts(claim.line_id)
        for predicate in category.contradicts_upheld:
            if matches(predicate, facts):
                reason = f"the record contradicts the ruling: {predicate.name}"
                return Draft(claim, category, "ESCALATE", person_reason=reason)
    return Draft(claim, category, ruling)


def _of_whole_order(claim: Claim, category: Category, record: PricedRecord) -> bool:
    """Priced as the whole order, which a fact about one line or fee does not speak against."""
    asked = price_whole_order(claim, category.pricing, record)
    return asked is not None and asked.problem is None


def _missing(drafts: Iterable[Draft], record: PricedRecord) -> Missing:
    """By line, the units that upheld missing claims take."""
    found: dict[str, int] = {}
    for draft in drafts:
        category = draft.category
        if draft.ruling != "UPHELD" or category is None or draft.person_reason:
            continue
        if isinstance(category.pricing, MissingUnits):
            taken = missing_units(draft.claim, category.name, category.pricing, record)
            if taken is not None:
                found[taken[0]] = max(found.get(taken[0], 0), taken[1])
    return found


def _asking(draft: Draft, record: PricedRecord, missing: Missing) -> Draft:
    if draft.category is None or draft.ruling == "REJECTED":
        return draft
    asked = _ask(draft.claim, draft.category, record, missing).without(record.holdings)
    if record.holdings.has_reviewed() and any(want.amount for want in asked.wants):
        wants = tuple(Want(want.scope, 0, want.ceiling) for want in asked.wants)
        problem = (
            "a person paid for the order as a whole in another dispute; that may have been this"
        )
        asked = Asked(asked.scope, wants, "", asked.quantity, problem)
    if draft.claim.safety:
        wants = tuple(Want(want.scope, 0, want.ceiling) for want in asked.wants)
        asked = Asked(asked.scope, wants, "", asked.quantity, "a safety matter is never priced")
    return Draft(
        draft.claim,
        draft.category,
        draft.ruling,
        asked,
        draft.person_reason or asked.problem,
    )


def _ask(claim: Claim, category: Category, record: PricedRecord, missing: Missing) -> Asked:
    rule = category.pricing
    whole = price_whole_order(claim, rule, record)
    if whole is not None:
        return whole
    if isinstance(rule, MissingUnits | WrongUnits | DeliveredUnits):
        return price_goods(claim, category.name, rule, record, missing)
    if isinstance(rule, LateBands):
        return price_late(rule, record)
    if isinstance(rule, FeeDifference):
        return price_fees(record)
    if isinstance(rule, Formula):
        return price_formula(rule, record)
    if isinstance(rule, RelatedSum):
        return price_related(record)
    return price_nothing(record)
