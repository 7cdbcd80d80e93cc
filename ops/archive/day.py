"""One day of the archive: Parquet files named by their hash, and the manifest that lists them."""

import io
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

import orjson
import pyarrow.parquet as parquet  # type: ignore[import-untyped]

from ops.archive.folder import Archive, ArchiveError
from ops.audit.stored import Place
from schemas.ids import content_hash

FORMAT = "refund-bench archive 1"
MANIFEST = "manifest.json"
COLUMNS = ("subject", "topic", "kafka_partition", "kafka_offset", "at", "key", "event_hash", "erased", "value")  # fmt: skip


class ArchivedRow(NamedTuple):
    """One event as the archive holds it; `value` is empty where it was erased."""

    subject: str
    place: Place
    at: datetime
    key: str
    hash: str
    erased: bool
    value: str


@dataclass(frozen=True)
class File:
    name: str
    sha256: str
    bytes: int
    rows: int
    erased: int = 0
    """Rows of which only the hash is left."""


@dataclass(frozen=True)
class Manifest:
    """The files of one day, a day by the events' own time in UTC."""

    day: date
    files: tuple[File, ...] = ()

    def to_bytes(self) -> bytes:
        body = {
            "format": FORMAT,
            "day": self.day.isoformat(),
            "rows": sum(file.rows for file in self.files),
            "files": [vars(file) for file in sorted(self.files, key=lambda file: file.name)],
        }
        return orjson.dumps(body, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)

    @property
    def hash(self) -> str:
        return content_hash(self.to_bytes())


def named(day: date, body: bytes, rows: int, erased: int = 0) -> File:
    """A file under the name its bytes give it: the same rows archived again are the same file."""
    digest = content_hash(body)
    return File(f"{day.isoformat()}/{digest[7:23]}.parquet", digest, len(body), rows, erased)


def read_manifest(archive: Archive, day: date) -> Manifest | None:
    """A day's manifest; None where the day is not archived.

    Raises:
        ArchiveError: it cannot be read.
    """
    name = f"{day.isoformat()}/{MANIFEST}"
    body = archive.read(name)
    if body is None:
        return None
    try:
        told = orjson.loads(body)
        if told["format"] != FORMAT or told["day"] != day.isoformat():
            raise ValueError("of another format or day")
        return Manifest(day, tuple(File(**file) for file in told["files"]))
    except (ValueError, KeyError, TypeError) as error:
        raise ArchiveError(f"{archive.url}/{name} is not a manifest ({error}); put it back from a backup") from None  # fmt: skip


def write_manifest(archive: Archive, manifest: Manifest) -> None:
    """Raises ArchiveError: it cannot be written."""
    archive.write(f"{manifest.day.isoformat()}/{MANIFEST}", manifest.to_bytes())


def sweep(archive: Archive, manifest: Manifest) -> None:
    """Delete what a run that was cut off left beside the files of the manifest."""
    folder = manifest.day.isoformat()
    kept = {MANIFEST, *(file.name.rsplit("/", 1)[-1] for file in manifest.files)}
    for name in archive.names(folder):
        if name not in kept:
            archive.delete(f"{folder}/{name}")


def days(archive: Archive) -> list[date]:
    """Every day that has a folder.

    Raises:
        ArchiveError: the place does not answer.
    """
    found = []
    for name in archive.names():
        try:
            found.append(date.fromisoformat(name))
        except ValueError:
            continue
    return found


def rows_of(file: Any, subjects: Collection[str] | None = None) -> Iterator[ArchivedRow]:
    """The rows of a Parquet file, or those of some subjects: files are sorted by it, so little is read.

    Raises:
        ArchiveError: it is no such file.
    """
    try:
        opened = parquet.ParquetFile(file)
        index = opened.schema_arrow.get_field_index("subject")
        for number in range(opened.metadata.num_row_groups):
            if subjects is not None and not _may_hold(opened.metadata.row_group(number).column(index), subjects):  # fmt: skip
                continue
            for row in opened.read_row_group(number, columns=list(COLUMNS)).to_pylist():
                if subjects is None or row["subject"] in subjects:
                    yield _row(row)
    except (OSError, ValueError, KeyError) as error:  # pyarrow's own errors are among them
        raise ArchiveError(f"a file of the archive cannot be read: {error}") from None


def _may_hold(column: Any, subjects: Collection[str]) -> bool:
    statistics = column.statistics
    if statistics is None or not statistics.has_min_max:
        return True
    return any(statistics.min <= subject <= statistics.max for subject in subjects)


def _row(row: dict[str, Any]) -> ArchivedRow:
    place = Place(row["topic"], row["kafka_partition"], row["kafka_offset"])
    at = row["at"].astimezone(UTC)
    return ArchivedRow(row["subject"], place, at, row["key"], row["event_hash"], bool(row["erased"]), row["value"])  # fmt: skip


def read_back(archive: Archive, file: File) -> dict[Place, str]:
    """The place and the hash of each event in a file, when all of it is as the manifest says.

    Raises:
        ArchiveError: the file is missing or changed, or bytes in it have not the hash of their event.
    """
    body = archive.read(file.name)
    if body is None:
        raise ArchiveError(f"{archive.url}/{file.name} is missing; put it back from a backup")
    if content_hash(body) != file.sha256:
        raise ArchiveError(f"{archive.url}/{file.name} is not what was written; put it back from a backup")  # fmt: skip
    places: dict[Place, str] = {}
    rows = erased = 0
    for row in rows_of(io.BytesIO(body)):
        rows, erased = rows + 1, erased + row.erased
        if not row.erased and content_hash(row.value.encode()) != row.hash:
            raise ArchiveError(f"{row.place} in {file.name} has not the bytes of its event; run `refund-bench audit verify {row.subject}`")  # fmt: skip
        places[row.place] = row.hash
    if (rows, erased) != (file.rows, file.erased):
        raise ArchiveError(f"{archive.url}/{file.name} has {rows} rows and not {file.rows}")
    return places
