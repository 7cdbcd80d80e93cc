"""`bench`: one part measured, as JSON."""

from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, Json, commands, refuse, write_json

app = commands()
NAMES = ("async-stage", "pipeline")


@app.command()
def bench(
    name: Annotated[str, typer.Argument(metavar="NAME", help="async-stage or pipeline")],
    as_json: Json = False,
) -> None:
    """Measure one part on Apache Kafka, started for it, beside its peers in the same run.

    [bold]async-stage[/]: slots busy, rate, latency and CPU of the async stage beside Quix, arroyo and bare asyncio.
    [bold]pipeline[/]: complaint to settled through the whole stack at 5 disputes/s with a provider that answers at once.

    The answer is JSON with or without --json. Exit code 1 where a promised figure is not held.

    Examples:

      refund-bench bench pipeline --json
    """
    if name not in NAMES:
        refuse(f"there is no bench {name!r}", f"one of {', '.join(NAMES)}")
    if name == "pipeline":
        from ops.bench import pipeline

        found = pipeline.run()
    else:
        from ops.bench import async_stage

        found = async_stage.run()
    write_json(found)
    raise typer.Exit(TRUE if found["ok"] else FALSE)
