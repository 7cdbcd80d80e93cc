"""A dispute's trail put together as an auditor asks for it: each grievance with its judges, count and price."""

from typing import Any

from ops.trail import Trail
from schemas.topics import (
    AUDIT,
    DECISIONS,
    DISPUTES,
    DOCKETS,
    GRIEVANCES,
    LETTERS,
    OPERATIONS,
    PAYMENTS,
    PROPOSALS,
    REVIEWS,
    RULINGS,
    VERDICTS,
)


def explanation(trail: Trail) -> dict[str, Any]:
    """The whole trail: put together, and under `steps` every event as it is, in order."""
    entry = trail.entry
    opened = next(iter(trail.of(DISPUTES)), None)
    docket = next(iter(trail.of(DOCKETS)), None)
    return {
        "dispute_id": entry.dispute_id,
        "order_id": entry.order_id,
        "customer_id": entry.customer_id,
        "status": entry.status,
        "simulated": entry.simulated,
        "pack": _plain(entry.pack),
        "complaint": _complaint(opened),
        "evidence": _evidence(opened),
        "screening": [_plain(flag) for flag in opened.screening] if opened else [],
        "tier": entry.tier,
        "acknowledge_by": entry.acknowledge_by,
        "resolve_by": entry.resolve_by,
        "outcome": entry.outcome,
        "problem": docket.problem if docket else None,
        "left_out": _left_out(docket),
        "grievances": [_grievance(trail, claim) for claim in (docket.claims if docket else ())],
        "decision_rule": entry.decision_rule,
        "amount_minor": entry.amount_minor,
        "proposed_minor": entry.proposed_minor,
        "paid_minor": entry.paid_minor,
        "pending_minor": entry.pending_minor,
        "currency": entry.currency,
        "escalated": list(entry.escalated),
        "needs_person": entry.needs_person,
        "proposals": _without_lines(trail.of(PROPOSALS)),
        "decisions": _without_lines(trail.of(DECISIONS)),
        "payments": [_plain(payment) for payment in trail.of(PAYMENTS)],
        "reviews": [_review(trail, review) for review in trail.of(REVIEWS)],
        "operations": [_plain(operation) for operation in trail.of(OPERATIONS)],
        "letters": [_plain(letter) for letter in trail.of(LETTERS)],
        "llm_calls": entry.llm_calls,
        "cost_micros": entry.cost_micros,
        "usage": entry.usage.model_dump(),
        "chain_head": entry.chain_head,
        "audit_entries": len(trail.of(AUDIT)),
        "unreadable": trail.unreadable,
        "erased": trail.erased,
        "ledger": _plain(entry),
        "steps": [step.as_json() for step in trail.steps],
    }


def _plain(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True) if model is not None else None


def _complaint(opened: Any) -> dict[str, Any] | None:
    if opened is None:
        return None
    return {
        "text": opened.text,
        "filed_at": opened.filed_at,
        "received_at": opened.received_at,
        "channel": opened.channel,
    }


def _evidence(opened: Any) -> dict[str, Any] | None:
    if opened is None:
        return None
    return {
        "hash": opened.evidence_hash,
        "stale": opened.evidence_stale,
        "problems": list(opened.evidence_problems),
        "record": opened.evidence,
    }


def _left_out(docket: Any) -> list[dict[str, Any]]:
    if docket is None:
        return []
    return [
        {**_plain(one), "text": docket.text[one.span_start : one.span_end]}
        for one in docket.left_out
    ]


def _grievance(trail: Trail, claim: Any) -> dict[str, Any]:
    """One claim with its K rulings, the count and the price line of the automatic decision."""
    mine = claim.grievance_id
    shown = next((g for g in trail.of(GRIEVANCES) if g.grievance_id == mine), None)
    rulings = [ruling for ruling in trail.of(RULINGS) if ruling.grievance_id == mine]
    verdicts = [verdict for verdict in trail.of(VERDICTS) if verdict.grievance_id == mine]
    verdict = min(verdicts, key=lambda v: v.revision, default=None)
    priced = [*trail.of(DECISIONS), *trail.of(PROPOSALS)]
    line = next((ln for d in priced for ln in d.lines if ln.grievance_id == mine), None)
    return {
        **_plain(claim),
        "evidence_fields": sorted(shown.evidence) if shown else [],
        "seats": list(shown.seats) if shown else [],
        "rulings": [_plain(ruling) for ruling in sorted(rulings, key=lambda r: r.seat)],
        "ruling": verdict.ruling if verdict else None,
        "votes": _plain(verdict.votes) if verdict else None,
        "confidence": verdict.confidence if verdict else None,
        "closed_by": verdict.closed_by if verdict else None,
        "late_revisions": sum(verdict.revision > 1 for verdict in verdicts),
        "line": _plain(line),
    }


def _review(trail: Trail, review: Any) -> dict[str, Any]:
    """The review, and the rule of the decision it became, a refusal with its reason included."""
    became = (d.decision_rule for d in trail.of(DECISIONS) if d.review_id == review.review_id)
    return {**_plain(review), "outcome": next(became, None)}


def _without_lines(priced: list[Any]) -> list[dict[str, Any]]:
    """Proposals and decisions; their lines stand with the grievances, and in `steps`."""
    return [{k: v for k, v in _plain(one).items() if k != "lines"} for one in priced]
