"""Whether the archive still is what was written, and is what was recorded in the chain."""

from dataclasses import dataclass, field
from datetime import date, timedelta

from clickhouse_connect.driver.client import Client

from ops.archive.day import days, read_back, read_manifest
from ops.archive.folder import Archive, ArchiveError

SUBJECT = "archive"
"""What `archive_written` operations are done to."""


@dataclass
class Kept:
    """What the archive holds."""

    days: int = 0
    events: int = 0
    bytes: int = 0
    faults: list[str] = field(default_factory=list)


def recorded(client: Client) -> dict[date, str]:
    """Day → hash of the manifest that was last recorded as written.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    found = client.query(
        "SELECT details['day'], argMax(details['manifest'], (at, kafka_offset)) FROM operations FINAL "
        "WHERE subject = {subject:String} AND action = 'archive_written' GROUP BY 1",
        {"subject": SUBJECT},
    )
    return {date.fromisoformat(row[0]): row[1] for row in found.result_rows}


def check(archive: Archive, said: dict[date, str], today: date, keep: int) -> Kept:
    """Read every file back; compare each manifest with what was recorded of its day.

    Raises:
        ArchiveError: the archive cannot be listed.
    """
    kept = Kept()
    there = days(archive)
    for day in there:
        try:
            manifest = read_manifest(archive, day)
            if manifest is None:
                continue
            for file in manifest.files:
                kept.events += len(read_back(archive, file))
                kept.bytes += file.bytes
        except ArchiveError as error:
            kept.faults.append(str(error))
            continue
        kept.days += 1
        if day in said and said[day] != manifest.hash:
            kept.faults.append(f"the manifest of {day} is {manifest.hash}; recorded was {said[day]}")  # fmt: skip
    oldest = today - timedelta(days=keep)
    kept.faults += [
        f"{day} was archived and is not there" for day in sorted(said.keys() - set(there)) if day >= oldest
    ]  # fmt: skip
    return kept
