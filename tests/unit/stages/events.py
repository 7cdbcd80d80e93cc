"""Events as the stages before would have made them; a test says only what it is about."""

from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.complaint import Complaint
from schemas.docket import Docket, Usage
from schemas.grievance import Claim
from schemas.ids import auto_key, grievance_id, review_key, ruling_id, verdict_id
from schemas.letter import Letter
from schemas.payment import Payment
from schemas.review import Review
from schemas.ruling import Ruling
from schemas.settlement import Decision, PriceLine, Proposal, ScopeShare
from schemas.timer import Deadline, Timer
from schemas.verdict import Verdict, Votes
from streams.emit import Emit
from streams.policies.loader import PackRegistry
from streams.sealing import DecisionSeal

NOW = datetime(2026, 9, 18, 17, 0, tzinfo=UTC)
PACKS = PackRegistry.load()
FOOD = PACKS.latest("food-delivery")
BANK = PACKS.latest("bank-disputes-ng")
SEAL = DecisionSeal(b"a test's installation key")
ORDER, CUSTOMER, DISPUTE = "order-1", "customer-1", "d-1"


def after(**span: float) -> datetime:
    """A moment so long after the start."""
    return NOW + timedelta(**span)


def about(dispute: str = DISPUTE, order: str = ORDER, pack: Any = FOOD) -> dict[str, Any]:
    """The fields every event of a dispute has."""
    return {
        "dispute_id": dispute,
        "order_id": order,
        "customer_id": CUSTOMER,
        "settles_under": order,
        "pack": pack.ref,
        "at": NOW,
    }


def a_complaint(**changes: Any) -> Complaint:
    fields = {
        "order_id": ORDER,
        "customer_id": CUSTOMER,
        "filed_at": NOW,
        "policy": "food-delivery",
        "text": "One of the two naans was not in the bag.",
    }
    return Complaint.model_validate({**fields, **changes})


def a_record(**changes: Any) -> dict[str, Any]:
    """A food order captured just after the filing: two naans at 50.00, nothing else."""
    fields: dict[str, Any] = {
        "kind": "food-order",
        "order_id": ORDER,
        "customer_id": CUSTOMER,
        "currency": "INR",
        "placed_at": after(hours=-2).isoformat(),
        "delivered_at": after(hours=-1.5).isoformat(),
        "delivery_sla_minutes": 45,
        "line_items": [
            {"line_id": "L1", "name": "Butter Naan", "quantity": 2, "unit_price_minor": 5_000}
        ],
        "paid_total_minor": 10_000,
        "captured_at": after(seconds=1).isoformat(),
    }
    return {**fields, **changes}


def a_claim(index: int = 1, dispute: str = DISPUTE, **changes: Any) -> Claim:
    fields = {
        "grievance_id": grievance_id(dispute, index),
        "index": index,
        "category": "MISSING_ITEM",
        "text": "one naan missing",
        "span_start": 0,
        "span_end": 5,
        "line_id": "L1",
        "quantity": 1,
    }
    return Claim.model_validate({**fields, **changes})


def a_docket(*claims: Claim, **changes: Any) -> Docket:
    fields: dict[str, Any] = {
        **about(changes.pop("dispute", DISPUTE)),
        "text": "One of the two naans was not in the bag.",
        "filed_at": NOW,
        "received_at": NOW,
        "claims": claims,
        "evidence": a_record(),
        "evidence_hash": "sha256:e",
        "usage": Usage(calls=1, cost_micros=10),
    }
    return Docket.model_validate({**fields, **changes})


def a_ruling(
    seat: int, ruling: str = "UPHELD", confidence: float = 0.98, index: int = 1, **changes: Any
) -> Ruling:
    grievance = grievance_id(DISPUTE, index)
    fields: dict[str, Any] = {
        **about(),
        "ruling_id": ruling_id(grievance, seat),
        "grievance_id": grievance,
        "category": "MISSING_ITEM",
        "seat": seat,
        "ruling": ruling,
        "confidence": confidence,
        "provider": "test",
        "model": "test",
        "prompt_variant": "plain",
        "prompt_hash": "sha256:p",
        "usage": Usage(calls=1, cost_micros=5),
        "raw_reply": "raw",
        "evidence_hash": "sha256:e",
        "grievance_at": NOW,
    }
    return Ruling.model_validate({**fields, **changes})


def a_verdict(
    index: int = 1, ruling: str = "UPHELD", dispute: str = DISPUTE, **changes: Any
) -> Verdict:
    grievance = grievance_id(dispute, index)
    revision = changes.get("revision", 1)
    fields: dict[str, Any] = {
        **about(dispute),
        "verdict_id": verdict_id(grievance, revision),
        "grievance_id": grievance,
        "category": "MISSING_ITEM",
        "revision": revision,
        "ruling": ruling,
        "votes": Votes.model_validate({ruling: 3}),
        "confidence": 0.98,
        "closed_by": "all_seats",
    }
    return Verdict.model_validate({**fields, **changes})


def a_line(index: int = 1, dispute: str = DISPUTE, **changes: Any) -> PriceLine:
    """An upheld line of 50.00 for the first unit of L1, to be paid."""
    amount = changes.get("amount_minor", 5_000)
    fields: dict[str, Any] = {
        "grievance_id": grievance_id(dispute, index),
        "category": "MISSING_ITEM",
        "ruling": "UPHELD",
        "scope": "unit",
        "line_id": "L1",
        "quantity": 1,
        "amount_minor": amount,
        "disposition": "pay",
        "scopes": (ScopeShare(scope=f"L1#{index}", amount_minor=amount),) if amount else (),
    }
    return PriceLine.model_validate({**fields, **changes})


def a_pending_line(
    index: int = 1, worth: int = 5_000, ceiling: int | None = None, **changes: Any
) -> PriceLine:
    share = ScopeShare(scope=f"L1#{index}", amount_minor=worth, ceiling_minor=ceiling)
    fields: dict[str, Any] = {
        "ruling": "ESCALATE",
        "amount_minor": 0,
        "amount_if_upheld_minor": worth,
        "disposition": "person",
        "scopes": (share,),
    }
    return a_line(index, **{**fields, **changes})


def a_proposal(*lines: PriceLine, **changes: Any) -> Proposal:
    dispute = changes.pop("dispute", DISPUTE)
    amount = sum(line.amount_minor for line in lines if line.disposition == "pay")
    fields: dict[str, Any] = {
        **about(dispute),
        "proposal_id": auto_key(dispute),
        "currency": "INR",
        "lines": lines,
        "amount_minor": amount,
        "proposed_minor": amount,
        "decision_rule": "auto_resolve_within_cap",
        "needs_person": any(line.disposition == "person" for line in lines),
        "filed_at": NOW,
        "received_at": NOW,
    }
    return Proposal.model_validate({**fields, **changes})


def as_decided(proposal: Proposal, **changes: Any) -> Decision:
    """The decision that a proposal becomes where the allowance lets it."""
    fields = proposal.model_dump(exclude={"proposal_id", "history_minor"})
    return Decision.model_validate({**fields, "decision_id": proposal.proposal_id, **changes})


def as_paid(decision: Decision, **changes: Any) -> Payment:
    """The gateway's answer to a decision."""
    fields: dict[str, Any] = {
        **about(decision.dispute_id, decision.order_id),
        "payment_id": decision.decision_id,
        "status": "paid" if decision.amount_minor else "not_required",
        "amount_minor": decision.amount_minor,
        "currency": decision.currency,
        "gateway": "test",
        "review_id": decision.review_id,
        "received_at": NOW,
    }
    return Payment.model_validate({**fields, **changes})


def as_refused(decision: Decision) -> Payment:
    return as_paid(decision, status="refused", amount_minor=0, refusal="account_closed")


def a_review(
    action: str = "approve", review: str = "r-1", reviewer: str = "asha", **changes: Any
) -> Review:
    fields: dict[str, Any] = {
        "at": NOW,
        "review_id": review,
        "dispute_id": DISPUTE,
        "order_id": ORDER,
        "settles_under": ORDER,
        "action": action,
        "reason_code": "proof",
        "reviewer": reviewer,
        "role": "lead",
    }
    return Review.model_validate({**fields, **changes})


def a_review_decision(review: str, *lines: PriceLine, **changes: Any) -> Decision:
    fields: dict[str, Any] = {
        "proposal_id": review_key(DISPUTE, review),
        "decision_rule": "review_approved",
        "review_id": review,
        "needs_person": False,
    }
    return as_decided(a_proposal(*lines, **{**fields, **changes}))


def a_letter(**changes: Any) -> Letter:
    fields: dict[str, Any] = {
        **about(),
        "letter_id": f"{auto_key(DISPUTE)}:letter",
        "kind": "outcome",
        "body": "Dear customer",
        "written_by": "template",
        "paid_minor": 5_000,
        "currency": "INR",
        "usage": Usage(calls=1, cost_micros=7),
    }
    return Letter.model_validate({**fields, **changes})


def rung(timer: Timer, at: datetime | None = None) -> Deadline:
    """The deadline that answers a timer."""
    fields = timer.model_dump(exclude={"at"})
    return Deadline.model_validate({**fields, "at": at or timer.due_at})


def on(topic: str, emits: list[Emit]) -> list[Any]:
    """The events produced to a topic, tombstones as None."""
    return [item.event for item in emits if item.topic == topic]


def cancelled(emits: list[Emit]) -> list[str]:
    """The timers that were ended early."""
    return [item.key for item in emits if item.topic == "timers" and item.event is None]
