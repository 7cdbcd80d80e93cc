"""The columns a proposal and a decision share: the money line by line, in arrays of one length."""

from schemas.settlement import Decision, Proposal
from sinks.rows.row import moment, spent


def priced(event: Proposal | Decision) -> dict[str, object]:
    lines = event.lines
    return {
        "currency": event.currency,
        "amount_minor": event.amount_minor,
        "proposed_minor": event.proposed_minor,
        "decision_rule": event.decision_rule,
        "escalated": list(event.escalated),
        "needs_person": event.needs_person,
        "tier": event.tier,
        "authorised_by": event.authorised_by,
        "review_id": event.review_id or "",
        "filed_at": moment(event.filed_at),
        "received_at": moment(event.received_at),
        **spent(event.usage),
        "line_grievance_ids": [line.grievance_id for line in lines],
        "line_categories": [line.category for line in lines],
        "line_rulings": [line.ruling for line in lines],
        "line_scopes": [line.scope for line in lines],
        "line_line_ids": [line.line_id or "" for line in lines],
        "line_quantities": [line.quantity for line in lines],
        "line_amounts_minor": [line.amount_minor for line in lines],
        "line_if_upheld_minor": [line.amount_if_upheld_minor for line in lines],
        "line_ceilings_minor": [line.ceiling_minor for line in lines],
        "line_dispositions": [line.disposition for line in lines],
        "line_pay_scopes": [[share.scope for share in line.scopes] for line in lines],
        "line_bases": [line.basis for line in lines],
        "line_person_reasons": [line.person_reason or "" for line in lines],
    }
