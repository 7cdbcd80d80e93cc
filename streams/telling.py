"""What a letter may say: the total paid, the decision's own line amounts, what a colleague looks at.

Rejected claims are left out here, so that no later stage can mention them.
"""

from datetime import datetime

from schemas.docket import DELETED, Docket
from schemas.letter import LetterKind, LetterRequest, ToldLine
from schemas.pack import PolicyPack
from schemas.payment import Payment
from schemas.settlement import Decision
from streams.beyond_lines import CATEGORY
from streams.policies.loader import LoadedPack

UNTOLD = ("review_refused:", "review_awaits_second_person", "review_attached")
"""Ends of a review that are between officers: nothing has been decided for the customer."""
TURNED_DOWN = ("review_rejected", "review_amount")
"""Reviews in which a person gives nothing for a line that the bench may have upheld."""


ACKNOWLEDGEMENT = "acknowledgement"
"""The template, and the last part of the letter's id."""


BY = "{by}"
"""Where a promise of a pack names the moment by which the dispute is to be resolved."""


def letter_id(decision_id: str) -> str:
    return f"{decision_id}:letter"


def is_outcome(letter: str) -> bool:
    """Whether the letter of this id is the one that ends the automatic part."""
    return letter.endswith(":auto:letter")


def is_told(decision: Decision) -> bool:
    """Whether the customer hears of the decision."""
    return not decision.decision_rule.startswith(UNTOLD)


def acknowledgement(docket: Docket, pack: LoadedPack, now: datetime) -> LetterRequest | None:
    """The letter that says the complaint came and by when it is answered; None where the pack has no clock
    or no template for it."""
    if docket.acknowledge_by is None or ACKNOWLEDGEMENT not in pack.templates:
        return None
    return LetterRequest(
        at=now,
        dispute_id=docket.dispute_id,
        order_id=docket.order_id,
        customer_id=docket.customer_id,
        settles_under=docket.settles_under,
        pack=docket.pack,
        simulated=docket.simulated,
        letter_id=letter_id(f"{docket.dispute_id}:{ACKNOWLEDGEMENT}"),
        kind="handed_over",
        template=ACKNOWLEDGEMENT,
        paid_minor=0,
        currency=pack.pack.currency,
        complaint_text="",
        promises=_promises(docket, pack.pack),
    )


def outcome_letter(
    docket: Docket, decision: Decision, payment: Payment, pack: PolicyPack, now: datetime
) -> LetterRequest:
    """The letter that ends the automatic part."""
    lines = _told(docket, decision, payment)
    resolved = any(line.state == "resolved" for line in lines)
    kind: LetterKind = "outcome" if resolved else "handed_over"
    if decision.decision_rule == "no_checkable_grievance":
        kind = "no_checkable_grievance"
    elif decision.decision_rule == "no_grievance_upheld":
        kind = "nothing_upheld"
    return _request(docket, decision, payment, pack, kind, lines, now)


def review_letter(
    docket: Docket, decision: Decision, payment: Payment, pack: PolicyPack, now: datetime
) -> LetterRequest:
    """The letter after a person's review, or that confirms the customer's appeal."""
    kinds: dict[str, LetterKind] = {
        "review_more_evidence": "more_evidence",
        "appealed": "handed_over",
    }
    kind = kinds.get(decision.decision_rule, "review")
    return _request(docket, decision, payment, pack, kind, _told(docket, decision, payment), now)


def _told(docket: Docket, decision: Decision, payment: Payment) -> tuple[ToldLine, ...]:
    texts = {claim.grievance_id: claim.text for claim in docket.claims if claim.text != DELETED}
    lines: list[ToldLine] = []
    for line in decision.lines:
        if line.disposition == "nothing" and decision.decision_rule in TURNED_DOWN:
            continue  # whatever the bench said: the person gave nothing for it
        refused = line.disposition == "pay" and payment.status == "refused"
        with_person = line.disposition == "person" or refused
        if not with_person and line.disposition == "nothing" and line.ruling != "UPHELD":
            continue
        lines.append(
            ToldLine(
                category=line.category,
                text=texts.get(line.grievance_id) or _named(line.category),
                amount_minor=0 if with_person else line.amount_minor,
                state="with_a_person" if with_person else "resolved",
                note=None if with_person or line.amount_minor else line.basis,
            )
        )
    return tuple(lines)


def _promises(docket: Docket, pack: PolicyPack) -> dict[str, str]:
    """The pack's promises, with the moment by which the dispute is to be resolved where one speaks of it;
    one that does is not made where there is no such moment."""
    by = docket.resolve_by
    when = f"{by.day} {by:%B %Y, %H:%M} UTC" if by else ""
    made = {
        name: said.replace(BY, when) for name, said in pack.promises.items() if by or BY not in said
    }
    return {**made, "by": when} if by else made


def _named(category: str) -> str:
    """What the line is about, where the customer's own words are gone or there were none."""
    return "the order as a whole" if category == CATEGORY else category


def _request(
    docket: Docket,
    decision: Decision,
    payment: Payment,
    pack: PolicyPack,
    kind: LetterKind,
    lines: tuple[ToldLine, ...],
    now: datetime,
) -> LetterRequest:
    return LetterRequest(
        at=now,
        dispute_id=decision.dispute_id,
        order_id=decision.order_id,
        customer_id=decision.customer_id,
        settles_under=decision.settles_under,
        pack=decision.pack,
        simulated=decision.simulated,
        letter_id=letter_id(decision.decision_id),
        kind=kind,
        paid_minor=payment.amount_minor if payment.status == "paid" else 0,
        currency=decision.currency,
        lines=lines,
        complaint_text="" if docket.text == DELETED else docket.text,
        promises=_promises(docket, pack),
    )
