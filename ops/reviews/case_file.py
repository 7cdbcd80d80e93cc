"""A dispute as its officer needs to see it: each claim beside what the record says, and what was done since."""

from typing import Any

from ops.explanation import explanation
from ops.reviews.since_asked import records_since_asked
from ops.trail import Trail
from schemas.topics import DECISIONS


def case_file(trail: Trail) -> dict[str, Any]:
    """Everything `review show` shows. It holds the customer's words."""
    entry, told = trail.entry, explanation(trail)
    record = (told["evidence"] or {}).get("record") or {}
    decided = {
        line.grievance_id: line for decision in trail.of(DECISIONS) for line in decision.lines
    }
    return {
        "dispute_id": entry.dispute_id,
        "order_id": entry.order_id,
        "customer_id": entry.customer_id,
        "policy": entry.policy,
        "status": entry.status,
        "decision_rule": entry.decision_rule,
        "tier": entry.tier,
        "safety": entry.safety,
        "screening": told["screening"],
        "waits_for": entry.waits_for,
        "needs_person": entry.needs_person,
        "decide_by": entry.resolve_by,
        "currency": entry.currency,
        "paid_minor": entry.paid_minor,
        "pending_minor": entry.pending_minor,
        "ceiling_minor": entry.ceiling_minor,
        "simulated": entry.simulated,
        "complaint": told["complaint"],
        "problem": told["problem"],
        "claims": [_claim(claim, decided, record) for claim in told["grievances"]],
        "left_out": told["left_out"],
        "evidence": told["evidence"],
        "reviews": told["reviews"],
        "records_since_asked": records_since_asked(trail),
        "letters": told["letters"],
    }


def _claim(
    claim: dict[str, Any], decided: dict[str, Any], record: dict[str, Any]
) -> dict[str, Any]:
    """The claim, the count, what the record says of it, and what a person may do about it."""
    line = decided.get(claim["grievance_id"])
    return {
        "grievance_id": claim["grievance_id"],
        "category": claim["category"],
        "text": claim["text"],
        "line_id": claim.get("line_id"),
        "quantity": claim.get("quantity"),
        "safety": claim.get("safety", False),
        "ruling": claim["ruling"],
        "votes": claim["votes"],
        "judges": [
            {
                "seat": ruling["seat"],
                "ruling": ruling["ruling"],
                "reason": ruling.get("failure") or ruling["reason"],
                "cites": ruling["citations"],
            }
            for ruling in claim["rulings"]
        ],
        "record": {field: record[field] for field in claim["evidence_fields"] if field in record},
        "disposition": line.disposition if line else None,
        "amount_minor": line.amount_minor if line else 0,
        "amount_if_upheld_minor": line.amount_if_upheld_minor if line else 0,
        "ceiling_minor": line.ceiling_minor if line else 0,
        "basis": line.basis if line else None,
        "person_reason": line.person_reason if line else None,
    }
