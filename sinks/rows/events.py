"""A record of a dispute, or of an operation, leaves its bytes: what `audit` checks when Kafka has let go of it."""

from schemas import topics
from schemas.base import Event, Model
from schemas.ids import content_hash
from sinks.rows.row import Place, Row, moment

KEPT = frozenset(
    topic.name
    for topic in (
        topics.DISPUTES, topics.DOCKETS, topics.GRIEVANCES, topics.RULINGS, topics.VERDICTS,
        topics.PROPOSALS, topics.DECISIONS, topics.PAYMENTS, topics.LETTER_REQUESTS, topics.LETTERS,
        topics.RECEIPTS, topics.REVIEWS, topics.OPERATIONS,
    )
)  # fmt: skip
"""Topics whose bytes are kept. The audit topic is not: `audit_entries` has every field of it."""


def rows(event: Model, place: Place, key: bytes | None, value: bytes) -> list[Row]:
    """The row of one record, none for a topic that is not kept."""
    if place.topic not in KEPT or not isinstance(event, Event):
        return []
    subject = getattr(event, "dispute_id", None) or getattr(event, "subject", "")
    return [
        Row(
            "events",
            {
                "subject": subject,
                "topic": place.topic,
                "kafka_partition": place.partition,
                "kafka_offset": place.offset,
                "at": moment(event.at),
                "key": (key or b"").decode("utf-8", "replace"),
                "event_hash": content_hash(value),
                "erased": 0,
                "value": value.decode(),  # an event was read from it, so it is UTF-8
            },
        )
    ]


def nothing(event: Event, place: Place) -> list[Row]:
    """What an event leaves that nobody asks about beside its bytes."""
    return []
