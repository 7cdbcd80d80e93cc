"""Erases a customer, store by store; what was cut off is finished by doing it again."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from clickhouse_connect.driver.client import Client

from ops.archive.day import Manifest
from ops.archive.folder import Archive
from ops.archive.rewriting import erase_day
from ops.erasure.in_clickhouse import erase, note_erased
from ops.operations import act
from schemas.ledger import FINAL, LedgerEntry
from schemas.operation import Operation
from schemas.topics import TEXT_RETENTION_MS

DECIDED = FINAL - {"part_paid_in_review", "in_review"}
"""Nobody waits for anything any more, so the ledger's entry can go."""


@dataclass
class Erased:
    """What was erased, and what goes by itself."""

    disputes: list[str]
    rows: int = 0
    """Rows of ClickHouse that held words."""
    archived: int = 0
    """Events of the archive."""
    tombstoned: list[str] | None = None
    open: list[str] | None = None
    """Disputes not decided yet: their ledger entries stay, and what is still to come of them is stored without
    words."""
    kafka_until: datetime | None = None
    """When Kafka has let go of the last of their texts."""


def recorded(disputes: Collection[str], customer: str, by: str, reason: str, now: datetime) -> list[Operation]:  # fmt: skip
    """The acts to be recorded before anything is erased: one per dispute, which explains the gap in its chain,
    and one about the customer. `customer` is their HMAC."""
    made = [
        act("customer_erased", one, by, now, {"customer": customer}) for one in sorted(disputes)
    ]
    made.append(act("customer_erased", customer, by, now, {"disputes": str(len(disputes))}))
    return [one.model_copy(update={"reason_code": reason}) for one in made]


def erase_everywhere(
    client: Client,
    archive: Archive | None,
    disputes: Collection[str],
    entries: Mapping[str, LedgerEntry],
    now: datetime,
    on_written: Callable[[Manifest], None],
    tombstone: Callable[[Collection[str]], None],
) -> Erased:
    """Erase the words of these disputes from ClickHouse and the archive, and their entries from the ledger.

    Raises:
        ArchiveError: the archive cannot be read or written.
        StillThere, clickhouse_connect.driver.exceptions.Error: ClickHouse. Erase again.
    """
    found = Erased(sorted(disputes))
    if disputes:
        note_erased(client, disputes)
        days = days_of(client, disputes)
        found.rows = erase(client, disputes)
        if archive is not None:
            found.archived = sum(erase_day(archive, day, disputes, on_written) for day in days)
    decided = sorted(one for one, entry in entries.items() if entry.status in DECIDED)
    tombstone(decided)
    found.tombstoned = decided
    found.open = sorted(entries.keys() - set(decided))
    found.kafka_until = now + timedelta(milliseconds=TEXT_RETENTION_MS)
    return found


def days_of(client: Client, disputes: Collection[str]) -> list[date]:
    """The days on which events of these disputes were made.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    found = client.query(
        "SELECT DISTINCT toDate(at) AS day FROM events WHERE subject IN {ids:Array(String)} ORDER BY day",
        {"ids": list(disputes)},
    )
    return [row[0] for row in found.result_rows]
