"""Asks ClickHouse a canned query: its parameters bound, nothing written, no work without an end.

Views say FINAL over all partitions. Merging each partition by itself (`do_not_merge_across_partitions_select_final`)
would be quicker and wrong: tables are partitioned by the month in which a stage made the event, and a stage that
makes an event again after a crash makes it at another time, so a key may stand in two months.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import Any

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import Error

from sinks.migrate import SchemaError
from sinks.question import BadQuestion, Clock, Question, about, names, question

__all__ = [
    "BadQuestion",
    "Clock",
    "Question",
    "about",
    "ask",
    "names",
    "parquet",
    "question",
    "run",
]

LONGEST_RUN_S = 60


def run(
    name: str,
    client: Client,
    since: datetime | None,
    until: datetime | None,
    time_zone: str = "UTC",
    clock: Clock = "filed",
) -> dict[str, Any]:
    """The answer as CONTRACT.md has it, to a question of any length.

    Raises:
        BadQuestion: as `question`.
        SchemaError: a table or view is not as this release made it.
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away or cannot answer.
    """
    return ask(question(name, since, until, time_zone, clock), client)


def ask(asked: Question, client: Client, most_rows: int | None = None) -> dict[str, Any]:
    """The answer, at most `most_rows` of its rows.

    Raises:
        SchemaError: a table or view is not as this release made it.
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away or cannot answer.
    """
    limit = f"LIMIT {int(most_rows) + 1}\n" if most_rows is not None else ""
    with _understood(asked.name):
        answer = client.query(
            asked.sql + limit + _settings(client), parameters=dict(asked.parameters)
        )
        columns = list(answer.column_names)
        if not columns:
            # Native has no header where there is no row.
            shape = client.query(f"DESCRIBE TABLE ({asked.sql})", parameters=dict(asked.parameters))
            columns = [row[0] for row in shape.result_rows]
    rows, notes = list(answer.result_rows), asked.notes
    if most_rows is not None and len(rows) > most_rows:
        rows = rows[:most_rows]
        notes += (f"the first {most_rows} rows; ask for a shorter period to see the others",)
    return {
        "name": asked.name,
        "since": asked.since.isoformat() if asked.since else None,
        "until": asked.until.isoformat() if asked.until else None,
        "time_zone": asked.parameters["time_zone"],
        "clock": asked.parameters["clock"],
        "columns": columns,
        "rows": [[_plain(value) for value in row] for row in rows],
        "notes": list(notes),
    }


def parquet(asked: Question, client: Client) -> bytes:
    """The answer as the engine writes it in Parquet.

    Raises:
        SchemaError: a table or view is not as this release made it.
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away or cannot answer.
    """
    with _understood(asked.name):
        return client.raw_query(
            asked.sql + _settings(client), parameters=dict(asked.parameters), fmt="Parquet"
        )


@contextmanager
def _understood(name: str) -> Iterator[None]:
    """A column or view that is not there is told as what it is: a schema that somebody changed."""
    try:
        yield
    except Error as problem:
        if problem.code not in _NOT_THE_SCHEMA:
            raise
        raise SchemaError(
            f"{name} cannot be answered: a table or view is missing or was altered by hand (code "
            f"{problem.code}); `refund-bench clickhouse status` says which"
        ) from problem


_NOT_THE_SCHEMA = frozenset({8, 10, 16, 47, 60, 81})
"""No such column, identifier, table or database."""


def _settings(client: Client) -> str:
    """Refuse writes and endless work for this statement; a user who may only read must not even say so."""
    now = client.server_settings.get("readonly")
    readonly = now.value if now is not None else "0"
    if readonly == "0":
        return f"SETTINGS readonly = 2, max_execution_time = {LONGEST_RUN_S}\n"
    return f"SETTINGS max_execution_time = {LONGEST_RUN_S}\n" if readonly == "2" else ""


def _plain(value: Any) -> Any:
    """A value JSON can hold: moments in ISO 8601, what was never measured as None."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
