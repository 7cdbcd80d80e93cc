"""A ruling leaves one row, with everything an auditor weighs it by."""

from schemas.ruling import Ruling
from sinks.rows.row import Place, Row, about, moment, spent


def rows(event: Ruling, place: Place) -> list[Row]:
    return [
        Row(
            "judge_rulings",
            {
                **about(event, place),
                "ruling_id": event.ruling_id,
                "grievance_id": event.grievance_id,
                "grievance_at": moment(event.grievance_at),
                "category": event.category,
                "seat": event.seat,
                "ruling": event.ruling,
                "confidence": event.confidence,
                "citations": list(event.citations),
                "seen": list(event.seen or ()),
                "failure": event.failure or "",
                "provider": event.provider,
                "model": event.model,
                "prompt_variant": event.prompt_variant,
                "prompt_hash": event.prompt_hash,
                "attempts": event.attempts,
                **spent(event.usage),
                "request_id": event.request_id or "",
                "evidence_hash": event.evidence_hash,
                "reason": event.reason,
                "raw_reply": event.raw_reply,
            },
        )
    ]
