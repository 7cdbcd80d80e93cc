"""An event as some store holds it, and what one store holds of the chains that are looked at.

A store is Kafka, ClickHouse, a zip, or an archive: each is read into a `View`, and every check works on
views, so that a further store needs nothing but a function that makes one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from schemas.base import Model
from schemas.ids import content_hash, operations_chain
from schemas.ledger import AuditEntry
from schemas.operation import Operation
from schemas.ruling import Ruling
from schemas.settlement import Decision, Proposal
from schemas.topics import (
    BY_NAME,
    DECISIONS,
    DISPUTES,
    DOCKETS,
    LETTER_REQUESTS,
    LETTERS,
    OPERATIONS,
    PAYMENTS,
    RECEIPTS,
    REVIEWS,
    VERDICTS,
)
from schemas.verdict import Verdict

CHAINED = frozenset(
    topic.name
    for topic in (
        DISPUTES, DOCKETS, VERDICTS, DECISIONS, PAYMENTS, LETTER_REQUESTS, LETTERS, RECEIPTS,
        REVIEWS, OPERATIONS,
    )
)  # fmt: skip
"""Topics whose events the ledger links."""


class Place(NamedTuple):
    """Where in Kafka a record stands, or stood."""

    topic: str
    partition: int
    offset: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}@{self.offset}"


@dataclass(frozen=True, slots=True)
class Stored:
    """One record of a dispute, or one operation."""

    place: Place
    key: str
    chain: str
    """The chain it belongs to: its dispute, or `operations:<subject>`."""
    at: datetime
    """The broker's time where the store has it, else the event's own."""
    hash: str
    """Of the bytes held; where they were erased, the hash that was kept."""
    value: bytes | None
    """None where erased, or where the view keeps hashes only."""
    erased: bool = False
    name: str = ""
    """The id under which another event vouches for it (ruling, proposal), or an operation's."""
    vouches: tuple[tuple[str, str], ...] = ()
    """What this event says of others: id and hash of each ruling counted, or of the proposal."""
    archived: bool = False
    """True where the archive has the bytes, so that ClickHouse's tables may have let go of the texts in them."""

    def event(self) -> Model | None:
        """The event, or None where the bytes are gone or are not one."""
        kind = BY_NAME[self.place.topic].event
        if self.value is None or not issubclass(kind, Model):
            return None
        try:
            return kind.from_bytes(self.value)
        except ValueError:
            return None


@dataclass
class View:
    """What one store holds of some chains."""

    name: str
    """`kafka`, `clickhouse`, `zip`, …, as faults name it."""
    events: dict[str, list[Stored]] = field(default_factory=dict)
    """By chain; those that are not linked themselves (rulings, grievances, proposals) too."""
    links: dict[str, list[AuditEntry]] = field(default_factory=dict)
    """By chain, in the order in which the store has them."""
    link_places: dict[tuple[str, int], Place] = field(default_factory=dict)
    """By chain and number, where in Kafka the link itself stands; only Kafka's view knows."""
    excused: Callable[[Place], bool] = lambda _: False
    """True where the store may rightly lack a record: retention took it, or it has not come that far."""
    unread: Callable[[Place], bool] = lambda _: False
    """True where the ledger has not come to a record yet, so that no link is due."""
    complete: bool = False
    """True where nothing can be on its way: what a link names must be there, however young."""
    forgets_after: timedelta | None = None
    """The age at which the store lets go of texts; None where it keeps them."""
    whole: bool = True
    """False where a chain may start before, or go on after, what was read."""
    unreadable: int = 0
    """Records under the keys asked for that are no event."""

    def add(self, one: Stored) -> None:
        self.events.setdefault(one.chain, []).append(one)

    def add_link(self, entry: AuditEntry, place: Place | None = None) -> None:
        self.links.setdefault(entry.dispute_id, []).append(entry)
        if place is not None:
            self.link_places[entry.dispute_id, entry.sequence] = place


def stored(
    place: Place, key: str, at: datetime, value: bytes, *, keep_value: bool = True
) -> Stored | None:
    """A record read as its topic's event; None where it is not one."""
    kind = BY_NAME[place.topic].event
    assert issubclass(kind, Model)
    try:
        event = kind.from_bytes(value)
    except ValueError:
        return None
    name, vouches = _names(event)
    chain = (
        operations_chain(event.subject)
        if isinstance(event, Operation)
        else str(getattr(event, "dispute_id", ""))
    )
    return Stored(
        place, key, chain, at, content_hash(value), value if keep_value else None, False, name, vouches
    )  # fmt: skip


def _names(event: Model) -> tuple[str, tuple[tuple[str, str], ...]]:
    match event:
        case Ruling():
            return event.ruling_id, ()
        case Proposal():
            return event.proposal_id, ()
        case Operation():
            return event.operation_id, ()
        case Verdict():
            return "", tuple((one.ruling_id, one.ruling_hash) for one in event.rulings)
        case Decision() if event.proposal_hash is not None:
            return "", ((event.decision_id, event.proposal_hash),)
    return "", ()
