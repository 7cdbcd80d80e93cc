"""A docket leaves one row: how many grievances, what was left out, and what the extraction took."""

from schemas.docket import Docket
from sinks.rows.row import Place, Row, about, moment, spent


def rows(event: Docket, place: Place) -> list[Row]:
    return [
        Row(
            "dockets",
            {
                **about(event, place),
                "filed_at": moment(event.filed_at),
                "received_at": moment(event.received_at),
                "grievances": len(event.claims),
                "categories": [claim.category for claim in event.claims],
                "left_out_kinds": [left.kind for left in event.left_out],
                "evidence_hash": event.evidence_hash or "",
                "evidence_stale": event.evidence_stale,
                "screening_rules": [flag.rule for flag in event.screening],
                "safety_words": event.safety_words,
                "tier": event.tier,
                "outcome": event.outcome or "",
                "problem": event.problem or "",
                "model": event.model or "",
                "prompt_hash": event.prompt_hash or "",
                **spent(event.usage),
                "raw_reply": event.raw_reply or "",
            },
        )
    ]
