"""Rows of disputes whose words were erased, without the words: what the sink reads late, or again, brings nothing back."""

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from schemas.topics import ALL
from sinks.rows.row import Row

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

    def screen(self, client: Client, rows: Sequence[Row]) -> Sequence[Row]:
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
        return without_words(rows, self._known)


def without_words(rows: Sequence[Row], erased: Collection[str]) -> Sequence[Row]:
    """The rows as they may be stored, in their order."""
    return [_blank(row, erased) for row in rows] if erased else rows


def _blank(row: Row, erased: Collection[str]) -> Row:
    values = row.values
    if row.table == "events":
        if values["subject"] in erased and values["topic"] in TEXT_TOPICS:
            return Row(row.table, {**values, "erased": 1, "value": ""})
        return row
    blank = BLANK.get(row.table)
    if blank is None or values.get("dispute_id") not in erased:
        return row
    return Row(row.table, {**values, **blank})
