"""`query`: the analysts' questions, answered by ClickHouse."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import typer

from ops.commands.reply import Json, commands, console, note, refuse, say, visible, write_json

app = commands()
FORMATS = ("table", "json", "csv", "parquet")
LONGEST = timedelta(days=400)
MOST_ROWS = {"table": 10_000, "json": 10_000, "csv": 1_000_000}


@app.command()
def query(
    name: Annotated[str, typer.Argument(help="Which question; without one, a list.")] = "",
    since: Annotated[
        str, typer.Option(help="From this day or moment on; 7d is seven days ago.")
    ] = "",
    until: Annotated[str, typer.Option(help="Up to, and without, this day or moment.")] = "",
    time_zone: Annotated[str, typer.Option(help="Whose days; for example Asia/Kolkata.")] = "UTC",
    clock: Annotated[str, typer.Option(help="What dates a dispute: filed or settled.")] = "filed",
    form: Annotated[
        str, typer.Option("--format", help="table, json, csv or parquet.", show_default="table")
    ] = "",
    out: Annotated[str, typer.Option(help="Write to this file instead of stdout.")] = "",
    as_json: Json = False,
) -> None:
    """Ask ClickHouse one of the analysts' questions.

    A day without a time begins at midnight in --time-zone. At most 400 days are asked about and 10,000 rows shown
    (a million in CSV); where that cut something, the answer says so. In CSV a text that begins like a formula
    gets an apostrophe.

    Asks as REFUND_BENCH_CLICKHOUSE_ANALYST, who reads views without free text; nothing is written.

    Examples:

      refund-bench query
      refund-bench query split_rate --since 7d --time-zone Asia/Kolkata
      refund-bench query payouts --clock settled --since 2026-11-01 --until 2026-12-01 --format csv --out november.csv
    """
    from sinks import query as questions

    form = _format(form, as_json, out)
    if not name:
        _list(form == "json")
        return
    about = questions.about(name)  # refuses a name it does not know, before anything connects
    now = datetime.now().astimezone()
    asked = questions.question(
        name, moment(since, time_zone, now), moment(until, time_zone, now), time_zone, clock,  # type: ignore[arg-type]
        longest=LONGEST, now=now + timedelta(days=1),
    )  # fmt: skip
    client = analyst()
    try:
        if form == "parquet":
            write_file(questions.parquet(asked, client), out)
            found: dict[str, Any] = {"notes": list(asked.notes)}
        else:
            found = questions.ask(asked, client, MOST_ROWS[form])
            _give(found, about, form, out)
    finally:
        client.close()
    for remark in found["notes"]:
        note(f"note: {remark}")


def analyst() -> Any:
    """A connection as the analyst, and as whoever writes where none is named."""
    from sinks.connection import analyst_address_from, connect

    try:
        address = analyst_address_from()
    except ValueError as error:
        refuse(str(error))
    return connect(address, timeout_s=90)


def moment(said: str, time_zone: str, now: datetime) -> datetime | None:
    """A day or a moment as given, or `7d` for the midnight seven days ago; without a zone it is one of
    `time_zone`'s."""
    from zoneinfo import ZoneInfo

    if not said:
        return None
    try:
        zone = ZoneInfo(time_zone)
        if said.endswith("d") and said[:-1].isdecimal():
            day = now.astimezone(zone) - timedelta(days=int(said[:-1]))
            return day.replace(hour=0, minute=0, second=0, microsecond=0)
        found = datetime.fromisoformat(said)
        return found if found.tzinfo else found.replace(tzinfo=zone)
    except (ValueError, KeyError, OSError, OverflowError):
        refuse(
            f"{said!r} in time zone {time_zone!r} is not a day or a moment",
            "write 2026-11-30, 7d or 2026-11-30T18:00+05:30, and a zone such as Asia/Kolkata",
        )


def _format(form: str, as_json: bool, out: str) -> str:
    if as_json and form not in ("", "json"):
        refuse(f"--json is not {form}", "give --format alone")
    form = "json" if as_json else form or "table"
    if form not in FORMATS:
        refuse(f"--format {form!r} is not known", f"one of {', '.join(FORMATS)}")
    if form == "parquet" and not out:
        refuse("Parquet is not for a terminal", "give --out FILE.parquet")
    return form


def _list(as_json: bool) -> None:
    from sinks import query as questions

    known = {name: questions.about(name) for name in questions.names()}
    if as_json:
        write_json({"queries": [{"name": n, "about": a} for n, a in known.items()]})
        return
    for name, about in known.items():
        say(f"{name:20} {about}")


def _give(found: dict[str, Any], about: str, form: str, out: str) -> None:
    from ops.tables import as_csv

    if form == "csv":
        write_file(as_csv(found["columns"], found["rows"]).encode(), out)
    elif form == "json" and out:
        import orjson

        write_file(orjson.dumps(found), out)
    elif form == "json":
        write_json(found)
    elif out:
        refuse("a table is for the terminal", "give --format csv, json or parquet with --out")
    else:
        _table(found, about)


def write_file(content: bytes, out: str) -> None:
    """To the file, whole or not at all; without one to stdout.

    Raises:
        Failure: the file cannot be written.
    """
    import sys

    if not out:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
        return
    path = Path(out)
    draft = path.with_name(f".{path.name}.draft")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    except OSError as error:
        refuse(f"--out {out}: {error.strerror}", "name a file in a folder that is there")


def _table(found: dict[str, Any], about: str) -> None:
    from rich.table import Table
    from rich.text import Text

    from ops.tables import as_text

    table = Table(title=about, title_justify="left")
    for column in found["columns"]:
        table.add_column(column, overflow="fold")
    for row in found["rows"]:
        table.add_row(*(Text(visible(as_text(value))) for value in row))
    console().print(table)
    say(f"{len(found['rows'])} rows; days are {found['time_zone']}'s")
