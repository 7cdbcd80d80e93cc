"""What Kafka holds of some disputes, or of all since a moment."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from confluent_kafka import (
    ConsumerGroupTopicPartitions,
    KafkaError,
    KafkaException,
)

from ops.audit.stored import Place, View, stored
from ops.bounded_read import Found, Span, every_partition, partition_for, spans, stream
from schemas.ids import operations_chain
from schemas.ledger import AuditEntry, LedgerEntry
from schemas.topics import (
    AUDIT,
    BY_NAME,
    DECISIONS,
    DISPUTES,
    DOCKETS,
    GRIEVANCES,
    LEDGER,
    LETTER_REQUESTS,
    LETTERS,
    OPERATIONS,
    PAYMENTS,
    PROPOSALS,
    RECEIPTS,
    REVIEWS,
    RULINGS,
    TEXT_RETENTION_MS,
    VERDICTS,
)
from sinks.rows.events import KEPT
from topologies import clients
from topologies.quix_app import group

BY_ORDER = (
    DISPUTES, DOCKETS, VERDICTS, DECISIONS, PAYMENTS, LETTER_REQUESTS, LETTERS, RECEIPTS, REVIEWS,
)  # fmt: skip
"""Topics keyed by settles_under."""
CLOCKS_DIFFER = timedelta(minutes=10)
"""How far an event's own time may be ahead of the broker's."""
TEXT_KEPT = timedelta(milliseconds=TEXT_RETENTION_MS) - timedelta(days=1)
ANSWER_WITHIN_S = 10.0
FIRST_RECORDS = 100
"""Of a partition, among which there is a link and not only what ends transactions."""
NEVER = 2**63
"""An offset that no partition reaches."""


def view_of(entries: Iterable[LedgerEntry]) -> View:
    """Everything of these disputes, and of every other dispute on their orders; values included.

    Raises:
        KafkaException: the broker is away.
    """
    entries = list(entries)
    began = [min(entry.stages.values(), default=entry.filed_at) for entry in entries]
    since = min(began) - CLOCKS_DIFFER if began else None
    keys: set[str] = set()
    places: set[tuple[str, int]] = set()
    grievances: set[str] = set()
    for entry in entries:
        keys |= {entry.settles_under, entry.customer_id, entry.dispute_id}
        keys.add(operations_chain(entry.dispute_id))
        places |= {partition_for(topic, entry.settles_under) for topic in BY_ORDER}
        places |= {partition_for(t, entry.dispute_id) for t in (AUDIT, LEDGER, OPERATIONS)}
        places.add(partition_for(AUDIT, operations_chain(entry.dispute_id)))
        places.add(partition_for(PROPOSALS, entry.customer_id))
        grievances |= {one.grievance_id for one in entry.grievances}
    view = _empty()
    _fill(view, places, since, lambda one: _key(one) in keys, keep_values=True)
    for events in view.events.values():
        for one in events:
            docket = one.event() if one.place.topic == DOCKETS.name else None
            grievances |= {claim.grievance_id for claim in getattr(docket, "claims", ())}
    judged = [partition_for(t, g) for t in (GRIEVANCES, RULINGS) for g in grievances]
    _fill(view, judged, since, lambda one: _key(one) in grievances, keep_values=True)
    return view


def view_everything() -> View:
    """Everything there is, bytes included: for an installation small enough to be held in memory.

    Raises:
        KafkaException: the broker is away.
    """
    view = _empty()
    _fill(view, _places(), None, lambda _: True, keep_values=True)
    return view


def view_between(since: datetime, until: datetime) -> View:
    """What came in [since, until), hashes only: some 25 KB of memory a dispute. Links are read a little
    further, since each comes after its event.

    Raises:
        KafkaException: the broker is away.
    """
    view = _empty()
    view.whole = False
    places = _places()
    begin, end = _starts(places, since), _starts(places, until)
    late = _starts(every_partition(AUDIT), until + CLOCKS_DIFFER)
    wanted = [
        Span(
            topic,
            number,
            start,
            (late if topic == AUDIT.name else end).get((topic, number), (stop, stop))[0],
        )
        for (topic, number), (start, stop) in begin.items()
    ]
    _take(view, [span for span in wanted if span.start < span.end], lambda _: True, False)
    purged = view.excused

    def outside(place: Place) -> bool:
        start, _ = begin.get(place[:2], (NEVER, NEVER))
        return not start <= place.offset < end.get(place[:2], (NEVER, NEVER))[0] or purged(place)

    view.excused = outside
    return view


def first_link() -> datetime | None:
    """When the broker took the first event that `audit` still links; None where it links none.

    Raises:
        KafkaException: the broker is away.
    """
    first = [
        Span(s.topic, s.partition, s.start, min(s.end, s.start + FIRST_RECORDS))
        for s in spans(every_partition(AUDIT))
    ]
    links = (AuditEntry.from_bytes(one.value) for one in stream(first) if one.value is not None)
    return min((link.at for link in links), default=None)


def _places() -> list[tuple[str, int]]:
    topics = [BY_NAME[name] for name in sorted(KEPT)]
    return [place for topic in (*topics, AUDIT) for place in every_partition(topic)]


def _starts(
    places: list[tuple[str, int]], since: datetime
) -> dict[tuple[str, int], tuple[int, int]]:
    """Topic and partition → the first offset at or after `since` and the end; none where nothing is so young."""
    return {(s.topic, s.partition): (s.start, s.end) for s in spans(places, since)}


def _empty() -> View:
    held: dict[tuple[str, int], int] = {}
    ledger = committed("ledger")

    def purged(place: Place) -> bool:
        if place[:2] not in held:
            parts = [(place.topic, place.partition)]
            held.update(
                {(s.topic, s.partition): s.start for s in spans(parts)} or {parts[0]: NEVER}
            )
        return place.offset < held[place[:2]]

    return View(
        "kafka",
        excused=purged,
        forgets_after=TEXT_KEPT,
        unread=lambda place: place.offset >= ledger.get(place[:2], 0),
    )


def committed(stage: str) -> dict[tuple[str, int], int]:
    """How far a stage's group has come: topic and partition → the next offset it reads.

    Raises:
        KafkaException: the broker is away.
    """
    admin = clients.admin()  # its answers die with it
    asked = [ConsumerGroupTopicPartitions(group(stage))]
    [answer] = admin.list_consumer_group_offsets(
        asked, request_timeout=clients.COORDINATOR_TIMEOUT_S
    ).values()
    try:
        partitions = clients.answer(answer, ANSWER_WITHIN_S).topic_partitions
    except KafkaException as error:
        if error.args[0].code() == KafkaError.GROUP_ID_NOT_FOUND:
            return {}  # it never ran
        raise
    return {(one.topic, one.partition): one.offset for one in partitions if one.offset >= 0}


def _key(one: Found) -> str:
    return (one.key or b"").decode("utf-8", "replace")


def _fill(
    view: View,
    places: Iterable[tuple[str, int]],
    since: datetime | None,
    wanted: Callable[[Found], bool],
    keep_values: bool,
) -> None:
    _take(view, spans(places, since), wanted, keep_values)


def _take(
    view: View, wanted_spans: list[Span], wanted: Callable[[Found], bool], keep_values: bool
) -> None:
    for one in stream(wanted_spans):
        if one.value is None or not wanted(one):
            continue
        place = Place(one.topic, one.partition, one.offset)
        if one.topic == AUDIT.name:
            view.add_link(AuditEntry.from_bytes(one.value), place)
            if not keep_values:
                continue
        found = stored(place, _key(one), one.at, one.value, keep_value=keep_values)
        if found is None:
            view.unreadable += 1
            continue
        view.add(found)
