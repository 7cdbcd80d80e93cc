"""The sink app: every topic that ClickHouse keeps, read as bytes, made into rows, stored by one sink."""

import logging
from collections.abc import Callable
from functools import partial
from typing import Any

from clickhouse_connect.driver.client import Client
from pydantic import ValidationError
from quixstreams import Application, message_context

from sinks import migrate
from sinks.batch import Source
from sinks.clickhouse_sink import (
    ClickHouseSink,
    OnRefused,
    Record,
    RefusedRecord,
    stop_at_refused,
)
from sinks.connection import Address, address_from, connect
from sinks.erased import ErasedWords
from sinks.rows import events
from sinks.rows.projections import Projection, projections
from sinks.rows.row import Place
from sinks.writer import Writer

logger = logging.getLogger(__name__)

COMMIT_EVERY, COMMIT_INTERVAL_S = 40_000, 3.0
"""A flush costs an insert per table, whatever is in it: few and large ones. An analyst sees an event at most
these seconds after it was read; what a flush holds in memory is bounded by `clickhouse_sink.MOST_BUFFERED_BYTES`."""


def build(
    app: Application,
    installation_key: bytes,
    on_refused: OnRefused = stop_at_refused,
    address: Address | None = None,
    *,
    apply_migrations: bool = True,
) -> ClickHouseSink:
    """Give `app` a dataframe per topic, all of which end in one sink.

    `installation_key` makes the ids of disputes, for the complaints that repeat one. `on_refused` makes dead letters of records ClickHouse will never take; by default the app stops at
    them. `address` comes from the environment by default. With `apply_migrations` off the sink needs
    no right to change the schema: it waits until somebody has.
    """
    where = address or address_from()
    prepare: Callable[[Client], object] = migrate.migrate if apply_migrations else migrate.check
    writer = Writer(partial(connect, where), prepare, ErasedWords().screen)
    sink = ClickHouseSink(writer, on_refused)
    sources = projections(installation_key)
    for projection in sources:
        topic = app.topic(projection.topic, key_deserializer="bytes", value_deserializer="bytes")
        frame = app.dataframe(topic).apply(partial(_record, projection, on_refused), metadata=True)
        frame.filter(_is_record).sink(sink)
    logger.info("storing %d topics in ClickHouse at %s", len(sources), where)
    return sink


def read(
    projection: Projection[Any],
    place: Place,
    key: bytes | None,
    value: bytes | None,
    on_refused: OnRefused = stop_at_refused,
) -> Record | None:
    """The record with its rows; None for a tombstone, and for bytes that are not the topic's event.

    Those are dead letters already: the app that reads the topic to decide something made them. An event
    of which no row can be made may be good enough for that app: it is refused like a row.
    """
    if value is None:
        return None
    try:
        event = projection.event.from_bytes(value)
    except ValueError as problem:
        logger.warning(
            "skipped a record that is not a %s: %s",
            projection.event.__name__,
            _without_values(problem),
            extra={"topic": place.topic, "partition": place.partition, "offset": place.offset},
        )
        return None
    try:
        rows = [*projection.rows(event, place), *events.rows(event, place, key, value)]
        return Record(Source(place, key, value), rows)
    except Exception as problem:
        # Its own text may quote the record.
        reason = f"no row can be made of it: {type(problem).__name__}"
        on_refused([RefusedRecord(place, key, value, "no table", reason)])
        return None


def _record(
    projection: Projection[Any],
    on_refused: OnRefused,
    value: bytes | None,
    key: bytes | None,
    _timestamp: int,
    _headers: Any,
) -> Record | None:
    context = message_context()
    place = Place(projection.topic, context.partition, context.offset)
    return read(projection, place, key, value, on_refused)


def _is_record(value: Record | None) -> bool:
    return value is not None


def _without_values(problem: ValueError) -> str:
    """The error without the input it may quote, which can be a customer's words."""
    if isinstance(problem, ValidationError):
        return "; ".join(
            f"{'.'.join(str(part) for part in error['loc'])}: {error['type']}"
            for error in problem.errors(
                include_url=False, include_context=False, include_input=False
            )
        )
    return type(problem).__name__
