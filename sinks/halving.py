"""Finds the rows that ClickHouse refuses in a batch, by halving it; the others are stored on the way."""

from collections.abc import Callable, Sequence

from sinks.refusal import is_about_a_row, may_be_about_a_row

MOST_REFUSED = 100
"""When more rows than this are refused in one batch, it is not the rows."""


class NotTheRows(Exception):
    """The insert failed for a reason that no single row is to blame for; the cause is attached."""

    def __init__(self, problem: Exception) -> None:
        super().__init__(str(problem))
        self.problem = problem


def store(
    insert: Callable[[Sequence[int]], Exception | None], positions: Sequence[int]
) -> dict[int, Exception]:
    """Insert the rows at `positions`; what was refused, each with the reason.

    `insert` stores the rows at the given positions or returns why it could not.

    Raises:
        NotTheRows: the server, the network, the table or our rights; some rows may be stored.
    """
    refused: dict[int, Exception] = {}
    batches = [list(positions)]
    while batches:
        batch = batches.pop()
        problem = insert(batch)
        if problem is None:
            continue
        if not may_be_about_a_row(problem):
            raise NotTheRows(problem)
        if len(batch) > 1:
            middle = len(batch) // 2
            batches += [batch[:middle], batch[middle:]]
            continue
        refused[batch[0]] = problem
        if len(refused) > MOST_REFUSED:
            raise NotTheRows(problem)
    unsure = [problem for problem in refused.values() if not is_about_a_row(problem)]
    if unsure and len(refused) == len(positions):
        # Not one row was taken, and the error does not say that it is about a row.
        raise NotTheRows(unsure[0])
    return refused
