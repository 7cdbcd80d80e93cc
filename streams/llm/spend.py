"""What one process has spent on one provider, and what it may still spend.

A small SQLite file, because the day's limit must outlive a restart. A call is written down at its
estimate before it is made and at its cost afterwards; one that never came back, because the process
died or the connection did, stays at its estimate. A killed process loses nothing of it; a machine that
loses power may lose the last moments (the log is synchronised at checkpoints, not at every call).
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Final, Literal

from streams.llm.port import Misconfigured

DAYS_KEPT: Final = 3
"""A dispute's calls are over within the hour, its letters within days."""
FOR_DISPUTES_IN_HAND: Final = 0.05
"""The share of the day's limit that new disputes leave for what is being judged and told."""

Scope = Literal["day", "dispute"]

_TABLES = """
CREATE TABLE IF NOT EXISTS days (day TEXT PRIMARY KEY, micros INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS accounts (
    account TEXT PRIMARY KEY, day TEXT NOT NULL, micros INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS under_way (
    call INTEGER PRIMARY KEY AUTOINCREMENT, day TEXT NOT NULL, account TEXT NOT NULL,
    micros INTEGER NOT NULL
);
"""


class SpendLimit(Exception):
    """No call was made, because it could have overrun the limit of `scope`."""

    def __init__(self, scope: Scope, limit_micros: int) -> None:
        super().__init__(
            f"the spend limit per {scope} of ${limit_micros / 1_000_000:.2f} is reached"
        )
        self.scope: Scope = scope


@dataclass(frozen=True)
class SpendLimits:
    """In millionths of a US dollar; None is no limit. The day is this process's share of it."""

    day_micros: int | None = None
    dispute_micros: int | None = None


class SpendBook:
    """One process's record. Days are UTC and are arguments; nothing here reads a clock.

    Raises:
        Misconfigured: the file cannot be used.
    """

    def __init__(self, file: Path | None, limits: SpendLimits) -> None:
        """Without a file nothing is kept; that is for tests and benchmarks."""
        self._limits = limits
        self._today: date | None = None
        try:
            if file is not None:
                file.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                file or ":memory:", isolation_level=None, timeout=5.0, check_same_thread=False
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_TABLES)
            self._take_over()
        except (OSError, sqlite3.Error) as error:
            raise Misconfigured(
                f"the record of what was spent cannot be used ({file}: {error}); make the folder "
                "REFUND_BENCH_STATE_DIR writable, or move the file away: today is then counted from nothing"
            ) from error

    def begin(
        self, account: str, share: float, micros: int, day: date, *, new_dispute: bool = False
    ) -> int:
        """Write down a call at its estimate, before it is made.

        Returns:
            The number to end it by.

        Raises:
            SpendLimit: it could overrun the day's limit, or the account its share of the dispute's.
            sqlite3.Error: it could not be written down, so it must not be made.
        """
        limits = self._limits
        with self._written():
            self._turn_to(day)
            if limits.dispute_micros is not None:
                may = int(limits.dispute_micros * share)
                if self._of_account(account) + micros > may:
                    raise SpendLimit("dispute", limits.dispute_micros)
            if limits.day_micros is not None:
                may = limits.day_micros
                if new_dispute:
                    may -= int(may * FOR_DISPUTES_IN_HAND)
                if self.spent_micros(day) + micros > may:
                    raise SpendLimit("day", limits.day_micros)
            begun = self._db.execute(
                "INSERT INTO under_way (day, account, micros) VALUES (?, ?, ?)",
                (day.isoformat(), account, micros),
            )
            return begun.lastrowid or 0

    def end(self, call: int, micros: int | None) -> None:
        """What the call cost; None where nobody knows, and its estimate stands.

        A call that a later process has already counted stays as that process counted it.

        Raises:
            sqlite3.Error: it could not be written down; it stays at its estimate.
        """
        with self._written():
            row = self._db.execute(
                "DELETE FROM under_way WHERE call = ? RETURNING day, account, micros", (call,)
            ).fetchone()
            if row is not None:
                day, account, estimated = row
                self._add(day, account, estimated if micros is None else micros)

    def spent_micros(self, day: date) -> int:
        """Spent on that day, calls under way at their estimate."""
        return self._sum("days", "day", day.isoformat()) + self._sum(
            "under_way", "day", day.isoformat()
        )

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def _of_account(self, account: str) -> int:
        return self._sum("accounts", "account", account) + self._sum(
            "under_way", "account", account
        )

    def _sum(self, table: str, column: str, value: str) -> int:
        row = self._db.execute(
            f"SELECT coalesce(sum(micros), 0) FROM {table} WHERE {column} = ?", (value,)
        ).fetchone()
        return int(row[0])

    def _add(self, day: str, account: str, micros: int) -> None:
        self._db.execute(
            "INSERT INTO days VALUES (?, ?) ON CONFLICT DO UPDATE SET micros = micros + excluded.micros",
            (day, micros),
        )
        self._db.execute(
            "INSERT INTO accounts VALUES (?, ?, ?) ON CONFLICT DO UPDATE "
            "SET micros = micros + excluded.micros, day = max(day, excluded.day)",
            (account, day, micros),
        )

    def _take_over(self) -> None:
        """Count what a process that ended left under way."""
        with self._written():
            left = self._db.execute("DELETE FROM under_way RETURNING day, account, micros")
            for day, account, micros in left.fetchall():
                self._add(day, account, micros)

    def _turn_to(self, day: date) -> None:
        """Forget, once a day, accounts that are long closed."""
        if day != self._today:
            self._today = day
            oldest = (day - timedelta(days=DAYS_KEPT)).isoformat()
            self._db.execute("DELETE FROM accounts WHERE day < ?", (oldest,))
            self._db.execute("DELETE FROM days WHERE day < ?", (oldest,))

    @contextmanager
    def _written(self) -> Iterator[None]:
        """Everything in it, or nothing. Begins as a writer, so that two processes take turns."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._db.execute("COMMIT")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            raise
