"""A verdict leaves one row; the rulings it counted stand beside each other in arrays, in its own order."""

from schemas.verdict import Verdict
from sinks.rows.row import Place, Row, about


def rows(event: Verdict, place: Place) -> list[Row]:
    votes, counted = event.votes, event.rulings
    return [
        Row(
            "verdicts",
            {
                **about(event, place),
                "verdict_id": event.verdict_id,
                "grievance_id": event.grievance_id,
                "category": event.category,
                "revision": event.revision,
                "ruling": event.ruling,
                "votes_upheld": votes.UPHELD,
                "votes_rejected": votes.REJECTED,
                "votes_escalate": votes.ESCALATE,
                "votes_failed": votes.FAILED,
                "votes_absent": votes.absent,
                "confidence": event.confidence,
                "closed_by": event.closed_by,
                "ruling_ids": [one.ruling_id for one in counted],
                "ruling_hashes": [one.ruling_hash for one in counted],
                "seats": [one.seat for one in counted],
                "seat_rulings": [one.ruling for one in counted],
                "seat_confidences": [one.confidence for one in counted],
                "seat_weights": [one.weight for one in counted],
                "seat_models": [f"{one.provider}/{one.model}" for one in counted],
                "seat_prompt_variants": [one.prompt_variant for one in counted],
                "seat_prompt_hashes": [one.prompt_hash for one in counted],
                "identical_replies": event.identical_replies,
                "seat_failures": [one.failure or "" for one in counted],
            },
        )
    ]
