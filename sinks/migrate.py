"""Numbered migrations, forward and back, recorded in `schema_migrations` and checked at start.

Every statement of a migration can be run again, so one that was cut off half-way is simply repeated.
"""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from clickhouse_connect.driver.client import Client

FOLDER = Path(__file__).parent / "migrations"
_NAME = re.compile(r"(\d{4})_(\w+)\.sql")
_RECORD = """
CREATE TABLE IF NOT EXISTS schema_migrations
(
    version UInt32 COMMENT 'Number of the migration',
    name String COMMENT 'Its name',
    hash String COMMENT 'Hash of its forward part as it was run',
    applied Bool COMMENT 'False once it was taken back',
    changed_at DateTime64(6, 'UTC') DEFAULT now64(6) COMMENT 'When'
)
ENGINE = ReplacingMergeTree(changed_at)
ORDER BY version
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per migration that was ever run'
"""


class SchemaError(Exception):
    """The schema of the database is not the one this release works with; says what to do."""


class SchemaBehind(SchemaError):
    """Migrations are missing; running them is enough."""


@dataclass(frozen=True)
class Migration:
    version: int
    name: str
    up: tuple[str, ...]
    down: tuple[str, ...]

    @property
    def hash(self) -> str:
        return hashlib.sha256("\n".join(self.up).encode()).hexdigest()


@dataclass(frozen=True)
class State:
    """A migration and whether the database has it."""

    version: int
    name: str
    applied: bool
    changed_at: datetime | None
    altered: bool
    """True where the file is no longer what was run."""
    known: bool
    """False where the database has a migration that this release does not know."""


def _statements(part: str) -> tuple[str, ...]:
    lines = (line for line in part.splitlines() if not line.lstrip().startswith("--"))
    return tuple(
        statement.strip()
        for statement in re.split(r";\s*(?:\n|$)", "\n".join(lines))
        if statement.strip()
    )


def read(path: Path) -> Migration:
    """A migration from its file.

    Raises:
        ValueError: a name without a number, or a file without its two parts.
    """
    named = _NAME.fullmatch(path.name)
    if named is None:
        raise ValueError(f"{path.name} is not named 0001_like_this.sql")
    parts = re.split(r"^-- (?:up|down)\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    if len(parts) != 3:
        raise ValueError(f"{path.name} needs one part '-- up' and one part '-- down'")
    return Migration(int(named[1]), named[2], _statements(parts[1]), _statements(parts[2]))


@cache
def migrations() -> tuple[Migration, ...]:
    """Every migration of this release, in order.

    Raises:
        ValueError: a number that is missing or taken twice.
    """
    found = tuple(read(path) for path in sorted(FOLDER.glob("*.sql")))
    if [one.version for one in found] != list(range(1, len(found) + 1)):
        raise ValueError(f"the numbers in {FOLDER} must run from 0001 without a gap")
    return found


def status(client: Client) -> list[State]:
    """Every migration that this release or the database knows, in order. Changes nothing."""
    recorded: dict[int, tuple[str, str, bool, datetime]] = {}
    if client.command("EXISTS TABLE schema_migrations"):
        answer = client.query(
            "SELECT version, name, hash, applied, changed_at FROM schema_migrations FINAL"
        )
        recorded = {
            int(row[0]): (row[1], row[2], bool(row[3]), row[4]) for row in answer.result_rows
        }
    known = {one.version: one for one in migrations()}
    states = []
    for version in sorted(known.keys() | recorded.keys()):
        mine, (name, ran, applied, at) = (
            known.get(version),
            recorded.get(version, ("", "", False, None)),
        )
        altered = mine is not None and applied and ran != mine.hash
        states.append(
            State(version, mine.name if mine else name, applied, at, altered, mine is not None)
        )
    return states


def check(client: Client) -> None:
    """Return only when the database has exactly this release's schema.

    Raises:
        SchemaBehind: a migration of this release has not been run.
        SchemaError: the database is ahead of this release, or a migration was altered after it ran.
    """
    missing = [state.version for state in _sound(client) if not state.applied]
    if missing:
        raise SchemaBehind(
            f"migrations {missing} have not been run; run `refund-bench clickhouse migrate`"
        )


def migrate(client: Client, to: int | None = None) -> list[int]:
    """Bring the schema to version `to`, by default this release's newest; the versions run, in order.

    A lower `to` takes migrations back, and a table's data with it.

    Raises:
        SchemaError: the database is ahead of this release, or a migration was altered after it ran.
    """
    client.command(_RECORD)
    applied = {state.version for state in _sound(client) if state.applied}
    goal = len(migrations()) if to is None else to
    back = [one for one in reversed(migrations()) if one.version > goal and one.version in applied]
    forward = [one for one in migrations() if one.version <= goal and one.version not in applied]
    for one in back:
        _run(client, one, one.down, applied=False)
    for one in forward:
        _run(client, one, one.up, applied=True)
    return [one.version for one in (*back, *forward)]


def _sound(client: Client) -> list[State]:
    states = status(client)
    ahead = [state.version for state in states if state.applied and not state.known]
    if ahead:
        raise SchemaError(
            f"the database has migrations {ahead}, which are newer than this release (it knows "
            f"{len(migrations())}); install the release that made them, or migrate back with it"
        )
    altered = [f"{state.version:04d}_{state.name}" for state in states if state.altered]
    if altered:
        raise SchemaError(
            f"{', '.join(altered)} changed after being run; restore the file and add a new migration"
        )
    return [state for state in states if state.known]


def _run(client: Client, one: Migration, statements: tuple[str, ...], *, applied: bool) -> None:
    for statement in statements:
        client.command(statement)
    client.insert(
        "schema_migrations",
        [[one.version, one.name, one.hash, applied]],
        column_names=["version", "name", "hash", "applied"],
        settings={"async_insert": 0, "insert_deduplicate": 0},
    )
