"""A letter leaves one row."""

from schemas.letter import Letter
from sinks.rows.row import Place, Row, about, spent


def rows(event: Letter, place: Place) -> list[Row]:
    return [
        Row(
            "letters",
            {
                **about(event, place),
                "letter_id": event.letter_id,
                "kind": event.kind,
                "language": event.language,
                "written_by": event.written_by,
                "model": event.model or "",
                "prompt_hash": event.prompt_hash or "",
                "rejected_drafts": len(event.rejected_drafts),
                "rejected_because": list(event.rejected_drafts),
                "paid_minor": event.paid_minor,
                "currency": event.currency,
                **spent(event.usage),
                "body": event.body,
            },
        )
    ]
