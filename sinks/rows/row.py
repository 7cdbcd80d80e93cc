"""What a row function takes and gives, and the columns most tables share."""

from datetime import UTC, datetime
from typing import NamedTuple

from schemas.base import DisputeEvent, Event
from schemas.docket import Usage

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2299, 12, 31, tzinfo=UTC)
"""What a DateTime64 can hold; a moment a customer made up beyond it is cut to it."""


class Place(NamedTuple):
    """Where in Kafka a record stands. The offset is the version by which a replayed row replaces itself."""

    topic: str
    partition: int
    offset: int


class Row(NamedTuple):
    """One row: the table and its values by column name."""

    table: str
    values: dict[str, object]


def moment(at: datetime) -> datetime:
    # Comparing moments with a zone is slow, and there are three in a row.
    if EARLIEST.year <= at.year < LATEST.year:
        return at
    return min(max(at, EARLIEST), LATEST)


def maybe_moment(at: datetime | None) -> datetime | None:
    return None if at is None else moment(at)


def origin(event: Event, place: Place) -> dict[str, object]:
    """When the event was made and where it stands: the columns every table has."""
    return {
        "at": moment(event.at),
        "kafka_partition": place.partition,
        "kafka_offset": place.offset,
    }


def about(event: DisputeEvent, place: Place) -> dict[str, object]:
    """The columns every table about a dispute has."""
    return {
        "dispute_id": event.dispute_id,
        "order_id": event.order_id,
        "customer_id": event.customer_id,
        "settles_under": event.settles_under,
        "policy": event.pack.policy,
        "pack_version": event.pack.pack_version,
        "pack_hash": event.pack.pack_hash,
        "simulated": event.simulated,
        **origin(event, place),
    }


def spent(usage: Usage) -> dict[str, object]:
    """What the calls behind an event took."""
    return {
        "calls": usage.calls,
        "re_asks": usage.re_asks,
        "tool_turns": usage.tool_turns,
        "retries": usage.retries,
        "input_tokens": usage.input_tokens,
        "cache_read_tokens": usage.cache_read_tokens,
        "cache_write_tokens": usage.cache_write_tokens,
        "output_tokens": usage.output_tokens,
        "cost_micros": usage.cost_micros,
        "latency_ms": usage.latency_ms,
    }
