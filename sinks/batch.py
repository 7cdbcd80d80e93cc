"""Rows gathered by table, each with the record it came from.

A checkpoint under load holds hundreds of thousands of values. As one dictionary a row they are that many
containers for Python's garbage collector to walk, again and again, which took as long as reading them;
a tuple of plain values it looks at once and lets be.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sinks.rows.row import Place, Row

Values = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """A record as read from Kafka."""

    place: Place
    key: bytes | None
    value: bytes


@dataclass(slots=True)
class TableRows:
    """Rows of one table in the order they came: each the values of `columns`."""

    columns: tuple[str, ...]
    rows: list[Values] = field(default_factory=list)

    def by_column(self, positions: Sequence[int]) -> list[Values]:
        """The rows at `positions`, a column at a time, as the client writes them."""
        whole = len(positions) == len(self.rows)
        return list(zip(*(self.rows if whole else [self.rows[p] for p in positions]), strict=True))


@dataclass(slots=True)
class Batch:
    """Everything that is written together: one insert per table."""

    tables: dict[str, TableRows] = field(default_factory=dict)
    owners: dict[str, list[Source]] = field(default_factory=dict)
    """Table → for each of its rows the record it came from."""
    records: int = 0
    bytes: int = 0
    """What the records weigh as read; their rows weigh a few times that."""
    newest_ms: int | None = None
    """Kafka's time of the youngest record."""

    def add(self, source: Source, rows: Iterable[Row], timestamp_ms: int = 0) -> None:
        for row in rows:
            table = self.tables.get(row.table)
            if table is None:
                table = self.tables[row.table] = TableRows(tuple(row.values))
                self.owners[row.table] = []
            table.rows.append(tuple(row.values.values()))
            self.owners[row.table].append(source)
        self.records += 1
        self.bytes += len(source.value)
        self.newest_ms = max(self.newest_ms or 0, timestamp_ms)
