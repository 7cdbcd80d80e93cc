"""Finds one dispute and its trail, in Kafka while it keeps them, else in ClickHouse."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from clickhouse_connect.driver.exceptions import Error

from ops.audit import clickhouse_view, kafka_view
from ops.audit.refold import entry_of
from ops.audit.stored import View
from ops.commands.reply import note
from ops.trail import Trail, find, trail_of
from schemas.ids import operations_chain
from schemas.topics import DISPUTES
from sinks.connection import address_from, connect

SOURCES = ("kafka", "clickhouse")


@dataclass(frozen=True)
class Case:
    """One dispute as a store tells it."""

    dispute_id: str
    source: str
    view: View
    trail: Trail
    others: list[str]
    """Other disputes on the order, newest first."""


def find_case(identifier: str, source: str = "") -> Case | None:
    """The dispute of that id, or the newest of that order; None where the store knows neither.

    `source` names the store; without one it is Kafka, and ClickHouse where Kafka has no words of it any more.

    Raises:
        KafkaException, clickhouse_connect.driver.exceptions.Error: the store is away.
    """
    if source == "clickhouse":
        return _in_clickhouse(identifier)
    case = _in_kafka(identifier)
    if source == "kafka" or (case is not None and _has_words(case)):
        return case
    try:
        return _in_clickhouse(identifier) or case
    except (Error, OSError):
        note("ClickHouse, which may know more, does not answer")
        return case


def _has_words(case: Case) -> bool:
    """Kafka still has the texts, or never had them: a dispute in the intake has no event yet."""
    recent = datetime.now(UTC) - timedelta(days=1)
    return bool(case.trail.of(DISPUTES)) or case.trail.entry.filed_at > recent


def _in_kafka(identifier: str) -> Case | None:
    entries = find(identifier)
    if not entries:
        return None
    entry = entries[0]
    view = kafka_view.view_of([entry])
    others = [other.dispute_id for other in entries[1:]]
    return Case(entry.dispute_id, "kafka", view, trail_of(view, entry), others)


def _in_clickhouse(identifier: str) -> Case | None:
    client = connect(address_from())
    try:
        disputes = clickhouse_view.disputes_of(client, identifier)
        if not disputes:
            return None
        mine = disputes[0]
        view = clickhouse_view.view_of(client, [mine, operations_chain(mine)])
    finally:
        client.close()
    entry = entry_of(view, mine)
    if entry is None:
        return None
    return Case(mine, "clickhouse", view, trail_of(view, entry), disputes[1:])
