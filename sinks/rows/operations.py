"""An operation leaves one row. Told again, as a pack is at each start, it leaves the first row as it was."""

from schemas.operation import Operation
from sinks.rows.row import Place, Row, origin

LARGEST_OFFSET = 2**63 - 1


def rows(event: Operation, place: Place) -> list[Row]:
    return [
        Row(
            "operations",
            {
                "operation_id": event.operation_id,
                **origin(event, place),
                "first_wins": LARGEST_OFFSET - place.offset,
                "subject": event.subject,
                "action": event.action,
                "actor": event.actor,
                "role": event.role,
                "reason_code": event.reason_code,
                "details": dict(event.details),
            },
        )
    ]
