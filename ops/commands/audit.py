"""`audit`: whether the trail is whole, whether it adds up, and a copy of one dispute's."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from ops.commands.reply import As, Json, answer, commands, refuse, say

if TYPE_CHECKING:
    from ops.audit.chains import Checked
    from ops.audit.heads import Heads, HeadsFile

app = commands()

Identifier = Annotated[str, typer.Argument(metavar="[ID]", help="A dispute's id, or an order's.")]
Since = Annotated[str, typer.Option(help="From this day or moment on; a day begins at 00:00 UTC.")]
Until = Annotated[str, typer.Option(help="Up to, and without, this day or moment.")]


@app.callback()
def audit() -> None:
    """Check the trail of the disputes, and what was decided on it; take a copy; write out the chains' heads."""


@app.command()
def verify(
    identifier: Identifier = "",
    since: Since = "",
    until: Until = "",
    heads: Annotated[str, typer.Option(help="A file that `audit heads` wrote.")] = "",
    zip_file: Annotated[
        str, typer.Option("--zip", help="Check an exported zip, and nothing else.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Walk the chains: every event that was linked is there, unaltered, in its order, in Kafka and in ClickHouse;
    every row of ClickHouse's tables is what its event says.

    What Kafka no longer keeps is checked in ClickHouse alone. What was erased on a customer's request is told as
    erased where an operation explains it. With --heads also that no chain was made anew since its head was written
    out. With --zip an export is checked by itself, without Kafka or ClickHouse. Without ID and --since, what came
    since yesterday. Exit code 1 where anything is wrong.

    Examples:

      refund-bench audit verify order-1840
      refund-bench audit verify --since 2026-11-30 --heads heads/heads-2026-11-30.json
      refund-bench audit verify --zip order-1840.zip
    """
    from ops.audit import verify as verifying
    from ops.audit.answering import period, tell_checked
    from ops.audit.stores import open_stores

    now = datetime.now(UTC)
    written = _heads(heads)
    if zip_file:
        tell_checked(_zip(zip_file, written.heads if written else None), as_json, stores=["zip"])
        return
    begin, end = period(since, until, now)
    with open_stores() as stores:
        if identifier:
            checked = verifying.verify_dispute(
                identifier, stores.client, stores.kafka, now, written.heads if written else None
            )
            if checked is None:
                from ops.commands.status import unknown

                unknown(identifier)
        else:
            checked = verifying.verify_period(begin, end, stores.client, stores.kafka, now)
            if written is not None:
                checked.faults += verifying.verify_heads(written, stores.client, stores.kafka, now)
        tell_checked(checked, as_json, stores=stores.names)


@app.command()
def recount(
    identifier: Identifier = "",
    since: Since = "",
    until: Until = "",
    source: Annotated[
        str, typer.Option("--from", help="clickhouse or kafka; by default the first that answers.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Count, price and decide again, by the pipeline's own functions and the pack of the time; say what differs.

    For each dispute decided in the period (without one, since yesterday): the votes from the raw rulings, the lines
    and the rule from the votes, what people decided within what they might, the customer's limit after the payments
    of its window, the payment against the decision. Earlier disputes count as they stood then. A pack that is not
    loaded under its seal is a fault: name its folder in REFUND_BENCH_PACKS. From Kafka everything is read into
    memory: for small installations. Run `audit verify` beside it: recount takes the events as they are.

    Examples:

      refund-bench audit recount order-1840
      refund-bench audit recount --since 2026-11-01 --until 2026-12-01 --json
    """
    from ops.audit import clickhouse_view
    from ops.audit.answering import period, tell_checked
    from ops.audit.recount import from_clickhouse, from_kafka
    from ops.audit.stores import open_stores
    from ops.commands.status import unknown
    from ops.packs import load_packs
    from ops.trail import find

    if source not in ("", "kafka", "clickhouse"):
        refuse(f"--from {source!r} is not known", "kafka or clickhouse")
    begin, end = period(since, until, datetime.now(UTC))
    packs = load_packs()
    with open_stores(source) as stores:
        if stores.client is not None:
            client = stores.client
            disputes = clickhouse_view.disputes_of(client, identifier) if identifier else clickhouse_view.decided(client, begin, end)  # fmt: skip
        else:
            disputes = [one.dispute_id for one in find(identifier)] if identifier else None
        if identifier and not disputes:
            unknown(identifier)
        if stores.client is not None:
            checked = from_clickhouse(stores.client, disputes or [], packs)
        else:
            checked = from_kafka(disputes, begin, end, packs)
        tell_checked(checked, as_json, stores=stores.names[-1:])


@app.command()
def heads(
    out: Annotated[str, typer.Option(help="A folder that ClickHouse's operator cannot change.")],
    day: Annotated[str, typer.Option(help="Which day, in UTC; by default yesterday.")] = "",
    as_json: Json = False,
) -> None:
    """Write the heads of the chains that grew on a day to a file, with a total over them and the file before.

    Run it every day, for example from cron at 00:30 UTC, into a folder that is backed up elsewhere. Whoever later
    alters an event and makes its chain anew is found by `audit verify --heads`. A file is never written over.

    Examples:

      refund-bench audit heads --out heads
      refund-bench audit heads --out heads --day 2026-11-30 --json
    """
    from pathlib import Path

    from ops.audit.answering import day_of
    from ops.audit.heads import HeadsError, heads_of, read_heads, read_links, window, write_heads
    from ops.reachable import need_kafka

    now = datetime.now(UTC)
    which = day_of(day) if day else now.date() - timedelta(days=1)
    try:
        begin, end = window(which, now)
        need_kafka()
        found = heads_of(read_links(begin, end))
        full = end == begin + timedelta(days=1)
        file = write_heads(Path(out), which, end, found, full)
        total = read_heads(file).total
    except HeadsError as error:
        refuse(str(error))
    except OSError as error:
        refuse(f"--out {out}: {error.strerror}", "name a folder that can be written")
    shown = {"ok": True, "file": str(file), "day": which.isoformat(), "chains": len(found), "total": total}  # fmt: skip
    answer(as_json, shown, lambda: say(f"{file}: {len(found)} chains, total {total}"))


@app.command()
def export(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A dispute's id, or an order's.")],
    out: Annotated[str, typer.Option(help="The zip to write; never over a file that is there.")],
    source: Annotated[
        str, typer.Option("--from", help="kafka or clickhouse; by default Kafka, then ClickHouse.")
    ] = "",
    as_user: As = "",
    as_json: Json = False,
) -> None:
    """One dispute as a zip: every event as bytes, the frozen evidence, each ruling with the model's reply, the pack
    with its prompts, who decided, a page to read, and the hashes of all of it. `audit verify --zip` checks it alone.

    It holds the customer's words. That you take it, and the zip's hash, are recorded; where that fails there is no
    zip. Of an order with several disputes the newest is taken.

    Examples:

      refund-bench audit export order-1840 --out order-1840.zip --as your.name
      refund-bench audit verify --zip order-1840.zip
    """
    from pathlib import Path

    from ops.audit.answering import tell_checked
    from ops.audit.case import SOURCES, find_case
    from ops.audit.export import export as packed
    from ops.audit.recount import sealed_pack
    from ops.commands.status import unknown
    from ops.operations import act, actor, record, record_reading
    from ops.packs import load_packs
    from ops.reachable import need_kafka
    from schemas.ids import content_hash

    if source not in ("", *SOURCES):
        refuse(f"--from {source!r} is not known", f"one of {', '.join(SOURCES)}")
    file = Path(out)
    if file.exists():
        refuse(
            f"--out {out}: is there already", "name another file; an export is never written over"
        )
    by, packs = actor(as_user), load_packs()
    need_kafka()  # to record it, whatever is read
    case = find_case(identifier, source)
    if case is None:
        unknown(identifier)
    ref = case.trail.entry.pack
    pack = sealed_pack(packs, ref) if ref is not None else None
    if pack is None:
        said = f"{ref.policy} v{ref.pack_version} {ref.pack_hash}" if ref else "of the dispute"
        refuse(
            f"the pack {said} is not loaded", "name the folder that has it in REFUND_BENCH_PACKS"
        )
    now = datetime.now(UTC)
    record_reading(case.dispute_id, by, "audit export", now)
    body = packed(case, pack, by, now)
    try:
        with open(file, "xb") as written:
            written.write(body)
    except OSError as error:
        refuse(f"--out {out}: {error.strerror}", "name a file that can be written")
    try:
        sealed = {"sha256": content_hash(body), "bytes": str(len(body))}
        record(act("trail_exported", case.dispute_id, by, now, sealed))
    except Exception:
        file.unlink()
        raise
    tell_checked(
        _zip(out, None), as_json, stores=[case.source], file=out, sha256=content_hash(body)
    )


def _zip(file: str, heads: "Heads | None") -> "Checked":
    from pathlib import Path

    from ops.audit.zip_check import ZipError, check_zip

    try:
        return check_zip(Path(file), heads)
    except ZipError as error:
        refuse(f"--zip {error}")


def _heads(file: str) -> "HeadsFile | None":
    if not file:
        return None
    from pathlib import Path

    from ops.audit.heads import HeadsError, read_heads

    try:
        return read_heads(Path(file))
    except HeadsError as error:
        refuse(f"--heads {error}")
