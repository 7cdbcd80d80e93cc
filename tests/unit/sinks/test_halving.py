"""Finding the refused rows: the others are stored once, and an outage is never blamed on a row."""

from collections.abc import Sequence

import pytest
from clickhouse_connect.driver.exceptions import DatabaseError, DataError, OperationalError
from hypothesis import given
from hypothesis import strategies as st

from sinks.halving import MOST_REFUSED, NotTheRows, store
from sinks.refusal import RETRIABLE, describe

CONSTRAINT = DatabaseError("violated, said the customer", code=469, name="VIOLATED_CONSTRAINT")


class Table:
    """Takes rows all or none, and refuses a batch that holds a bad one."""

    def __init__(self, bad: set[int], problem: Exception = CONSTRAINT) -> None:
        self.bad, self.problem = bad, problem
        self.stored: list[int] = []

    def insert(self, positions: Sequence[int]) -> Exception | None:
        assert positions
        if self.bad.intersection(positions):
            return self.problem
        self.stored.extend(positions)
        return None


@given(st.integers(1, 300), st.sets(st.integers(0, 299), max_size=20))
def test_each_row_is_stored_or_refused_and_never_both(rows: int, bad: set[int]) -> None:
    bad = {position for position in bad if position < rows}
    table = Table(bad)
    assert set(store(table.insert, range(rows))) == bad
    assert sorted(table.stored) == [position for position in range(rows) if position not in bad]


@pytest.mark.parametrize(
    "problem",
    [
        *(DatabaseError("away", code=code) for code in sorted(RETRIABLE)),
        OperationalError("Error executing HTTP request"),
        DatabaseError("no code: a proxy"),
        DatabaseError("no table", code=60),
        DatabaseError("no column", code=16),
        DatabaseError("no right", code=497),
    ],
    ids=str,
)
def test_what_is_surely_no_rows_fault_stops_at_the_first_insert(problem: Exception) -> None:
    table = Table({3}, problem)
    with pytest.raises(NotTheRows) as failure:
        store(table.insert, range(8))
    assert failure.value.problem is problem
    assert table.stored == []


def test_an_unknown_code_for_every_row_is_the_tables_fault() -> None:
    unknown = DatabaseError("never seen", code=9_999)
    with pytest.raises(NotTheRows):
        store(Table(set(range(4)), unknown).insert, range(4))
    assert set(store(Table({2}, unknown).insert, range(4))) == {2}


def test_too_many_refused_rows_are_not_the_rows() -> None:
    everything = set(range(MOST_REFUSED * 2))
    with pytest.raises(NotTheRows):
        store(Table(everything).insert, sorted(everything))


def test_an_error_is_described_without_the_values_it_quotes() -> None:
    assert describe(CONSTRAINT) == "code 469 VIOLATED_CONSTRAINT"
    assert describe(ValueError("invalid literal: 'my words'")) == "ValueError"
    gone = OperationalError("Error executing HTTP request")
    gone.__cause__ = ConnectionRefusedError(111)
    assert describe(gone) == "Error executing HTTP request (ConnectionRefusedError)"
    assert "latency_ms" in describe(DataError("Unable to create native array for `latency_ms`"))
