"""Rows as the writer takes them."""

from collections.abc import Iterable

from sinks.batch import Batch, Source, TableRows
from sinks.rows.row import Place, Row


def by_table(rows: Iterable[Row]) -> dict[str, TableRows]:
    batch = Batch()
    batch.add(Source(Place("nowhere", 0, 0), None, b""), rows)
    return batch.tables
