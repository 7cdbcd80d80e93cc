"""The heads of the chains, written out day by day to a folder that the operator of ClickHouse cannot change.

A chain can be made anew from altered events, every link right; its head is then another. Each file lists
the chains that grew on its day, with a total over all of them and over the file before it.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import orjson

from schemas.base import canonical_bytes

FORMAT = "refund-bench audit heads 1"
Heads = dict[str, tuple[int, str]]
"""Chain → number and hash of its newest link."""


class HeadsError(ValueError):
    """A heads file that cannot be used, or must not be written; says why."""


@dataclass(frozen=True)
class HeadsFile:
    """One day's heads."""

    day: date
    until: datetime
    """The broker's time up to which links count; the day's end, or earlier where it was not over."""
    previous: str | None
    """Total of the file before."""
    heads: Heads

    @property
    def total(self) -> str:
        """The hash over all heads of the file, and so over every file before it."""
        body = [self.previous, self.day.isoformat(), self.until.isoformat(), self._lines()]
        return "sha256:" + hashlib.sha256(canonical_bytes(body)).hexdigest()

    def _lines(self) -> list[list[Any]]:
        return [[chain, *head] for chain, head in sorted(self.heads.items())]

    def to_bytes(self) -> bytes:
        return orjson.dumps(
            {
                "format": FORMAT,
                "day": self.day.isoformat(),
                "until": self.until.isoformat(),
                "previous": self.previous,
                "chains": len(self.heads),
                "total": self.total,
                "heads": self._lines(),
            },
            option=orjson.OPT_INDENT_2,
        )


def read_heads(file: Path) -> HeadsFile:
    """A heads file, its total checked.

    Raises:
        HeadsError: it is not one, or was changed after it was written.
    """
    try:
        body = orjson.loads(file.read_bytes())
        found = HeadsFile(
            date.fromisoformat(body["day"]),
            datetime.fromisoformat(body["until"]),
            body["previous"],
            {chain: (int(sequence), str(head)) for chain, sequence, head in body["heads"]},
        )
        said = body["total"]
    except OSError as error:
        raise HeadsError(f"{file}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise HeadsError(f"{file}: is not a heads file ({type(error).__name__})") from None
    if found.total != said:
        raise HeadsError(f"{file}: was changed after it was written; its total is {found.total}")
    return found


def heads_of(links: Iterable[tuple[str, int, str]]) -> Heads:
    """The newest link of each chain."""
    heads: Heads = {}
    for chain, sequence, link in links:
        if sequence > heads.get(chain, (0, ""))[0]:
            heads[chain] = (sequence, link)
    return heads


def window(day: date, now: datetime) -> tuple[datetime, datetime]:
    """The day in UTC; ends now where it is not over.

    Raises:
        HeadsError: the day has not begun.
    """
    begin = datetime.combine(day, time(), UTC)
    if begin > now:
        raise HeadsError(f"--day {day}: has not begun; leave it out for yesterday")
    return begin, min(begin + timedelta(days=1), now)


def read_links(begin: datetime, end: datetime) -> Iterable[tuple[str, int, str]]:
    """The links that Kafka took in [begin, end).

    Raises:
        KafkaException: the broker is away.
    """
    from ops.bounded_read import every_partition, spans, stream
    from schemas.ledger import AuditEntry
    from schemas.topics import AUDIT

    for one in stream(spans(every_partition(AUDIT), begin)):
        if one.value is not None and one.at < end:
            entry = AuditEntry.from_bytes(one.value)
            yield entry.dispute_id, entry.sequence, entry.chain


def write_heads(folder: Path, day: date, until: datetime, heads: Heads, full: bool) -> Path:
    """Write the day's file beside those before it; never over one.

    Raises:
        HeadsError: the day has a file already, with other heads.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = f"heads-{day.isoformat()}" + ("" if full else f"T{until:%H%M%S}Z") + ".json"
    file = folder / name
    before = [one for one in sorted(folder.glob("heads-*.json")) if one.name < name and "T" not in one.name]  # fmt: skip
    previous = read_heads(before[-1]).total if before else None
    found = HeadsFile(day, until, previous, heads)
    if file.exists():
        if read_heads(file).total != found.total:
            raise HeadsError(f"{file}: exists with other heads; keep it and look into why")
        return file
    with open(file, "xb") as out:
        out.write(found.to_bytes())
    return file
