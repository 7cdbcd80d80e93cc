"""A ledger entry leaves two rows: the step in `ledger_entries`, and the whole state in `disputes_current`."""

from schemas.ledger import LedgerEntry
from sinks.rows.row import Place, Row, maybe_moment, moment, origin


def rows(event: LedgerEntry, place: Place) -> list[Row]:
    state = {**_identity(event), **origin(event, place), **_money(event)}
    return [
        Row("ledger_entries", {**state, "chain_head": event.chain_head}),
        Row("disputes_current", {**state, **_course(event)}),
    ]


def _identity(event: LedgerEntry) -> dict[str, object]:
    return {
        "dispute_id": event.dispute_id,
        "order_id": event.order_id,
        "customer_id": event.customer_id,
        "settles_under": event.settles_under,
        "policy": event.policy,
        "pack_version": event.pack.pack_version if event.pack else 0,
        "pack_hash": event.pack.pack_hash if event.pack else "",
        "simulated": event.simulated,
        "sequence": event.sequence,
        "status": event.status,
        "filed_at": moment(event.filed_at),
        "settled_at": maybe_moment(event.settled_at),
    }


def _money(event: LedgerEntry) -> dict[str, object]:
    return {
        "decision_rule": event.decision_rule or "",
        "currency": event.currency or "",
        "amount_minor": event.amount_minor,
        "proposed_minor": event.proposed_minor,
        "paid_minor": event.paid_minor,
        "pending_minor": event.pending_minor,
        "needs_person": event.needs_person,
    }


def _course(event: LedgerEntry) -> dict[str, object]:
    return {
        "stages": {stage: moment(at) for stage, at in event.stages.items()},
        "tier": event.tier,
        "acknowledge_by": maybe_moment(event.acknowledge_by),
        "resolve_by": maybe_moment(event.resolve_by),
        "evidence_hash": event.evidence_hash or "",
        "evidence_stale": event.evidence_stale,
        "screening_rules": list(event.screening),
        "outcome": event.outcome or "",
        "grievances": len(event.grievances),
        "left_out": event.left_out,
        "escalated": list(event.escalated),
        "llm_calls": event.llm_calls,
        "cost_micros": event.cost_micros,
        "letters": event.letters,
        "review_ids": list(event.reviews),
        "chain_head": event.chain_head,
    }
