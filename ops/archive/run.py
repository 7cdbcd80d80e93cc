"""One run of the archive: write the days that lack, empty what is past its days, let the oldest days go."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta

from clickhouse_connect.driver.client import Client

from ops.archive.day import MANIFEST, Manifest, days, read_manifest
from ops.archive.emptying import due, empty_day
from ops.archive.folder import Archive, ArchiveError
from ops.archive.writing import Written, waiting, write_day
from sinks.retention import Retention


@dataclass
class Ran:
    """What a run did, and what it could not do."""

    written: list[Written] = field(default_factory=list)
    emptied: dict[date, int] = field(default_factory=dict)
    """Day → events and rows whose texts ClickHouse let go of."""
    expired: list[date] = field(default_factory=list)
    """Days older than the archive keeps, and deleted there."""
    behind: list[date] = field(default_factory=list)
    """Days that still hold what is past its days: the archive lacks them."""
    faults: list[str] = field(default_factory=list)


def run(
    client: Client,
    archive: Archive,
    retention: Retention,
    until: date,
    today: date,
    on_written: Callable[[Manifest], None],
) -> Ran:
    """Archive every day before `until`; empty and expire by `today`. A day that cannot be archived, or read
    back, is a fault, keeps all it has in ClickHouse, and does not hold up the others.

    Raises:
        ArchiveError: another run is under way, or the archive cannot be listed.
        clickhouse_connect.driver.exceptions.Error: ClickHouse went away; run it again.
    """
    ran = Ran()
    for day in waiting(client, until):
        try:
            if (written := write_day(client, archive, day, on_written)) is not None:
                ran.written.append(written)
        except ArchiveError as error:
            ran.faults.append(str(error))
    for day in due(client, retention, today):
        try:
            ran.emptied[day] = empty_day(client, archive, day, retention, today)
        except ArchiveError as error:
            ran.faults.append(str(error))
    ran.behind = due(client, retention, today)
    last = today - timedelta(days=retention.archive)
    for day in (one for one in days(archive) if one < last):
        _expire(archive, day)
        ran.expired.append(day)
    return ran


def _expire(archive: Archive, day: date) -> None:
    """The manifest last: cut off before it, the next run deletes the rest."""
    manifest = read_manifest(archive, day)
    for file in manifest.files if manifest else ():
        archive.delete(file.name)
    archive.delete(f"{day.isoformat()}/{MANIFEST}")
