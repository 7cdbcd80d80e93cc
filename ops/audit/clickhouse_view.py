"""What ClickHouse holds of some disputes: the bytes of every event, and the links of the audit chain."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from ops.archive.reading import filled
from ops.audit.stored import Place, Stored, View, stored
from schemas.ids import content_hash, operations_chain
from schemas.ledger import AuditEntry

BATCH = 200
"""Chains asked for at once: some megabytes of bytes."""
_LONGEST_PLAIN = 200 - len("operations:")
_EVENTS = """
SELECT subject, topic, kafka_partition, kafka_offset, at, key, event_hash, erased, archived, value
FROM events FINAL
WHERE {where}
"""
_LINKS = """
SELECT dispute_id, sequence, at, event_topic, event_partition, event_offset, event_hash, previous, chain
FROM audit_entries FINAL
WHERE dispute_id IN {chains:Array(String)}
ORDER BY dispute_id, sequence
"""


def view_of(
    client: Client, chains: Collection[str], excused: Callable[[Place], bool] = lambda _: False
) -> View:
    """Everything of these chains: disputes, and `operations:<subject>`.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    view = View("clickhouse", excused=excused, unread=lambda _: True)
    taken_at: dict[Place, datetime] = {}
    view.links = links_of(client, chains)
    for entry in (link for links in view.links.values() for link in links):
        taken_at[Place(entry.topic, entry.partition, entry.offset)] = entry.at
    subjects = [chain.removeprefix("operations:") for chain in chains]
    where = "subject IN {subjects:Array(String)}"
    if any(chain.startswith("operations:sha256:") for chain in chains):
        where += f" OR (topic = 'operations' AND length(subject) > {_LONGEST_PLAIN})"
    wanted = set(chains)
    for one in _events(client, where, {"subjects": subjects}):
        if one.chain in wanted:
            view.add(replace(one, at=taken_at.get(one.place, one.at)))
    return view


def links_of(client: Client, chains: Collection[str]) -> dict[str, list[AuditEntry]]:
    """The links of these chains, by chain and in order."""
    links: dict[str, list[AuditEntry]] = {}
    for row in client.query(_LINKS, {"chains": list(chains)}).result_rows:
        entry = _link(row)
        links.setdefault(entry.dispute_id, []).append(entry)
    return links


def proposals_of(client: Client, customers: Collection[str]) -> list[Stored]:
    """Every proposal about these customers, whatever order it is on."""
    # Every version of a row has the same key, so its index is right beside FINAL too.
    where = "topic = 'proposals' AND key IN {keys:Array(String)}"
    where += " SETTINGS use_skip_indexes_if_final = 1"
    return _events(client, where, {"keys": list(customers)})


def decisions_of(client: Client, disputes: Collection[str]) -> list[Stored]:
    """Every decision about these disputes."""
    where = "topic = 'decisions' AND subject IN {ids:Array(String)}"
    return _events(client, where, {"ids": list(disputes)})


def disputes_of(client: Client, identifier: str) -> list[str]:
    """The dispute of that id, or those of that order; newest filing first."""
    return _column(
        client,
        "SELECT dispute_id FROM disputes_current FINAL WHERE dispute_id = {id:String} "
        "OR order_id = {id:String} OR settles_under = {id:String} ORDER BY filed_at DESC",
        {"id": identifier},
    )


def disputes_beside(client: Client, dispute_ids: Collection[str]) -> list[str]:
    """These disputes and every other on their orders."""
    orders = _column(
        client,
        "SELECT DISTINCT settles_under FROM disputes WHERE dispute_id IN {ids:Array(String)}",
        {"ids": list(dispute_ids)},
    )
    return _column(
        client,
        "SELECT DISTINCT subject FROM events WHERE topic = 'disputes' AND key IN {keys:Array(String)}",
        {"keys": orders},
    )


def decided(client: Client, since: datetime, until: datetime) -> list[str]:
    """Disputes decided in [since, until), by a rule or by a person."""
    return _column(
        client,
        "SELECT DISTINCT dispute_id FROM decisions FINAL "
        "WHERE at >= {since:DateTime64(3, 'UTC')} AND at < {until:DateTime64(3, 'UTC')} ORDER BY dispute_id",
        {"since": since, "until": until},
    )


def active(client: Client, since: datetime, until: datetime) -> list[str]:
    """Chains with a link whose event the broker took in [since, until)."""
    return _column(
        client,
        "SELECT DISTINCT dispute_id FROM audit_entries FINAL "
        "WHERE at >= {since:DateTime64(3, 'UTC')} AND at < {until:DateTime64(3, 'UTC')} ORDER BY dispute_id",
        {"since": since, "until": until},
    )


def first_link(client: Client) -> datetime | None:
    """When the broker took the first event that has a link; None where there is no link."""
    [[links, first]] = client.query("SELECT count(), min(at) FROM audit_entries").result_rows
    return first if links else None


def batches(chains: Iterable[str], size: int = BATCH) -> Iterator[list[str]]:
    """The chains, some at a time."""
    batch: list[str] = []
    for chain in chains:
        batch.append(chain)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _column(client: Client, sql: str, parameters: dict[str, Any]) -> list[str]:
    return [str(row[0]) for row in client.query(sql, parameters).result_rows]


def _events(client: Client, where: str, parameters: dict[str, Any]) -> list[Stored]:
    """Events as bytes: ClickHouse's own, and the archive's where ClickHouse has let go of them."""
    events: list[Stored] = []
    elsewhere: dict[Place, tuple[str, date]] = {}
    for row in client.query(_EVENTS.format(where=where), parameters).result_rows:
        subject, topic, partition, offset, at, key, kept, erased, archived, value = row
        place = Place(topic, partition, offset)
        chain = operations_chain(subject) if topic == "operations" else subject
        if erased:
            events.append(Stored(place, key, chain, at, kept, None, erased=True))
            continue
        held = value.encode() if isinstance(value, str) else bytes(value)
        if not held and archived:
            when = at if at.tzinfo else at.replace(tzinfo=UTC)
            elsewhere[place] = (subject, when.astimezone(UTC).date())
        found = stored(place, key, at, held)
        # Bytes that are no event any more were altered: their hash will say so.
        found = found or Stored(place, key, chain, at, content_hash(held), held)
        events.append(replace(found, archived=bool(archived)))
    return filled(events, elsewhere)


def _link(row: Any) -> AuditEntry:
    names = ("dispute_id", "sequence", "at", "topic", "partition", "offset", "event_hash", "previous", "chain")  # fmt: skip
    return AuditEntry.model_construct(**dict(zip(names, row, strict=True)))
