"""An audit entry leaves one row: a link of the dispute's chain."""

from schemas.ledger import AuditEntry
from sinks.rows.row import Place, Row, origin


def rows(event: AuditEntry, place: Place) -> list[Row]:
    return [
        Row(
            "audit_entries",
            {
                "dispute_id": event.dispute_id,
                "sequence": event.sequence,
                **origin(event, place),
                "event_topic": event.topic,
                "event_partition": event.partition,
                "event_offset": event.offset,
                "event_hash": event.event_hash,
                "previous": event.previous,
                "chain": event.chain,
            },
        )
    ]
