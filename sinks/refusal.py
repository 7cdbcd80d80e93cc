"""What an error of ClickHouse means for the rows: come again later, or these rows never."""

from clickhouse_connect.driver.exceptions import (
    DataError,
    Error,
    OperationalError,
    ProgrammingError,
)

RETRIABLE = frozenset({159, 202, 209, 210, 241, 242, 252, 319, 999})
"""Timeouts, too many queries, network, memory, read-only replica, too many parts, unknown insert, Keeper."""

ABOUT_THE_ROW = frozenset({6, 27, 38, 41, 69, 70, 72, 117, 128, 131, 190, 349, 407, 469, 691})
"""Values that cannot be parsed, converted or stored, and violated constraints."""


def is_about_a_row(problem: Exception) -> bool:
    """True where trying the same row again can only fail again."""
    if isinstance(problem, Error) and problem.code is not None:
        return problem.code in ABOUT_THE_ROW
    # Without a code it is the client that could not write the value down.
    return isinstance(problem, (DataError, TypeError, ValueError, OverflowError, AttributeError))


def may_be_about_a_row(problem: Exception) -> bool:
    """False where it is surely the server, the network, the table or our rights."""
    if is_about_a_row(problem):
        return True
    if not isinstance(problem, Error) or isinstance(problem, (OperationalError, ProgrammingError)):
        return False
    return problem.code is not None and problem.code not in RETRIABLE | _ABOUT_THE_TABLE


_ABOUT_THE_TABLE = frozenset({10, 16, 20, 36, 47, 60, 62, 81, 164, 192, 193, 194, 243, 497, 516})
"""No such column, table or database; not enough rights; no space; a statement that cannot be read."""


def was_cut(problem: Exception) -> bool:
    """True where a connection that stood was lost: the server is there, and may have done what it was asked."""
    root = _root(problem)
    return isinstance(root, ConnectionError) and not isinstance(root, ConnectionRefusedError)


def describe(problem: Exception) -> str:
    """The error without the values it may quote, which can be a customer's words."""
    if isinstance(problem, Error) and problem.code is not None:
        return f"code {problem.code} {problem.name or ''}".rstrip()
    if isinstance(problem, OperationalError):
        return f"{problem} ({type(_root(problem)).__name__})"
    if isinstance(problem, (DataError, ProgrammingError)):
        return f"{type(problem).__name__}: {problem}"
    return type(problem).__name__


def _root(problem: BaseException) -> BaseException:
    """What it came from: the refused connection under the client's own error."""
    while below := problem.__cause__ or problem.__context__:
        problem = below
    return problem
