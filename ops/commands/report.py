"""`report`: the analysts' main questions for a period, on one printable page."""

from datetime import datetime, timedelta
from typing import Annotated

import typer

from ops.commands.query import LONGEST, MOST_ROWS, analyst, moment, write_file
from ops.commands.reply import Json, answer, commands, note, say

app = commands()


@app.command()
def report(
    out: Annotated[str, typer.Option(help="The HTML file to write.")],
    since: Annotated[
        str, typer.Option(help="From this day or moment on; 7d is seven days ago.")
    ] = "30d",
    until: Annotated[str, typer.Option(help="Up to, and without, this day or moment.")] = "",
    time_zone: Annotated[str, typer.Option(help="Whose days; for example Asia/Kolkata.")] = "UTC",
    clock: Annotated[str, typer.Option(help="What dates a dispute: filed or settled.")] = "filed",
    as_json: Json = False,
) -> None:
    """Draw the analysts' main questions for a period into one HTML file that can be printed and sent.

    Nothing in the file is loaded from elsewhere. Simulated disputes say so on top.

    Examples:

      refund-bench report --out week.html --since 7d
      refund-bench report --out november.html --since 2026-11-01 --until 2026-12-01 --time-zone Asia/Kolkata
    """
    from ops.report.page import render
    from ops.report.sections import SECTIONS
    from sinks import query as questions

    now = datetime.now().astimezone()
    first, last = moment(since, time_zone, now), moment(until, time_zone, now)
    asked = [
        questions.question(
            section.query, first, last, time_zone, clock,  # type: ignore[arg-type]
            longest=LONGEST, now=now + timedelta(days=1),
        )
        for section in SECTIONS
    ]  # fmt: skip
    answers = {}
    client = analyst()
    try:
        for one in asked:
            answers[one.name] = {
                **questions.ask(one, client, MOST_ROWS["csv"]),
                "about": questions.about(one.name),
            }
    finally:
        client.close()
    began, ended = asked[0].since, asked[0].until
    period = f"from {began.date() if began else 'the beginning'} to {ended.date() if ended else now.date()}"
    page = render(answers, period, time_zone, clock, now)
    write_file(page.encode(), out)
    for remark in asked[0].notes:
        note(f"note: {remark}")
    answer(
        as_json,
        {"ok": True, "out": out, "bytes": len(page.encode()), "sections": len(SECTIONS)},
        lambda: say(f"wrote {out}"),
    )
