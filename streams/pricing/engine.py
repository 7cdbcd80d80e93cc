"""Prices a dispute: every claim on its own, then together, then the pack's rules over the result.

One pure function, the same for settlement and for `refund-bench price`. Whatever is wrong with a record
or a claim sends it to a person with the reason; nothing here raises for what upstream sent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from schemas.base import MAX_MINOR
from schemas.dispute import Tier
from schemas.grievance import Claim
from schemas.pack import PolicyPack
from schemas.settlement import PriceLine
from streams.facts import whole
from streams.pricing.claims import draft_claims
from streams.pricing.draft import Draft, Ruling
from streams.pricing.holdings import NOTHING_HELD, Holdings
from streams.pricing.lines import escalated_line, rejected_line, unpriced_line, upheld_line
from streams.pricing.people import escalated_categories, hand_to_person
from streams.pricing.record import PricedRecord, UnusableRecordError, read
from streams.pricing.resolve import resolve
from streams.pricing.rules import Case, ending_of, first_match
from streams.tiers import tier_at_settlement


@dataclass(frozen=True)
class Priced:
    """What settlement proposes. Amounts are minor units of the pack's currency."""

    lines: tuple[PriceLine, ...]
    """One per claim, in the order of the claims."""
    amount_minor: int
    """To be paid automatically, as far as the order alone can say."""
    proposed_minor: int
    """What the rules priced before any stop: upheld lines that code may pay."""
    decision_rule: str
    escalated: tuple[str, ...]
    needs_person: bool
    tier: Tier
    history_minor: int
    order_ceiling_minor: int | None = None
    """Paid less what others than us refunded: all payments of ours on the order together, a person's
    included, stay within it. None where the record has no total (a transaction's scope is its ceiling)."""
    subject_ceiling_minor: int | None = None
    """The most that a person may pay for the order, or the transaction, as a whole. None where there is
    no usable record."""
    unpriced: bool = False
    """The dispute ended before pricing: no line says what a person may approve."""
    problem: str | None = None
    """Why the record as a whole could not be priced, in words for an officer."""


def price_dispute(
    *,
    pack: PolicyPack,
    evidence: Mapping[str, object] | None,
    claims: Sequence[Claim],
    rulings: Mapping[str, Ruling],
    screening_tripped: bool,
    safety_words: bool,
    outcome: str | None,
    tier: Tier,
    holdings: Holdings = NOTHING_HELD,
) -> Priced:
    """Price the claims under their rulings and decide by the pack's rules.

    Args:
        rulings: by grievance id; a missing one counts as ESCALATE.
        outcome: what ended the dispute before pricing, if anything did; then nothing is priced.
        tier: as of intake; raised here where more is known, never lowered.
        holdings: what other disputes on the same order have.
    """
    unique = {claim.grievance_id: claim for claim in reversed(claims)}
    claims = sorted(unique.values(), key=lambda claim: (claim.index, claim.grievance_id))
    problem: str | None = None
    record: PricedRecord | None = None
    if outcome is None and evidence is None:
        outcome = "evidence_unavailable"
    if outcome is None and len(claims) > pack.limits.max_grievances:
        outcome, problem = "extraction_failed", "more grievances than the pack allows"
    if outcome is None and evidence is not None:
        try:
            record = read(pack, evidence, holdings)
        except UnusableRecordError as error:
            outcome, problem = "evidence_invalid", str(error)
    drafts: list[Draft] = []
    owed: list[int] = []
    if record is not None:
        try:
            drafts = draft_claims(pack, record, claims, rulings)
            lines, owed = _priced_lines(drafts, record)
        except UnusableRecordError as error:
            outcome, problem, record, drafts = "evidence_invalid", str(error), None, []
    if record is None:
        lines = tuple(unpriced_line(claim, rulings.get(claim.grievance_id)) for claim in claims)
    tier = tier_at_settlement(pack, tier, claims, owed)
    case = Case(
        pack=pack,
        outcome=outcome,
        claims=len(claims),
        screening_tripped=screening_tripped,
        safety=safety_words or any(claim.safety for claim in claims),
        tier=max(tier, pack.screening_tier) if screening_tripped else tier,
        lines=lines,
        proposed_minor=sum(line.amount_minor for line in lines if line.disposition == "pay"),
        automatic_minor=holdings.automatic_minor,
        history_minor=_history(evidence),
        stops=_stops(drafts),
    )
    bound = record or _read_quietly(pack, evidence, holdings)
    return _decided(case, record, bound, problem)


def _read_quietly(
    pack: PolicyPack, evidence: Mapping[str, object] | None, holdings: Holdings
) -> PricedRecord | None:
    """The record of a dispute that is not priced, for what a person may pay at most; None where it tells
    nothing. Nothing here may stop a dispute on its way to that person."""
    try:
        return read(pack, evidence, holdings) if evidence is not None else None
    except Exception:
        return None


def _priced_lines(
    drafts: Sequence[Draft], record: PricedRecord
) -> tuple[tuple[PriceLine, ...], list[int]]:
    """A line per draft, and the full amounts of the transactions that upheld lines owe.

    Raises:
        UnusableRecordError: the record's amounts are each in range, and add up to one that is not.
    """
    resolved = resolve(drafts, record)
    lines: list[PriceLine] = []
    owed: dict[str, int] = {}
    try:
        for draft in drafts:
            got = resolved.get(draft.claim.grievance_id)
            if got is None:
                lines.append(rejected_line(draft))
            elif draft.for_a_person:
                lines.append(escalated_line(got))
            else:
                lines.append(upheld_line(got, record))
                owed.update(
                    (want.scope, record.transaction_amount(want.scope))
                    for want in got.wants
                    if want.amount
                )
    except ValidationError:
        raise UnusableRecordError(
            "the amounts of the record add up to more than can be paid"
        ) from None
    if sum(line.amount_minor for line in lines) > MAX_MINOR:
        raise UnusableRecordError("the amounts owed add up to more than can be paid")
    return tuple(lines), list(owed.values())


def _decided(
    case: Case, record: PricedRecord | None, bound: PricedRecord | None, problem: str | None
) -> Priced:
    rule = first_match(case)
    ending = ending_of(case.pack, rule)
    lines = tuple(case.lines)
    if ending == "person" and record is not None:
        lines = hand_to_person(lines, rule)
    escalated = escalated_categories(lines) if ending != "letter" else ()
    return Priced(
        lines=lines,
        amount_minor=case.proposed_minor if ending == "pay" else 0,
        proposed_minor=case.proposed_minor,
        decision_rule=rule,
        escalated=escalated,
        needs_person=ending == "person" or bool(escalated),
        tier=case.tier,
        history_minor=case.history_minor,
        order_ceiling_minor=bound.ceiling if bound is not None else None,
        subject_ceiling_minor=_subject_ceiling(bound),
        unpriced=record is None,
        problem=problem,
    )


def ceilings(
    pack: PolicyPack, evidence: Mapping[str, object] | None, holdings: Holdings
) -> tuple[int | None, int | None]:
    """`order_ceiling_minor` and `subject_ceiling_minor` of a record, without pricing anything on it."""
    bound = _read_quietly(pack, evidence, holdings)
    return (bound.ceiling if bound is not None else None), _subject_ceiling(bound)


def _subject_ceiling(record: PricedRecord | None) -> int | None:
    if record is None:
        return None
    return record.unreversed() if record.ceiling is None else record.ceiling


def _stops(drafts: Sequence[Draft]) -> frozenset[str]:
    return frozenset(
        draft.category.stops_with
        for draft in drafts
        if draft.category is not None and draft.category.stops_with and draft.ruling == "UPHELD"
    )


def _history(evidence: Mapping[str, object] | None) -> int:
    history = (evidence or {}).get("customer_history")
    amount = whole(history.get("refunded_30d_minor")) if isinstance(history, dict) else None
    return max(0, amount or 0)
