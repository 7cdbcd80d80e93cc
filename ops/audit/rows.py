"""Compares ClickHouse's tables with the bytes of the events they were made from, by the sink's own functions."""

import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from clickhouse_connect.driver.client import Client

from ops.audit.chains import UNDER_WAY, Fault
from ops.audit.stored import Place, Stored, View
from schemas.topics import OPERATIONS
from sinks.retention import TEXTS
from sinks.rows.projections import PROJECTIONS
from sinks.rows.row import Place as RowPlace

_BY_TOPIC = {projection.topic: projection for projection in PROJECTIONS}
_SUBJECT = {"operations": "subject"}
"""The column that says whose row it is, where it is not `dispute_id`."""
EMPTIED = frozenset((text.table, text.column) for text in TEXTS)
"""Texts that `archive run` empties, once the archive has their event."""

Key = tuple[Any, ...]
Rows = dict[str, dict[Key, tuple[dict[str, Any], Stored]]]


def check_rows(client: Client, view: View, chains: Iterable[str], now: datetime) -> Iterator[Fault]:
    """Rows that are missing, altered, or that no event explains. A chain with an erased event is passed over:
    what its rows should be can no longer be known.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    sound = [chain for chain in chains if not any(one.erased for one in view.events.get(chain, ()))]
    sorting = _sorting_keys(client)
    expected = _expected((one for chain in sound for one in view.events.get(chain, ())), sorting)
    operations = {chain for chain in sound if chain.startswith("operations:")}
    for table in sorted(_tables(sorting)):
        column = _SUBJECT.get(table, "dispute_id")
        owners = [
            chain.removeprefix("operations:")
            for chain in sound
            if (chain in operations) == (column == "subject")
        ]
        if owners:
            actual = _actual(client, table, column, owners, sorting[table])
            yield from _compare(table, column, expected.get(table, {}), actual, now)


def _tables(sorting: Mapping[str, tuple[str, ...]]) -> set[str]:
    """Tables made from the kept topics alone; `disputes_current` and `ledger_entries` are made by the ledger."""
    return {
        "disputes", "evidence_snapshots", "dockets", "grievances", "judge_rulings", "verdicts",
        "proposals", "decisions", "payments", "letters", "reviews", "operations",
    } & set(sorting)  # fmt: skip


def _sorting_keys(client: Client) -> dict[str, tuple[str, ...]]:
    answer = client.query(
        "SELECT name, sorting_key FROM system.tables "
        "WHERE database = currentDatabase() AND sorting_key != ''"
    )
    return {
        # A column behind a function only orders; the ids after it tell rows apart.
        name: tuple(
            p for p in (part.strip(" ()") for part in str(key).split(",")) if p.isidentifier()
        )
        for name, key in answer.result_rows
    }


def _expected(events: Iterable[Stored], sorting: Mapping[str, tuple[str, ...]]) -> Rows:
    """What each table should hold: of rows with one key the one with the highest offset, as it replaces; of an
    operation the first."""
    rows: Rows = {}
    for one in sorted(events, key=lambda one: one.place):
        event = one.event()
        if event is None or one.place.topic not in _BY_TOPIC:
            continue
        for row in _BY_TOPIC[one.place.topic].rows(event, RowPlace(*one.place)):
            key = tuple(_plain(row.values[column]) for column in sorting[row.table])
            table = rows.setdefault(row.table, {})
            if one.place.topic != OPERATIONS.name or key not in table:
                table[key] = (row.values, one)
    return rows


def _actual(
    client: Client, table: str, column: str, owners: list[str], key: tuple[str, ...]
) -> dict[Key, dict[str, Any]]:
    found = client.query(
        f"SELECT * FROM {table} FINAL WHERE {column} IN {{owners:Array(String)}}",
        {"owners": owners},
    )
    rows = [dict(zip(found.column_names, row, strict=True)) for row in found.result_rows]
    return {tuple(_plain(row[name]) for name in key): row for row in rows}


def _compare(
    table: str,
    column: str,
    expected: Mapping[Key, tuple[dict[str, Any], Stored]],
    actual: Mapping[Key, dict[str, Any]],
    now: datetime,
) -> Iterator[Fault]:
    for key, (values, one) in expected.items():
        row = actual.get(key)
        if row is None:
            if one.at < now - UNDER_WAY:
                yield Fault(one.chain, "row_missing", table, None, one.place)
            continue
        wrong = [
            name
            for name, value in values.items()
            if not (one.archived and not row[name] and (table, name) in EMPTIED)
            and not _same(value, row[name])
        ]
        if wrong:
            yield Fault(one.chain, "row_altered", table, None, one.place, ", ".join(wrong))
    for key in actual.keys() - expected.keys():
        row = actual[key]
        chain = f"operations:{row[column]}" if column == "subject" else str(row[column])
        place = Place(table, int(row["kafka_partition"]), int(row["kafka_offset"]))
        if row["at"] < now - UNDER_WAY:
            yield Fault(chain, "row_extra", table, None, place, "no event explains it")


def _same(expected: Any, actual: Any) -> bool:
    one, other = _plain(expected), _plain(actual)
    if isinstance(expected, datetime) and isinstance(actual, datetime):
        return abs(one - other) <= 1
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == other)


def _plain(value: Any) -> Any:
    """A value in the form in which both sides can be compared: moments in ms, sequences as tuples."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, datetime):
        aware = value if value.tzinfo else value.replace(tzinfo=UTC)
        return int(aware.timestamp() * 1000)
    if isinstance(value, list | tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return tuple(sorted((key, _plain(item)) for key, item in value.items()))
    return value
