"""Rows of disputes whose words were erased, without the words: what the sink reads late, or again, brings nothing back."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from schemas.topics import ALL
from sinks.batch import TableRows, Values

BLANK: Mapping[str, Mapping[str, Any]] = {
    "disputes": {"text": "", "evidence_problems": []},
    "evidence_snapshots": {"body": ""},
    "dockets": {"raw_reply": "", "problem": ""},
    "grievances": {"text": ""},
    "judge_rulings": {"reason": "", "raw_reply": ""},
    "letters": {"body": "", "rejected_because": []},
    "reviews": {"note": ""},
}
"""Table → the columns with words or evidence, and what stands there afterwards."""
TEXT_TOPICS = frozenset(topic.name for topic in ALL if topic.text)
"""Topics whose bytes are erased from `events`. The rest holds amounts and codes."""
OVERLAP = timedelta(minutes=1)
"""How far back the list is read again: a row of it may be seen a little after its time."""


class ErasedWords:
    """Knows the erased disputes of one database; asks for new ones at each flush."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._seen = datetime(1970, 1, 2, tzinfo=UTC)

    def screen(self, client: Client, tables: Mapping[str, TableRows]) -> Mapping[str, TableRows]:
        """The rows, those of erased disputes without words.

        Raises:
            clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
        """
        found = client.query(
            "SELECT dispute_id, noted_at FROM erased_disputes WHERE noted_at >= {since:DateTime64(3, 'UTC')}",
            {"since": self._seen - OVERLAP},
        )
        for dispute, at in found.result_rows:
            self._known.add(dispute)
            self._seen = max(self._seen, at if at.tzinfo else at.replace(tzinfo=UTC))
        return without_words(tables, self._known)


def without_words(
    tables: Mapping[str, TableRows], erased: Collection[str]
) -> Mapping[str, TableRows]:
    """The rows as they may be stored, in their order."""
    if not erased:
        return tables
    return {table: _blank(table, rows, erased) for table, rows in tables.items()}


def _blank(table: str, rows: TableRows, erased: Collection[str]) -> TableRows:
    blank = {"erased": 1, "value": ""} if table == "events" else BLANK.get(table)
    if blank is None:
        return rows
    of = rows.columns.index("subject" if table == "events" else "dispute_id")
    topic = rows.columns.index("topic") if table == "events" else None

    def with_words(row: Values) -> bool:
        return row[of] in erased and (topic is None or row[topic] in TEXT_TOPICS)

    def blanked(row: Values) -> Values:
        return tuple(blank.get(name, value) for name, value in zip(rows.columns, row, strict=True))

    return TableRows(rows.columns, [blanked(row) if with_words(row) else row for row in rows.rows])
