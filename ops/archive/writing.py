"""Writes a day's events to the archive and marks them in ClickHouse, when each was read back."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from clickhouse_connect.driver.client import Client

from ops.archive.day import (
    COLUMNS,
    File,
    Manifest,
    named,
    read_back,
    read_manifest,
    sweep,
    write_manifest,
)
from ops.archive.folder import Archive, ArchiveError
from ops.audit.stored import Place

SETTLED = timedelta(minutes=10)
"""A row that ClickHouse took less long ago may have others beside it that are not visible yet."""
MOST_BYTES = 64 * 1024 * 1024
"""Of events in one file, before compression: about what is in memory at once, some times over."""
ROW_GROUP = 2_000
"""Rows read to find one dispute: some 3 MB."""
SYNC = "SETTINGS mutations_sync = 2, allow_nondeterministic_mutations = 1"
_WAITING = """
erased = 0 AND archived = 0 AND value != '' AND at >= {begin:DateTime64(3, 'UTC')}
AND at < {end:DateTime64(3, 'UTC')} AND ingested_at <= {cutoff:DateTime64(3, 'UTC')}
"""
_ROWS = f"""
SELECT {", ".join(COLUMNS)} FROM events FINAL
WHERE {_WAITING} AND cityHash64(subject) % {{files:UInt32}} = {{number:UInt32}}
ORDER BY subject, topic, kafka_partition, kafka_offset
"""

OnWritten = Callable[[Manifest], None]
"""Called when a day's manifest stands, before anything in ClickHouse is changed."""


@dataclass(frozen=True)
class Written:
    """What one day gave."""

    day: date
    rows: int
    files: int
    bytes: int
    manifest: str
    """Its hash."""


def waiting(client: Client, until: date) -> list[date]:
    """Days before `until` with events that the archive does not have.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    found = client.query(
        "SELECT DISTINCT toDate(at) AS day FROM events FINAL WHERE erased = 0 AND archived = 0 "
        "AND value != '' AND at < {until:DateTime64(3, 'UTC')} ORDER BY day",
        {"until": datetime.combine(until, time(), UTC)},
    )
    return [row[0] for row in found.result_rows]


def span(day: date) -> dict[str, Any]:
    """The parameters `begin` and `end` of a day."""
    begin = datetime.combine(day, time(), UTC)
    return {"begin": begin, "end": begin + timedelta(days=1)}


def server_time(client: Client) -> datetime:
    """ClickHouse's own clock, by which it stamps rows."""
    at: datetime = client.query("SELECT now64(3, 'UTC')").result_rows[0][0]
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def write_day(client: Client, archive: Archive, day: date, on_written: OnWritten) -> Written | None:
    """Archive what the day has and the archive has not; None where nothing is old enough in ClickHouse.

    Each file is read back from where it was written, each event's bytes against its hash, and all of them
    against what ClickHouse holds. Cut off anywhere, the next run does what is left.

    Raises:
        ArchiveError: something is not as it was written, or not as its hash says. ClickHouse is unchanged.
    """
    asked = {**span(day), "cutoff": server_time(client) - SETTLED}
    known = read_manifest(archive, day) or Manifest(day)
    sweep(archive, known)
    made = list(_files(client, archive, day, asked))
    if not made:
        return None
    manifest = Manifest(day, tuple({file.name: file for file in (*known.files, *made)}.values()))
    there: dict[Place, str] = {}
    for file in made:
        there |= read_back(archive, file)
    held = places(client, _WAITING, asked)
    lacking = [place for place, kept in held.items() if there.get(place) != kept]
    if lacking:
        raise ArchiveError(f"{len(lacking)} events of {day} are not in what was written, first {lacking[0]}; run it again")  # fmt: skip
    write_manifest(archive, manifest)
    on_written(manifest)
    client.command(
        f"ALTER TABLE events UPDATE archived = 1 IN PARTITION ID '{day:%Y%m}' WHERE {_WAITING} {SYNC}",
        asked,
    )
    return Written(day, len(held), len(made), sum(file.bytes for file in made), manifest.hash)


def places(client: Client, where: str, asked: dict[str, Any]) -> dict[Place, str]:
    """Place → hash of the events that ClickHouse shows under a condition."""
    found = client.query(
        f"SELECT topic, kafka_partition, kafka_offset, event_hash FROM events FINAL WHERE {where}",
        asked,
    )
    return {Place(*row[:3]): row[3] for row in found.result_rows}


def _files(client: Client, archive: Archive, day: date, asked: dict[str, Any]) -> Iterator[File]:
    size, rows = client.query(
        f"SELECT sum(length(value)), count() FROM events FINAL WHERE {_WAITING}", asked
    ).result_rows[0]
    files = 1 + int(size) // MOST_BYTES if rows else 0
    for number in range(files):
        parameters = {**asked, "files": files, "number": number}
        [[count]] = client.query(f"SELECT count() FROM ({_ROWS})", parameters).result_rows
        if not count:
            continue
        body = client.raw_query(
            _ROWS,
            parameters,
            fmt="Parquet",
            settings={
                "output_format_parquet_row_group_size": ROW_GROUP,
                "output_format_parquet_string_as_string": 1,
                "output_format_parquet_compression_method": "zstd",
            },
        )
        file = named(day, body, int(count))
        archive.write(file.name, body)
        yield file
