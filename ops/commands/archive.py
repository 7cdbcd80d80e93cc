"""`archive`: every event as bytes, a folder a day, before ClickHouse lets go of any text."""

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.commands.reply import FALSE, TRUE, As, Json, answer, commands, note, refuse, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from ops.archive.day import Manifest
    from ops.archive.folder import Archive

app = commands()
To = Annotated[str, typer.Option(help="A folder, or a URL; by default REFUND_BENCH_ARCHIVE.")]


@app.callback()
def archive() -> None:
    """Write the archive, let ClickHouse go of what it has and is past its days, and check it.

    Days of retention: REFUND_BENCH_RETENTION. An object store needs its fsspec package: `s3fs` for s3://.
    """


@app.command()
def run(
    until: Annotated[
        str, typer.Option(help="Up to, and without, this day; by default yesterday.")
    ] = "",
    to: To = "",
    as_user: As = "",
    as_json: Json = False,
) -> None:
    """Archive each day that is over, as Parquet listed with hashes; then empty in ClickHouse the texts past their
    days. Run it every day.

    Each file is read back from where it was written, each event's bytes against its hash, before anything is
    marked; and again before anything is emptied. Each manifest's hash is recorded in the chain. It can be cut off
    anywhere and run again, and leaves alone what ClickHouse took in the last ten minutes. Exit code 1 where a day
    could not be archived, or holds what is past its days.

    Examples:

      refund-bench archive run
      refund-bench archive run --to s3://bucket/refunds --until 2026-11-30 --json
    """
    from ops.archive.run import run as run_archive
    from ops.operations import actor
    from ops.reachable import need_kafka
    from sinks.connection import address_from, connect
    from sinks.retention import retention_from

    by, now = actor(as_user), datetime.now(UTC)
    retention = retention_from()
    before = _day(until) if until else now.date() - timedelta(days=1)
    where = open_archive(to)
    need_kafka()  # each day is recorded
    client = connect(address_from(), timeout_s=3600)
    try:
        with where.alone(by):
            ran = run_archive(client, where, retention, before, now.date(), recorder(by, now, where.url))  # fmt: skip
    finally:
        client.close()
    found: dict[str, Any] = {
        "ok": not ran.faults and not ran.behind,
        "archive": where.url,
        "days": [{**vars(one), "day": one.day.isoformat()} for one in ran.written],
        "emptied": {day.isoformat(): rows for day, rows in ran.emptied.items() if rows},
        "expired": [day.isoformat() for day in ran.expired],
        "behind": [day.isoformat() for day in ran.behind],
        "faults": ran.faults,
    }

    def tell() -> None:
        for one in ran.written:
            say(f"{one.day}: {one.rows} events in {one.files} files, {one.bytes} bytes, {one.manifest}")  # fmt: skip
        say(f"archived {len(ran.written)} days, emptied {sum(ran.emptied.values())} texts, let go of {len(ran.expired)} days")  # fmt: skip
        for fault in ran.faults:
            note(fault)
        if ran.behind:
            note(f"{len(ran.behind)} days hold texts past their days, first {ran.behind[0]}")

    answer(as_json, found, tell, TRUE if found["ok"] else FALSE)


@app.command()
def verify(to: To = "", as_json: Json = False) -> None:
    """Read the whole archive back: every file against its manifest, every event against its hash, every manifest
    against what was recorded when it was written. Exit code 1 where anything differs.

    Examples:

      refund-bench archive verify
    """
    from ops.archive.checking import check, recorded
    from sinks.connection import address_from, connect
    from sinks.retention import retention_from

    retention, where = retention_from(), open_archive(to)
    client = connect(address_from())
    try:
        said = recorded(client)
    finally:
        client.close()
    kept = check(where, said, datetime.now(UTC).date(), retention.archive)

    def tell() -> None:
        for fault in kept.faults:
            say(fault)
        say(f"{kept.days} days, {kept.events} events, {kept.bytes} bytes: {len(kept.faults)} faults")  # fmt: skip

    answer(
        as_json,
        {"ok": not kept.faults, "archive": where.url, **vars(kept)},
        tell,
        FALSE if kept.faults else TRUE,
    )


def open_archive(given: str = "") -> "Archive":
    """The archive.

    Raises:
        Failure: none is named, or it cannot be used here.
    """
    from ops.archive.folder import ArchiveError, archive_from

    try:
        return archive_from(given=given)
    except ArchiveError as error:
        refuse(str(error))


def recorder(by: str, now: datetime, url: str) -> "Callable[[Manifest], None]":
    """Records each manifest, before anything in ClickHouse changes. A manifest that was recorded has the same id."""
    from ops.archive.checking import SUBJECT
    from ops.operations import record
    from schemas.ids import content_hash
    from schemas.operation import Operation

    def written(manifest: "Manifest") -> None:
        day = manifest.day.isoformat()
        record(
            Operation(
                at=now,
                operation_id=f"archive_written:{day}:{manifest.hash}",
                subject=SUBJECT,
                action="archive_written",
                actor=by,
                details={
                    "day": day,
                    "manifest": manifest.hash,
                    "events": str(sum(file.rows for file in manifest.files)),
                    "files": str(len(manifest.files)),
                    # A URL can hold a name and a password.
                    "archive": content_hash(url.encode()),
                },
            )
        )

    return written


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        refuse(f"--until {text!r}: is not a day", "write 2026-11-30")
