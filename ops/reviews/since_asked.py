"""Records of the order that came after an officer asked for more: for the officer's eyes, never judged."""

from typing import Any

from ops.bounded_read import Found, partition_for, read, spans
from ops.trail import Trail
from schemas.topics import EVIDENCE, REVIEWS
from topologies.intake import read_evidence


def records_since_asked(trail: Trail) -> list[dict[str, Any]]:
    """What upstream sent about the order since more evidence was first asked for; empty where it was not.

    Raises:
        KafkaException: the broker is away.
    """
    asked = next(
        (s for s in trail.steps if s.topic == REVIEWS.name and s.event.action == "more_evidence"),
        None,
    )
    if asked is None:
        return []
    order = trail.entry.order_id
    place, key = partition_for(EVIDENCE, order), order.encode()
    found = read(spans([place], asked.at), lambda r: r.key == key and r.value is not None)
    return [
        {
            "at": one.at.isoformat(),
            "partition": one.partition,
            "offset": one.offset,
            "record": _body(one),
        }
        for one in found
    ]


def _body(one: Found) -> dict[str, Any]:
    """The record as it came; one that cannot be read is a dead letter, and is named here."""
    try:
        return read_evidence(one.value or b"")
    except ValueError:
        return {"unreadable": f"{one.topic}-{one.partition}-{one.offset}"}
