"""Everything Kafka holds of one dispute: the ledger's entry, and each stage's events by their keys."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ops.bounded_read import (
    Found,
    every_partition,
    newest,
    partition_for,
    read,
    read_all,
    spans,
)
from schemas.base import Model
from schemas.complaint import Complaint
from schemas.docket import Docket
from schemas.ledger import LedgerEntry
from schemas.topics import (
    AUDIT,
    BY_NAME,
    COMPLAINTS,
    DECISIONS,
    DISPUTES,
    DOCKETS,
    GRIEVANCES,
    LEDGER,
    LETTER_REQUESTS,
    LETTERS,
    PAYMENTS,
    PROPOSALS,
    REVIEWS,
    RULINGS,
    VERDICTS,
    Topic,
)

BY_ORDER = (DISPUTES, DOCKETS, VERDICTS, DECISIONS, PAYMENTS, LETTER_REQUESTS, LETTERS, REVIEWS)
"""Topics keyed by settles_under."""
CLOCKS_DIFFER = timedelta(minutes=10)
"""How far an event's own time may be ahead of the broker's."""


@dataclass(frozen=True)
class Step:
    """One event of a dispute and where it stands."""

    topic: str
    partition: int
    offset: int
    at: datetime
    event: Any

    def as_json(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "partition": self.partition,
            "offset": self.offset,
            "at": self.at.isoformat(),
            "event": self.event.model_dump(mode="json", exclude_none=True),
        }


@dataclass
class Trail:
    """A dispute's events in the order in which the broker took them."""

    entry: LedgerEntry
    steps: list[Step] = field(default_factory=list)
    unreadable: int = 0

    def of(self, topic: Topic) -> list[Any]:
        """The events of one topic."""
        return [step.event for step in self.steps if step.topic == topic.name]


def find(identifier: str) -> list[LedgerEntry]:
    """The ledger's entries of a dispute id, or of every dispute of an order id; newest filing first.

    Raises:
        KafkaException: the broker is away.
    """
    if identifier.startswith("d-"):
        key = identifier.encode()
        last = newest(partition_for(LEDGER, identifier), lambda one: one.key == key)
        if last is not None:
            return [LedgerEntry.from_bytes(last.value)] if last.value else []
    named = identifier.encode()
    latest: dict[str, LedgerEntry] = {}
    for one in read_all(every_partition(LEDGER), lambda r: r.value is None or named in r.value):
        if one.value is None:
            latest.pop((one.key or b"").decode("utf-8", "replace"), None)
            continue
        entry = LedgerEntry.from_bytes(one.value)
        before = latest.get(entry.dispute_id)
        if identifier in (entry.order_id, entry.settles_under) and (
            before is None or entry.sequence >= before.sequence
        ):
            latest[entry.dispute_id] = entry
    return sorted(latest.values(), key=lambda entry: entry.filed_at, reverse=True)


def in_ledger(dispute_ids: Iterable[str]) -> set[str]:
    """Those of the dispute ids that the ledger knows."""
    keys = {wanted.encode() for wanted in dispute_ids}
    places = {partition_for(LEDGER, key.decode()) for key in keys}
    return {one.key.decode() for one in read_all(places, lambda r: r.key in keys) if one.key}


def complaints_of(order_id: str) -> list[tuple[Complaint, datetime]]:
    """The complaints filed about an order, with the time at which the broker took them."""
    key = order_id.encode()
    found: list[tuple[Complaint, datetime]] = []
    for one in read_all([partition_for(COMPLAINTS, order_id)], lambda r: r.key == key):
        try:
            found.append((Complaint.from_bytes(one.value or b""), one.at))
        except ValueError:
            continue  # a dead letter tells of it
    return found


def read_trail(entry: LedgerEntry) -> Trail:
    """Every event of the dispute behind a ledger entry.

    Raises:
        KafkaException: the broker is away.
    """
    trail = Trail(entry)
    since = min(entry.stages.values(), default=None)
    since = since - CLOCKS_DIFFER if since else None
    places = [partition_for(topic, entry.settles_under) for topic in BY_ORDER]
    places += [
        partition_for(PROPOSALS, entry.customer_id),
        partition_for(AUDIT, entry.dispute_id),
        partition_for(LEDGER, entry.dispute_id),
    ]
    _add(trail, places, {entry.settles_under, entry.customer_id, entry.dispute_id}, since)
    grievances = {claim.grievance_id for docket in trail.of(DOCKETS) for claim in _claims(docket)}
    grievances |= {grievance.grievance_id for grievance in entry.grievances}
    judged = [partition_for(t, g) for t in (GRIEVANCES, RULINGS) for g in grievances]
    _add(trail, judged, grievances, since)
    trail.steps.sort(key=lambda step: (step.at, step.topic, step.offset))
    return trail


def _claims(docket: Docket) -> Iterable[Any]:
    return docket.claims


def _add(
    trail: Trail, places: list[tuple[str, int]], keys: set[str], since: datetime | None
) -> None:
    wanted = {key.encode() for key in keys}
    for one in read(spans(places, since), lambda r: r.key in wanted and r.value is not None):
        event = _event(one)
        if event is None:
            trail.unreadable += 1
        elif getattr(event, "dispute_id", None) == trail.entry.dispute_id:
            trail.steps.append(Step(one.topic, one.partition, one.offset, one.at, event))


def _event(one: Found) -> Model | None:
    kind = BY_NAME[one.topic].event
    assert issubclass(kind, Model)
    try:
        return kind.from_bytes(one.value or b"")
    except ValueError:
        return None
