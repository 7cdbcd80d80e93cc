"""A grievance leaves one row. The evidence it is judged on is in the dispute's snapshot."""

from schemas.grievance import Grievance
from sinks.rows.row import Place, Row, about, moment


def rows(event: Grievance, place: Place) -> list[Row]:
    claim = event.claim
    return [
        Row(
            "grievances",
            {
                **about(event, place),
                "grievance_id": event.grievance_id,
                "number": claim.index,
                "of": event.of,
                "category": claim.category,
                "text": claim.text,
                "span_start": claim.span_start,
                "span_end": claim.span_end,
                "line_id": claim.line_id or "",
                "quantity": claim.quantity,
                "scope": claim.scope,
                "safety": claim.safety,
                "evidence_fields": sorted(event.evidence),
                "evidence_hash": event.evidence_hash,
                "filed_at": moment(event.filed_at),
                "seats": list(event.seats),
            },
        )
    ]
