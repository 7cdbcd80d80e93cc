"""A dead letter leaves one row: the place and the error. The encrypted bytes stay in Kafka."""

from schemas.dead_letter import DeadLetter
from sinks.rows.row import Place, Row, origin


def rows(event: DeadLetter, place: Place) -> list[Row]:
    return [
        Row(
            "dead_letters",
            {
                "dead_letter_id": event.dead_letter_id,
                **origin(event, place),
                "stage": event.stage,
                "source_topic": event.topic,
                "source_partition": event.partition,
                "source_offset": event.offset,
                "encrypted_bytes": len(event.value),
                "error": event.error,
            },
        )
    ]
