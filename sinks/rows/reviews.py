"""A person's decision, or a customer's appeal, leaves one row."""

from schemas.review import Review
from sinks.rows.row import Place, Row, origin


def rows(event: Review, place: Place) -> list[Row]:
    return [
        Row(
            "reviews",
            {
                "dispute_id": event.dispute_id,
                "order_id": event.order_id,
                "settles_under": event.settles_under,
                **origin(event, place),
                "review_id": event.review_id,
                "action": event.action,
                "amount_minor": event.amount_minor,
                "reason_code": event.reason_code,
                "reviewer": event.reviewer,
                "role": event.role,
                "note": event.note,
            },
        )
    ]
