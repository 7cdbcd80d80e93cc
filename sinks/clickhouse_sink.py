"""The Quix sink: collects rows over all topics and partitions, writes one insert per table and batch.

A checkpoint is one batch. Only when there is much to catch up with is it more: a full batch is then written
while the next is read, so that neither this process nor ClickHouse waits for the other.

At least once: Kafka's offsets are committed after `flush`, and what is read again replaces itself.
"""

import logging
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from quixstreams.sinks import BaseSink, SinkBackpressureError

from sinks.batch import Batch, Source
from sinks.flush_log import FlushLog
from sinks.rows.row import Place, Row
from sinks.writer import ClickHouseAway, Refused, Writer

logger = logging.getLogger(__name__)

MOST_BUFFERED_BYTES = 64 * 1024 * 1024
FULL_BATCH = 20_000
"""Records. ClickHouse takes a row of a smaller insert at a higher price: of 2,500 records at three times that of
20,000. The pipeline itself makes a few hundred a second at its peak."""


@dataclass(frozen=True, slots=True)
class Record:
    """A record as read, with the rows it leaves."""

    source: Source
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


@dataclass(frozen=True, slots=True)
class _UnderWay:
    """A batch that is being written in the background."""

    batch: Batch
    stored: Future[tuple[list[Refused], float]]
    """What was refused, and how many seconds it took."""


class ClickHouseSink(BaseSink):
    """Holds two batches at most, together about `most_bytes` of records: one being read, one being written."""

    def __init__(
        self,
        writer: Writer,
        on_refused: OnRefused,
        most_bytes: int = MOST_BUFFERED_BYTES,
        full_batch: int = FULL_BATCH,
    ) -> None:
        super().__init__()
        self._writer = writer
        self._on_refused = on_refused
        self._most_bytes_a_batch = most_bytes // 2
        self._full_batch = full_batch
        self._batch = Batch()
        self._under_way: _UnderWay | None = None
        self._away: ClickHouseAway | None = None
        self._background = ThreadPoolExecutor(1, "clickhouse-batch")
        self._log = FlushLog()

    def __repr__(self) -> str:
        return "ClickHouse"

    @property
    def buffered_bytes(self) -> int:
        under_way = self._under_way
        return self._batch.bytes + (under_way.batch.bytes if under_way else 0)

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
        batch = self._batch
        batch.add(value.source, value.rows, timestamp)
        if batch.records >= self._full_batch or batch.bytes >= self._most_bytes_a_batch:
            try:
                self._finish()
            except ClickHouseAway as away:
                self._batch, self._away = Batch(), away
                return
            self._begin()

    def flush(self) -> None:
        """Store everything of this checkpoint.

        Raises:
            SinkBackpressureError: ClickHouse is away; Quix pauses, goes back and comes again.
        """
        away, self._away = self._away, None
        if away is None:
            try:
                self._finish()
                self._begin()
                self._finish()
            except ClickHouseAway as now_away:
                away = now_away
        if away is not None:
            self._batch = Batch()
            self._log.waits()
            raise SinkBackpressureError(retry_after=away.retry_after) from away

    def on_paused(self) -> None:
        # What is being written may end or not: it is read again, and replaces itself.
        self._batch, self._under_way, self._away = Batch(), None, None

    def _begin(self) -> None:
        # Taken before it is written: on a revoke Quix flushes in a thread that it may leave behind.
        batch, self._batch = self._batch, Batch()
        if not batch.tables:
            return
        stored = self._background.submit(self._store, batch)
        self._under_way = _UnderWay(batch, stored)

    def _store(self, batch: Batch) -> tuple[list[Refused], float]:
        started = time.monotonic()
        return self._writer.write(batch.tables), time.monotonic() - started

    def _finish(self) -> None:
        """Wait for the batch that is being written, and keep what was refused of it.

        Raises:
            ClickHouseAway: it must be written again.
        """
        under_way, self._under_way = self._under_way, None
        if under_way is None:
            return
        batch = under_way.batch
        refused, took_s = under_way.stored.result()
        if refused:
            logger.error("ClickHouse refused %d rows; they become dead letters", len(refused))
            self._on_refused([_owner(batch, one) for one in refused])
        stored = sum(len(table.rows) for table in batch.tables.values()) - len(refused)
        self._log.flushed(batch.records, stored, batch.bytes, took_s, batch.newest_ms)


def _owner(batch: Batch, refused: Refused) -> RefusedRecord:
    source = batch.owners[refused.table][refused.position]
    return RefusedRecord(source.place, source.key, source.value, refused.table, refused.reason)
