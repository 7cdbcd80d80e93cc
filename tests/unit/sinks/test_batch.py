"""Rows gathered by table: none changes place with another, and each knows its record."""

from itertools import chain

from sinks.batch import Batch, Source
from sinks.rows.projections import projections
from sinks.rows.row import Place, Row
from tests.unit.sinks.sample_events import KEY, DisputeEvents

FIRST, SECOND = (Source(Place("topic", 0, offset), b"key", b"12345") for offset in (1, 2))


def test_rows_stand_in_the_order_they_came_and_each_knows_its_record() -> None:
    batch = Batch()
    batch.add(
        FIRST, [Row("a", {"x": 1, "y": "one"}), Row("b", {"z": 5}), Row("a", {"x": 2, "y": "two"})]
    )
    batch.add(SECOND, [Row("a", {"x": 3, "y": "three"})])
    assert (batch.records, batch.bytes) == (2, 10)
    assert batch.tables["a"].columns == ("x", "y")
    assert batch.tables["a"].by_column(range(3)) == [(1, 2, 3), ("one", "two", "three")]
    assert batch.tables["a"].by_column([0, 2]) == [(1, 3), ("one", "three")]
    assert batch.owners == {"a": [FIRST, FIRST, SECOND], "b": [FIRST]}


def test_every_row_of_a_table_names_the_same_columns_in_the_same_order() -> None:
    """A batch reads the names once per table."""
    named: dict[str, set[tuple[str, ...]]] = {}
    for dispute in (DisputeEvents(1), DisputeEvents(2)):
        made = dispute.with_complaint()
        for projection in projections(KEY):
            for event in made[projection.topic]:
                for row in projection.rows(event, Place(projection.topic, 0, 1)):
                    named.setdefault(row.table, set()).add(tuple(row.values))
    assert {table for table, orders in named.items() if len(orders) > 1} == set()
    assert len(list(chain.from_iterable(named.values()))) > 10
