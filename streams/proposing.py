"""The automatic proposal of a dispute: priced once, when its verdicts are in or its window is over."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter, ValidationError

from schemas.base import Id
from schemas.dispute import Outcome
from schemas.docket import Docket
from schemas.ids import auto_key
from schemas.settlement import Proposal
from streams.beyond_lines import whole_ceiling
from streams.order_book import DisputeBook, OrderBook, holdings
from streams.policies.loader import LoadedPack
from streams.pricing.engine import ceilings, price_dispute
from streams.pricing.holdings import Holdings

_ID: TypeAdapter[str] = TypeAdapter(Id)


def propose(
    book: OrderBook, dispute: DisputeBook, docket: Docket, pack: LoadedPack, now: datetime
) -> tuple[DisputeBook, Proposal]:
    """Price, and propose. A record that pricing stumbles over is for a person: were it an error here,
    the dispute would end in a dead letter and nobody would ever decide it."""
    held = holdings(book, docket.dispute_id)
    try:
        settled, proposal = _proposed(dispute, docket, pack, held, docket.outcome, now)
    except Exception:
        outcome = docket.outcome or "evidence_invalid"
        settled, proposal = _proposed(dispute, docket, pack, held, outcome, now)
    left = whole_ceiling(book, settled, docket, pack.pack, proposal.needs_person)
    return settled, proposal.model_copy(update={"whole_ceiling_minor": left})


def rebuilt(book: OrderBook, dispute: DisputeBook, docket: Docket, pack: LoadedPack) -> DisputeBook:
    """A dispute rebuilt from its decisions, with what only its record says: the most that may be paid, and
    on which charge. Its verdicts are not heard again, so its decisions say whether a stand-in had a say."""
    simulated = docket.simulated or any(each.simulated for each in dispute.decisions.values())
    order, subject = ceilings(pack.pack, docket.evidence, holdings(book, docket.dispute_id))
    return dispute.model_copy(
        update={
            "order_ceiling_minor": order,
            "subject_ceiling_minor": subject,
            "unpriced": docket.outcome is not None,
            "verdicts": {},
            "docket": _priced(docket, simulated),
        }
    )


def _proposed(
    dispute: DisputeBook,
    docket: Docket,
    pack: LoadedPack,
    held: Holdings,
    outcome: Outcome | None,
    now: datetime,
) -> tuple[DisputeBook, Proposal]:
    priced = price_dispute(
        pack=pack.pack,
        evidence=docket.evidence,
        claims=docket.claims,
        rulings={grievance: note.ruling for grievance, note in dispute.verdicts.items()},
        screening_tripped=bool(docket.screening),
        safety_words=docket.safety_words,
        outcome=outcome,
        tier=docket.tier,
        holdings=held,
    )
    simulated = docket.simulated or any(note.simulated for note in dispute.verdicts.values())
    usage = docket.usage
    for note in dispute.verdicts.values():
        usage = usage.plus(note.usage)
    key = auto_key(docket.dispute_id)
    priced_docket = _priced(docket, simulated)
    proposal = Proposal(
        at=now,
        dispute_id=docket.dispute_id,
        order_id=docket.order_id,
        customer_id=docket.customer_id,
        settles_under=docket.settles_under,
        pack=docket.pack,
        simulated=simulated,
        proposal_id=key,
        currency=pack.pack.currency,
        lines=priced.lines,
        amount_minor=priced.amount_minor,
        proposed_minor=priced.proposed_minor,
        decision_rule=priced.decision_rule,
        escalated=priced.escalated,
        needs_person=priced.needs_person,
        tier=priced.tier,
        history_minor=priced.history_minor,
        filed_at=docket.filed_at,
        received_at=docket.received_at,
        charge=priced_docket.charge,
        usage=usage,
    )
    paid = {line.grievance_id: key for line in priced.lines if line.disposition == "pay"}
    settled = dispute.model_copy(
        update={
            "proposed": True,
            "lines": priced.lines,
            "paid_under": paid,
            "tier": priced.tier,
            "order_ceiling_minor": priced.order_ceiling_minor,
            "subject_ceiling_minor": priced.subject_ceiling_minor,
            "unpriced": priced.unpriced,
            "verdicts": {},
            "docket": priced_docket,
        }
    )
    return settled, proposal


def _priced(docket: Docket, simulated: bool) -> Docket:
    """What is kept once the evidence is priced: the letter needs the words, and a review whether it is
    simulated and which charge it goes back to."""
    return docket.model_copy(
        update={
            "evidence": None,
            "raw_reply": None,
            "simulated": simulated,
            "charge": charge_in(docket.evidence),
        }
    )


def charge_in(evidence: Mapping[str, Any] | None) -> str | None:
    """What the record calls the payment at the gateway; None where it says nothing usable."""
    try:
        return _ID.validate_python((evidence or {}).get("payment_reference"))
    except ValidationError:
        return None
