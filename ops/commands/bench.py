"""`bench`: one part measured, as JSON."""

from importlib import import_module
from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, Json, commands, refuse, write_json

app = commands()
NAMES = ("async-stage", "gate", "judges", "pipeline", "price", "queries", "sink")


@app.command()
def bench(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="async-stage, gate, judges, pipeline, price, queries or sink"
        ),
    ],
    as_json: Json = False,
) -> None:
    """Measure one part beside its peers in the same run, on Apache Kafka started for it where it needs one.

    [bold]async-stage[/]: slots busy, rate, latency and CPU of the async stage beside Quix, arroyo and bare asyncio.
    [bold]gate[/]: 600 calls at once at a provider that admits 50/s, beside the stage alone and the SDKs' own retries.
    [bold]judges[/]: CPU per call through the SDKs beside bare HTTP, calls a second of one process, what caching saves.
    [bold]pipeline[/]: complaint to settled through the whole stack at 5 disputes/s with a provider that answers at once.
    [bold]price[/]: one case priced, by the function and by the whole command; needs no broker.
    [bold]queries[/]: every canned query over a million rulings in ClickHouse, beside a full-table count.
    [bold]sink[/]: events a second from bytes to rows in ClickHouse, and what a dispute takes on the disk.

    The answer is JSON with or without --json. Exit code 1 where a promised figure is not held.

    Examples:

      refund-bench bench pipeline --json
    """
    if name not in NAMES:
        refuse(f"there is no bench {name!r}", f"one of {', '.join(NAMES)}")
    found = import_module(f"ops.bench.{name.replace('-', '_')}").run()
    write_json(found)
    raise typer.Exit(TRUE if found["ok"] else FALSE)
