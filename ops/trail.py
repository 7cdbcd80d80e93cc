"""A dispute's entry in the ledger, and its trail: each stage's events in the order in which they came."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ops.audit.kafka_view import view_of
from ops.audit.stored import View
from ops.bounded_read import every_partition, named, newest, partition_for, read_all
from schemas.complaint import Complaint
from schemas.ids import operations_chain
from schemas.ledger import LedgerEntry
from schemas.topics import COMPLAINTS, LEDGER, Topic


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
    """A dispute's events in the order in which the broker took them, and the operations on it."""

    entry: LedgerEntry
    steps: list[Step] = field(default_factory=list)
    unreadable: int = 0
    erased: int = 0
    """Events whose bytes were erased; only their hashes are left."""

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
    said = named(identifier)
    latest: dict[str, LedgerEntry] = {}
    for one in read_all(every_partition(LEDGER), lambda r: r.value is None or said in r.value):
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
    """Every event of the dispute behind a ledger entry, as Kafka has it.

    Raises:
        KafkaException: the broker is away.
    """
    return trail_of(view_of([entry]), entry)


def trail_of(view: View, entry: LedgerEntry) -> Trail:
    """The trail of one dispute in what a store holds; with what was done to it."""
    trail = Trail(entry, unreadable=view.unreadable)
    chains = (entry.dispute_id, operations_chain(entry.dispute_id))
    for one in (held for chain in chains for held in view.events.get(chain, ())):
        event = one.event()
        if event is not None:
            trail.steps.append(Step(*one.place, one.at, event))
        trail.erased += one.erased
    trail.steps.sort(key=lambda step: (step.at, step.topic, step.offset))
    return trail
