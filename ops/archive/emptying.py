"""Empties texts in ClickHouse that are past their days, and nothing that was not read back from the archive just now."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

from clickhouse_connect.driver.client import Client

from ops.archive.day import read_back, read_manifest
from ops.archive.folder import Archive, ArchiveError
from ops.archive.writing import SYNC, places, span
from ops.audit.stored import Place
from sinks.retention import TEXTS, Retention, Text

_DAY = "at >= {begin:DateTime64(3, 'UTC')} AND at < {end:DateTime64(3, 'UTC')}"


def due(client: Client, retention: Retention, today: date) -> list[date]:
    """Days with a text that is past its days and still there.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    found: set[date] = set()
    for topic, kept in retention.events.items():
        found |= _days(client, f"events FINAL WHERE topic = '{topic}' AND erased = 0 AND value != ''", today, kept)  # fmt: skip
    for text in TEXTS:
        found |= _days(client, f"{text.table} WHERE notEmpty({text.column})", today, retention.texts[text.name])  # fmt: skip
    return sorted(found)


def empty_day(client: Client, archive: Archive, day: date, retention: Retention, today: date) -> int:  # fmt: skip
    """Empty what is due of one day; the number of events and rows that were.

    Raises:
        ArchiveError: the archive lacks the day, or something of it. Nothing of the day is emptied.
    """
    manifest = read_manifest(archive, day)
    if manifest is None:
        raise ArchiveError(f"{day} is past its days and not in the archive {archive.url}")
    there: dict[Place, str] = {}
    for file in manifest.files:
        there |= read_back(archive, file)
    age = (today - day).days
    topics = sorted({one for one, kept in retention.events.items() if age > kept})
    texts = [text for text in TEXTS if age > retention.texts[text.name]]
    asked = {**span(day), "topics": sorted({*topics, *(text.topic for text in texts)})}
    held = places(client, f"{_DAY} AND topic IN {{topics:Array(String)}} AND erased = 0", asked)
    lacking = [place for place, kept in held.items() if there.get(place) != kept]
    if lacking:
        client.command(
            f"ALTER TABLE events UPDATE archived = 0 IN PARTITION ID '{day:%Y%m}' "
            f"WHERE {_DAY} AND erased = 0 AND value != '' {SYNC}",
            span(day),
        )
        raise ArchiveError(f"{len(lacking)} events of {day} are not in the archive, first {lacking[0]}; run it again, which archives them")  # fmt: skip
    return sum(_empty_text(client, text, day) for text in texts) + _empty_events(
        client, topics, day
    )


def _empty_events(client: Client, topics: Iterable[str], day: date) -> int:
    asked = {**span(day), "topics": list(topics)}
    where = f"{_DAY} AND topic IN {{topics:Array(String)}} AND erased = 0 AND archived = 1 AND value != ''"  # fmt: skip
    [[rows]] = client.query(f"SELECT count() FROM events WHERE {where}", asked).result_rows
    if rows:
        client.command(f"ALTER TABLE events UPDATE value = '' IN PARTITION ID '{day:%Y%m}' WHERE {where} {SYNC}", asked)  # fmt: skip
    return int(rows)


def _empty_text(client: Client, text: Text, day: date) -> int:
    """A row's text goes where the row's own event is marked: the two are not inserted together."""
    asked = {**span(day), "topic": text.topic}
    where = (
        f"{_DAY} AND notEmpty({text.column}) AND (kafka_partition, kafka_offset) IN (SELECT kafka_partition, "
        f"kafka_offset FROM events WHERE topic = {{topic:String}} AND {_DAY} AND (archived = 1 OR erased = 1))"
    )
    [[rows]] = client.query(f"SELECT count() FROM {text.table} WHERE {where}", asked).result_rows
    if rows:
        blank = "[]" if text.column == "rejected_because" else "''"
        client.command(f"ALTER TABLE {text.table} UPDATE {text.column} = {blank} IN PARTITION ID '{day:%Y%m}' WHERE {where} {SYNC}", asked)  # fmt: skip
    return int(rows)


def _days(client: Client, source: str, today: date, kept: int) -> set[date]:
    """Days whose texts have been there for longer than `kept` days."""
    until = datetime.combine(today - timedelta(days=kept), time(), UTC)
    found = client.query(
        f"SELECT DISTINCT toDate(at) FROM {source} AND at < {{until:DateTime64(3, 'UTC')}}",
        {"until": until},
    )
    return {row[0] for row in found.result_rows}
