"""A payment leaves one row; its id is its decision's."""

from schemas.payment import Payment
from sinks.rows.row import Place, Row, about, moment


def rows(event: Payment, place: Place) -> list[Row]:
    return [
        Row(
            "payments",
            {
                **about(event, place),
                "payment_id": event.payment_id,
                "status": event.status,
                "amount_minor": event.amount_minor,
                "currency": event.currency,
                "gateway": event.gateway,
                "gateway_ref": event.gateway_ref or "",
                "refusal": event.refusal or "",
                "found_before_call": event.found_before_call,
                "attempts": event.attempts,
                "review_id": event.review_id or "",
                "received_at": moment(event.received_at),
            },
        )
    ]
