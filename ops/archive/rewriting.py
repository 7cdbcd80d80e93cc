"""Takes the words of some disputes out of the archive: files are written anew, and the old ones deleted."""

import io
from collections.abc import Callable, Collection
from datetime import date
from typing import Any

import pyarrow  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]

from ops.archive.day import (
    File,
    Manifest,
    named,
    read_back,
    read_manifest,
    rows_of,
    sweep,
    write_manifest,
)
from ops.archive.folder import Archive, ArchiveError
from ops.archive.writing import ROW_GROUP
from schemas.ids import content_hash
from sinks.erased import TEXT_TOPICS


def erase_day(
    archive: Archive, day: date, subjects: Collection[str], on_written: Callable[[Manifest], None]
) -> int:
    """Erase the bytes of these disputes' texts from one day; the number of events erased. Their hashes stay.

    The old files go when the new ones were read back; cut off in between, the next run deletes them.

    Raises:
        ArchiveError: a file is missing or changed, or cannot be written. It is left as it is.
    """
    known = read_manifest(archive, day)
    if known is None:
        return 0
    erased, files = 0, []
    for file in known.files:
        if not _holds(archive, file, subjects):
            files.append(file)
            continue
        made = _without(archive, file, day, subjects)
        read_back(archive, made)
        erased += made.erased - file.erased
        files.append(made)
    manifest = Manifest(day, tuple(files))
    if erased:
        write_manifest(archive, manifest)
        on_written(manifest)
    sweep(archive, manifest)
    return erased


def _holds(archive: Archive, file: File, subjects: Collection[str]) -> bool:
    with archive.open(file.name) as opened:
        return any(
            not row.erased and row.place.topic in TEXT_TOPICS for row in rows_of(opened, subjects)
        )


def _without(archive: Archive, file: File, day: date, subjects: Collection[str]) -> File:
    body = archive.read(file.name)
    if body is None or content_hash(body) != file.sha256:
        raise ArchiveError(f"{archive.url}/{file.name} is not what was written; put it back from a backup")  # fmt: skip
    table = parquet.read_table(io.BytesIO(body))
    gone = [
        bool(before) or (subject in subjects and topic in TEXT_TOPICS)
        for subject, topic, before in zip(
            *(table.column(name).to_pylist() for name in ("subject", "topic", "erased")),
            strict=True,
        )
    ]
    values = ["" if out else value for out, value in zip(gone, table.column("value").to_pylist(), strict=True)]  # fmt: skip
    table = _with(table, "erased", [int(out) for out in gone])
    table = _with(table, "value", values)
    written = io.BytesIO()
    parquet.write_table(table, written, compression="zstd", row_group_size=ROW_GROUP)
    made = named(day, written.getvalue(), len(gone), sum(gone))
    archive.write(made.name, written.getvalue())
    return made


def _with(table: Any, name: str, values: list[Any]) -> Any:
    index = table.schema.get_field_index(name)
    kind = table.schema.field(index)
    return table.set_column(index, kind, pyarrow.array(values, kind.type))
