"""Where a database differs from the tables and views that the migrations make: what somebody altered by hand."""

import re
from collections.abc import Iterable

from clickhouse_connect.driver.client import Client

from sinks.migrate import migrations

_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)\s*\((.*?)^\)", re.DOTALL | re.MULTILINE)
_COLUMN = re.compile(r"^    ([a-z]\w*) (.+?)(?: DEFAULT .+?)? COMMENT '", re.MULTILINE)
_ALTERED = re.compile(r"ALTER TABLE (\w+)\s")
_ADDED = re.compile(
    r"ADD COLUMN(?: IF NOT EXISTS)? (\w+) (.+?)(?: DEFAULT .+?)? COMMENT '", re.DOTALL
)
_VIEW = re.compile(r"CREATE OR REPLACE VIEW (\w+)")

Columns = dict[str, dict[str, str]]
"""Table → column → type as ClickHouse writes it."""


def expected(versions: Iterable[int]) -> tuple[Columns, set[str]]:
    """The tables with their columns, and the views, that these migrations make."""
    tables: Columns = {}
    views: set[str] = set()
    chosen = set(versions)
    for migration in migrations():
        if migration.version not in chosen:
            continue
        for statement in migration.up:
            for name, body in _TABLE.findall(statement):
                tables[name] = dict(_COLUMN.findall(body))
            if altered := _ALTERED.match(statement):
                tables[altered[1]].update(_ADDED.findall(statement))
            views |= set(_VIEW.findall(statement))
    return tables, views


def differences(client: Client, versions: Iterable[int]) -> list[str]:
    """What is missing, added or of another type, one sentence each; empty where nothing is."""
    tables, views = expected(versions)
    found: Columns = {}
    for table, column, kind in client.query(
        "SELECT table, name, type FROM system.columns WHERE database = currentDatabase()"
    ).result_rows:
        found.setdefault(table, {})[column] = kind
    said = [f"view {view} is missing" for view in sorted(views - found.keys())]
    for table, columns in sorted(tables.items()):
        there = found.get(table)
        if there is None:
            said.append(f"table {table} is missing")
            continue
        said += [f"{table}.{column} is missing" for column in columns if column not in there]
        said += [f"{table}.{column} was added" for column in there if column not in columns]
        said += [
            f"{table}.{column} is {there[column]}, not {kind}"
            for column, kind in columns.items()
            if column in there and there[column] != kind
        ]
    return said
