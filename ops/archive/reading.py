"""Gives back the bytes that ClickHouse let go of: what a reader of `events` finds empty, it finds here."""

from dataclasses import replace
from datetime import date

from ops.archive.day import read_manifest, rows_of
from ops.archive.folder import Archive, archive_from
from ops.audit.stored import Place, Stored, stored
from schemas.ids import content_hash


def filled(events: list[Stored], subjects: dict[Place, tuple[str, date]]) -> list[Stored]:
    """The events, those of `subjects` with their bytes from the archive; each stands there under its subject,
    in its day. What the archive lacks is left out, so that whoever checks a chain misses it.

    Raises:
        ArchiveError: there is no archive, or it does not answer.
    """
    if not subjects:
        return events
    found = _read(archive_from(), subjects)
    return [one for event in events if (one := _with_bytes(event, subjects, found)) is not None]


def _with_bytes(
    event: Stored, subjects: dict[Place, tuple[str, date]], found: dict[Place, str]
) -> Stored | None:
    if event.place not in subjects:
        return event
    value = found.get(event.place)
    if value is None:
        return None
    held = value.encode()
    one = stored(event.place, event.key, event.at, held)
    # Bytes that are no event any more were altered: their hash will say so.
    one = one or replace(event, hash=content_hash(held), value=held)
    return replace(one, archived=True)


def _read(archive: Archive, subjects: dict[Place, tuple[str, date]]) -> dict[Place, str]:
    found: dict[Place, str] = {}
    for day in sorted({day for _, day in subjects.values()}):
        manifest = read_manifest(archive, day)
        wanted = {subject for subject, when in subjects.values() if when == day}
        for file in manifest.files if manifest else ():
            with archive.open(file.name) as opened:
                for row in rows_of(opened, wanted):
                    if row.place in subjects and not row.erased:
                        found[row.place] = row.value
    return found
