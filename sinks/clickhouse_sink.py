"""The Quix sink: collects rows over all topics and partitions, writes one insert per table at a checkpoint.

At least once: Kafka's offsets are committed after `flush`, and what is read again replaces itself.
"""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from quixstreams.sinks import BaseSink, SinkBackpressureError

from sinks.flush_log import FlushLog
from sinks.rows.row import Place, Row
from sinks.writer import ClickHouseAway, Writer

logger = logging.getLogger(__name__)

MOST_BUFFERED_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Record:
    """A record as read, with the rows it leaves."""

    place: Place
    key: bytes | None
    value: bytes
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class RefusedRecord:
    """A record of which ClickHouse will never take a row."""

    place: Place
    key: bytes | None
    value: bytes
    table: str
    reason: str
    """Without the values of the row."""


class RowsRefused(Exception):
    """ClickHouse refused rows and nobody keeps them. Stopping loses nothing; going on would."""


def stop_at_refused(records: Sequence[RefusedRecord]) -> None:
    """What happens to refused records where no dead-letter box is given: the sink goes no further.

    Raises:
        RowsRefused: always; names the first record.
    """
    one = records[0]
    raise RowsRefused(
        f"ClickHouse refused {len(records)} rows, first that of {one.place.topic}-{one.place.partition} "
        f"at offset {one.place.offset} for {one.table}: {one.reason}; give the sink a dead-letter box"
    )


OnRefused = Callable[[Sequence[RefusedRecord]], None]
"""Keeps refused records, as dead letters. Returns when they are safe; raises where it cannot."""


@dataclass(slots=True)
class _Batch:
    rows: list[Row] = field(default_factory=list)
    owners: list[Record] = field(default_factory=list)
    """For each row the record it came from."""
    records: int = 0
    bytes: int = 0
    newest_ms: int | None = None
    """Kafka's time of the youngest record."""

    def add(self, record: Record, timestamp_ms: int) -> None:
        self.rows.extend(record.rows)
        self.owners.extend([record] * len(record.rows))
        self.records += 1
        self.bytes += len(record.value)
        self.newest_ms = max(self.newest_ms or 0, timestamp_ms)


class ClickHouseSink(BaseSink):
    """Never holds more than about 64 MB of records: a fuller batch is written before its checkpoint."""

    def __init__(
        self, writer: Writer, on_refused: OnRefused, most_bytes: int = MOST_BUFFERED_BYTES
    ) -> None:
        super().__init__()
        self._writer = writer
        self._on_refused = on_refused
        self._most_bytes = most_bytes
        self._batch = _Batch()
        self._away: ClickHouseAway | None = None
        self._log = FlushLog()

    def __repr__(self) -> str:
        return "ClickHouse"

    @property
    def buffered_bytes(self) -> int:
        return self._batch.bytes

    def setup(self) -> None:
        """Connect, so that a start says at once what is wrong. A ClickHouse that is away at the start is
        waited for like one that goes away later; records wait in Kafka.

        Raises:
            SchemaError: the schema is newer than this release.
        """
        try:
            self._writer.open()
        except ClickHouseAway:
            logger.warning("records wait in Kafka until ClickHouse can write")

    def add(
        self,
        value: Any,
        key: Any,
        timestamp: int,
        headers: Any,
        topic: str,
        partition: int,
        offset: int,
    ) -> None:
        if self._away is not None:
            # This checkpoint will be read again from its start.
            return
        self._batch.add(value, timestamp)
        if self._batch.bytes >= self._most_bytes:
            try:
                self._write()
            except ClickHouseAway as away:
                self._away = away

    def flush(self) -> None:
        """Store everything of this checkpoint.

        Raises:
            SinkBackpressureError: ClickHouse is away; Quix pauses, goes back and comes again.
        """
        away, self._away = self._away, None
        if away is None:
            try:
                self._write()
            except ClickHouseAway as now_away:
                away = now_away
        if away is not None:
            self._batch = _Batch()
            self._log.waits()
            raise SinkBackpressureError(retry_after=away.retry_after) from away

    def on_paused(self) -> None:
        self._batch = _Batch()
        self._away = None

    def _write(self) -> None:
        # Taken before it is written: on a revoke Quix flushes in a thread that it may leave behind.
        batch, self._batch = self._batch, _Batch()
        if not batch.rows:
            return
        started = time.monotonic()
        refused = self._writer.write(batch.rows)
        if refused:
            owners = [(batch.owners[one.position], one) for one in refused]
            logger.error("ClickHouse refused %d rows; they become dead letters", len(refused))
            self._on_refused(
                [
                    RefusedRecord(owner.place, owner.key, owner.value, one.table, one.reason)
                    for owner, one in owners
                ]
            )
        self._log.flushed(
            batch.records, len(batch.rows) - len(refused), batch.bytes, time.monotonic() - started, batch.newest_ms,
        )  # fmt: skip
