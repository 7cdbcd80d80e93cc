"""What the sink says about itself: how much it stored, how long ClickHouse took, how far it is behind."""

import logging
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)

EVERY_S = 30.0
"""A line for each flush would be one a second."""


class FlushLog:
    """Adds flushes up and logs them every 30 seconds, and at once when ClickHouse is back.

    The line's fields: `flushes`, `records`, `rows`, `bytes` (of records), `flush_p50_s`, `flush_max_s`,
    `behind_s` (age of the newest record stored, by Kafka's clock and ours), and `waits`, how often
    ClickHouse could not write.
    """

    def __init__(
        self,
        monotonic: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
        every_s: float = EVERY_S,
    ) -> None:
        self._monotonic, self._wall, self._every_s = monotonic, wall, every_s
        self._told_at: float | None = None
        self._away_since: float | None = None
        self._took: list[float] = []
        self._newest_ms: int | None = None
        self._clear()

    def flushed(
        self, records: int, rows: int, size: int, took_s: float, newest_ms: int | None
    ) -> None:
        """One flush that ClickHouse took; `newest_ms` is Kafka's time of its last record."""
        self._records += records
        self._rows += rows
        self._bytes += size
        self._took.append(took_s)
        self._newest_ms = newest_ms if newest_ms is not None else self._newest_ms
        now = self._monotonic()
        if self._away_since is not None:
            away_s, self._away_since = now - self._away_since, None
            logger.info("ClickHouse writes again", extra={"away_s": round(away_s, 1)})
            self._tell(now)
        elif self._told_at is None or now - self._told_at >= self._every_s:
            self._tell(now)

    def waits(self) -> None:
        """One flush that ClickHouse did not take."""
        self._waits += 1
        if self._away_since is None:
            self._away_since = self._monotonic()

    def _tell(self, now: float) -> None:
        took = sorted(self._took)
        behind = None if self._newest_ms is None else self._wall() - self._newest_ms / 1000
        logger.info(
            "stored %d rows of %d records", self._rows, self._records,
            extra={
                "flushes": len(took), "records": self._records, "rows": self._rows, "bytes": self._bytes,
                "flush_p50_s": round(took[len(took) // 2], 3), "flush_max_s": round(took[-1], 3),
                "behind_s": None if behind is None else round(max(0.0, behind), 1),
                "waits": self._waits,
            },
        )  # fmt: skip
        self._told_at = now
        self._clear()

    def _clear(self) -> None:
        self._records = self._rows = self._bytes = self._waits = 0
        self._took = []
        self._newest_ms = None
