"""How long ClickHouse keeps what: rows until they expire, texts until the archive alone has them.

Rows expire by a table TTL, at the end of what anybody may ask. Texts have no TTL: ClickHouse would let one
expire whether the archive has it or not. `archive run` empties them, when it has read them back.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client

YEARS_7, YEAR, RAW_REPLIES = 7 * 365, 365, 90
"""Days. Seven years for money, decisions, reviews and the trail, as the topics without text are kept."""
VARIABLE = "REFUND_BENCH_RETENTION"
LONGEST = 36_500

EVENTS = {
    "rulings": RAW_REPLIES,
    "dockets": RAW_REPLIES,
    "disputes": YEAR,
    "grievances": YEAR,
    "verdicts": YEAR,
    "letter-requests": YEAR,
    "letters": YEAR,
}
"""Topic → days for which `events` holds its bytes. The other topics are held as long as their rows."""


@dataclass(frozen=True)
class Text:
    """A column that holds words, or a record of somebody's order; made from an event of `topic`."""

    table: str
    column: str
    topic: str
    days: int

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"


TEXTS = (
    Text("judge_rulings", "raw_reply", "rulings", RAW_REPLIES),
    Text("judge_rulings", "reason", "rulings", YEAR),
    Text("dockets", "raw_reply", "dockets", RAW_REPLIES),
    Text("dockets", "problem", "dockets", YEAR),
    Text("disputes", "text", "disputes", YEAR),
    Text("evidence_snapshots", "body", "disputes", YEAR),
    Text("grievances", "text", "grievances", YEAR),
    Text("letters", "body", "letters", YEAR),
    Text("letters", "rejected_because", "letters", YEAR),
)
"""What `archive run` empties. A review's note stays as long as the review."""

TABLES = {
    "complaints": "ingested_at",  # its `at` is the customer's to make up
    **dict.fromkeys(
        (
            "disputes", "evidence_snapshots", "dockets", "grievances", "judge_rulings", "verdicts",
            "proposals", "decisions", "payments", "letters", "reviews", "ledger_entries",
            "disputes_current", "audit_entries", "dead_letters", "operations", "events",
        ),
        "at",
    ),
}  # fmt: skip
"""Table → the column from which its rows' days count."""


class RetentionError(ValueError):
    """The retention file cannot be used; names the setting."""


@dataclass(frozen=True)
class Retention:
    """Days, by table, by `table.column`, and by topic."""

    rows: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(TABLES, YEARS_7))
    texts: Mapping[str, int] = field(default_factory=lambda: {one.name: one.days for one in TEXTS})
    events: Mapping[str, int] = field(default_factory=lambda: dict(EVENTS))
    archive: int = YEARS_7
    """For which the archive keeps a day."""


def retention_from(environment: Mapping[str, str] = os.environ) -> Retention:
    """The retention in the TOML file that REFUND_BENCH_RETENTION names; DESIGN.md's without one.

    Raises:
        RetentionError: the file, or a setting in it, cannot be used.
    """
    path = environment.get(VARIABLE, "")
    if not path:
        return Retention()
    try:
        return parse(Path(path).read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise RetentionError(
            f"{VARIABLE}={path}: cannot be read ({type(error).__name__})"
        ) from None
    except RetentionError as error:
        raise RetentionError(f"{VARIABLE}={path}: {error}") from None


def parse(text: str) -> Retention:
    """A retention file's settings; what it does not name is as by default.

    Raises:
        RetentionError: no TOML, a name nobody knows, no number of days, or days that contradict each other.
    """
    try:
        given = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RetentionError(f"is not TOML: {error}") from None
    usual = Retention()
    known: dict[str, Mapping[str, int]] = {
        "rows": usual.rows, "texts": usual.texts, "events": usual.events, "archive": {},
    }  # fmt: skip
    for name in given.keys() - known.keys():
        raise RetentionError(f"{name} is not known; there are {', '.join(known)}")
    chosen = {
        name: {**known[name], **_days(name, given.get(name, {}), known[name])}
        for name in ("rows", "texts", "events")
    }
    archive = _number("archive", given.get("archive", usual.archive))
    made = Retention(chosen["rows"], chosen["texts"], chosen["events"], archive)
    _check(made)
    return made


def _days(section: str, given: Any, known: Mapping[str, int]) -> dict[str, int]:
    if not isinstance(given, dict):
        raise RetentionError(f"{section} is not a table; write [{section}]")
    found = dict(_flat(given))
    for name in found.keys() - known.keys():
        raise RetentionError(f"{section}.{name} is not known; there are {', '.join(known)}")
    return {name: _number(f"{section}.{name}", value) for name, value in found.items()}


def _flat(given: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """`judge_rulings.raw_reply = 90` is a table in a table to TOML."""
    for name, value in given.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield before + name, value


def _number(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LONGEST:
        raise RetentionError(f"{name} is not a number of days from 1 to {LONGEST}")
    return value


def _check(made: Retention) -> None:
    longest = made.rows["events"]
    if made.archive < longest:
        raise RetentionError(f"archive: {made.archive} days are less than the {longest} of rows.events, whose texts it has")  # fmt: skip
    for name, days in made.texts.items():
        table = name.split(".")[0]
        # Its event's row says in which day of the archive the text is.
        if days > made.rows[table] or longest < made.rows[table]:
            raise RetentionError(f"rows.{table}: must be at least texts.{name} and at most rows.events")  # fmt: skip


def wanted(retention: Retention) -> dict[str, str]:
    """Table → the statement that gives its rows their days."""
    return {
        table: f"ALTER TABLE {table} MODIFY TTL toDateTime({clock}) + INTERVAL {retention.rows[table]} DAY"
        for table, clock in TABLES.items()
    }


def row_days(client: Client) -> dict[str, int | None]:
    """Table → the days its rows have in the database; None where they never expire.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    found = client.query(
        "SELECT name, create_table_query FROM system.tables "
        "WHERE database = currentDatabase() AND name IN {names:Array(String)}",
        {"names": list(TABLES)},
    )
    days: dict[str, int | None] = {}
    for name, made in found.result_rows:
        said = re.search(r"TTL toDateTime\(\w+\) \+ toIntervalDay\((\d+)\)", made)
        days[name] = int(said[1]) if said else None
    return days


def apply(client: Client, retention: Retention) -> list[str]:
    """Give each table's rows their days where they have others; the tables changed.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away, or refuses.
    """
    there = row_days(client)
    changed = [table for table in TABLES if there.get(table) != retention.rows[table]]
    statements = wanted(retention)
    for table in changed:
        client.command(statements[table])
    return changed
