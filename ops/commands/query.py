"""`query`: the analysts' questions, answered by ClickHouse."""

from datetime import datetime
from typing import Annotated, Any

import typer

from ops.commands.reply import Json, answer, commands, console, refuse, say, visible

app = commands()


@app.command()
def query(
    name: Annotated[str, typer.Argument(help="Which question; without one, a list.")] = "",
    since: Annotated[str, typer.Option(help="From this day or moment on.")] = "",
    until: Annotated[str, typer.Option(help="Up to, and without, this day or moment.")] = "",
    time_zone: Annotated[str, typer.Option(help="Whose days; for example Asia/Kolkata.")] = "UTC",
    clock: Annotated[str, typer.Option(help="What dates a dispute: filed or settled.")] = "filed",
    as_json: Json = False,
) -> None:
    """Ask ClickHouse one of the analysts' questions.

    A day without a time begins at midnight in --time-zone. Nothing is written; money and tests on it never
    read ClickHouse.

    Examples:

      refund-bench query
      refund-bench query split_rate --since 2026-11-01 --until 2026-12-01 --time-zone Asia/Kolkata
      refund-bench query payouts --clock settled --json
    """
    from sinks import query as questions

    if not name:
        _list(as_json)
        return
    about = questions.about(name)  # refuses a name it does not know, before anything connects
    first, last = _moment(since, time_zone), _moment(until, time_zone)
    from sinks.connection import analyst_address_from, connect

    try:
        address = analyst_address_from()
    except ValueError as error:
        refuse(str(error))
    client = connect(address)
    try:
        found = questions.run(name, client, first, last, time_zone, clock)  # type: ignore[arg-type]
    finally:
        client.close()
    answer(as_json, found, lambda: _table(found, about))


def _list(as_json: bool) -> None:
    from sinks import query as questions

    known = {name: questions.about(name) for name in questions.names()}

    def tell() -> None:
        for name, about in known.items():
            say(f"{name:20} {about}")

    answer(as_json, {"queries": [{"name": n, "about": a} for n, a in known.items()]}, tell)


def _moment(said: str, time_zone: str) -> datetime | None:
    """A day or a moment as given; without a zone it is one of `time_zone`'s."""
    from zoneinfo import ZoneInfo

    if not said:
        return None
    try:
        moment = datetime.fromisoformat(said)
        return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(time_zone))
    except (ValueError, KeyError, OSError):
        refuse(
            f"{said!r} in time zone {time_zone!r} is not a day or a moment",
            "write 2026-11-30 or 2026-11-30T18:00+05:30, and a zone such as Asia/Kolkata",
        )


def _table(found: dict[str, Any], about: str) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(title=about, title_justify="left")
    for column in found["columns"]:
        table.add_column(column, overflow="fold")
    for row in found["rows"]:
        table.add_row(*(Text("" if value is None else visible(str(value))) for value in row))
    console().print(table)
    say(f"{len(found['rows'])} rows; days are {found['time_zone']}'s")
