"""Writes rows: one insert per table, again later when ClickHouse is away, and names the rows it refuses.

Every table replaces by a deterministic id, so an insert that is repeated, by us on a dropped connection or
by a replay, changes nothing that a view shows.
"""

import logging
import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from threading import Lock
from typing import NamedTuple

from clickhouse_connect.datatypes.base import ClickHouseType
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import Error, OperationalError, ProgrammingError

from sinks.batch import TableRows
from sinks.halving import NotTheRows, store
from sinks.migrate import SchemaBehind
from sinks.refusal import RETRIABLE, describe, was_cut

logger = logging.getLogger(__name__)

INSERT_SETTINGS = {
    "async_insert": 0,
    "insert_deduplicate": 0,
    # A complaint says when it was filed; one insert may reach into any number of months.
    "max_partitions_per_insert_block": 0,
}
TABLES_AT_ONCE = 3
"""Inserts under way together: while the server works on one table we write the next down."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 30.0


class ClickHouseAway(Exception):
    """Nothing can be written now; the same rows may come again after `retry_after` seconds."""

    def __init__(self, reason: str, retry_after: float) -> None:
        super().__init__(f"{reason}; next try in {retry_after:.1f} s")
        self.retry_after = retry_after


class Refused(NamedTuple):
    """A row that ClickHouse will never take: its position in its table's rows, and why."""

    table: str
    position: int
    reason: str


Tables = Mapping[str, TableRows]
Screen = Callable[[Client, Tables], Tables]


def unchanged(client: Client, tables: Tables) -> Tables:
    """Every row may be stored as it is."""
    return tables


class Writer:
    """Owns the connection. Safe to call from two threads; the second waits.

    `connect` opens a connection; `prepare` is called on each new one, to run or check the migrations. `screen`
    gives the rows as they may be stored, one for one.
    """

    def __init__(
        self,
        connect: Callable[[], Client],
        prepare: Callable[[Client], object] = lambda _: None,
        screen: Screen = unchanged,
    ) -> None:
        self._connect = connect
        self._prepare = prepare
        self._screen = screen
        self._client: Client | None = None
        self._types: dict[str, Sequence[ClickHouseType]] = {}
        self._failures = 0
        self._lock = Lock()
        self._pool = ThreadPoolExecutor(TABLES_AT_ONCE, "clickhouse")

    def write(self, tables: Tables) -> list[Refused]:
        """Write the rows, one insert per table; what comes back was refused, the rest is stored.

        Raises:
            ClickHouseAway: some rows may be stored and some not; write all of them again later.
            SchemaError: the schema is newer than this release.
        """
        if not tables:
            return []
        with self._lock:
            try:
                client = self._client or self._open()
                tables = self._screen(client, tables)
                # The longest first, so that none is waited for alone at the end.
                under_way = [
                    self._pool.submit(self._store, client, table, rows)
                    for table, rows in sorted(tables.items(), key=lambda t: -len(t[1].rows))
                ]
                wait(under_way)
                refused = sorted(one for stored in under_way for one in stored.result())
            except NotTheRows as failure:
                raise self._away(failure.problem) from failure
            except (Error, OSError, SchemaBehind) as problem:
                raise self._away(problem) from problem
            self._failures = 0
            return refused

    def open(self) -> None:
        """Connect now and not at the first row.

        Raises:
            ClickHouseAway: nobody answers, or the schema is behind.
            SchemaError: the schema is newer than this release.
        """
        with self._lock:
            try:
                if self._client is None:
                    self._open()
            except (Error, OSError, SchemaBehind) as problem:
                raise self._away(problem) from problem

    def close(self) -> None:
        with self._lock:
            self._drop()
            self._pool.shutdown()

    def _open(self) -> Client:
        client = self._connect()
        try:
            self._prepare(client)
        except BaseException:
            client.close()
            raise
        self._client = client
        return client

    def _drop(self) -> None:
        client, self._client = self._client, None
        self._types.clear()
        if client is not None:
            client.close()

    def _away(self, problem: Exception) -> ClickHouseAway:
        self._drop()
        pause = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0**self._failures)
        self._failures = min(self._failures + 1, 16)
        away = ClickHouseAway(_reason(problem), pause * random.uniform(0.5, 1.0))
        code = getattr(problem, "code", None)
        passing = isinstance(problem, (OSError, OperationalError)) or code in RETRIABLE
        level = logging.WARNING if passing else logging.ERROR
        logger.log(level, "ClickHouse cannot write: %s", away)
        return away

    def _store(self, client: Client, table: str, rows: TableRows) -> list[Refused]:
        insert = partial(self._insert, client, table, rows)
        return [
            Refused(table, position, describe(problem))
            for position, problem in store(insert, range(len(rows.rows))).items()
        ]

    def _insert(
        self, client: Client, table: str, rows: TableRows, positions: Sequence[int]
    ) -> Exception | None:
        """Once more at once where the connection was cut: else a flush of many tables, each of which may be
        cut, would seldom come through. The client repeats only what reads."""
        problem = self._insert_once(client, table, rows, positions)
        if problem is not None and was_cut(problem):
            problem = self._insert_once(client, table, rows, positions)
        return problem

    def _insert_once(
        self, client: Client, table: str, rows: TableRows, positions: Sequence[int]
    ) -> Exception | None:
        context = client.create_insert_context(
            table,
            list(rows.columns),
            column_types=self._types.get(table),
            column_oriented=True,
            settings=INSERT_SETTINGS,
        )
        self._types[table] = context.column_types
        try:
            client.insert(context=context, data=rows.by_column(positions))
        except Exception as problem:
            # What the client could not serialise is the cause, whatever became of the request.
            return context.insert_exception or problem
        return None


def _reason(problem: Exception) -> str:
    if isinstance(problem, SchemaBehind):
        return str(problem)
    by_hand = isinstance(problem, Error) and (problem.code in _ALTERED or _knows_no_column(problem))
    hint = (
        "; a table is missing or was altered by hand, `refund-bench clickhouse status` says which"
    )
    return describe(problem) + (hint if by_hand else "")


_ALTERED = frozenset({8, 10, 16, 47, 60, 81})
"""No such column, identifier, table or database."""


def _knows_no_column(problem: Error) -> bool:
    """The client compares our columns with the table's before it sends anything."""
    return isinstance(problem, ProgrammingError) and "column" in str(problem)
