"""`chaos`: kill parts at random, then count."""

from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, Json, commands, refuse, write_json

app = commands()
NAMES = ("stage",)


@app.command()
def chaos(
    name: Annotated[str, typer.Argument(metavar="NAME", help="stage: the async stage.")],
    kills: Annotated[int, typer.Option(min=0, help="How many kill -9.")] = 100,
    messages: Annotated[int, typer.Option(min=1, help="How many messages are worked on.")] = 5_000,
    seed: Annotated[int, typer.Option(help="Of durations, victims and moments.")] = 1,
    broker: Annotated[
        str, typer.Option(help="local starts Apache Kafka; external uses REFUND_BENCH_BROKER.")
    ] = "local",
    as_json: Json = False,
) -> None:
    """Kill instances with kill -9 at random moments under load, then count what a reader of committed records sees.

    The answer is JSON with or without --json. Exit code 1 if anything was lost, doubled or got stuck.

    Examples:

      refund-bench chaos stage --kills 100 --json
      refund-bench chaos stage --kills 6 --messages 400 --seed 7
    """
    import os

    if name not in NAMES:
        refuse(f"there is no chaos {name!r}", f"one of {', '.join(NAMES)}")
    if broker not in ("local", "external"):
        refuse(f"--broker {broker!r} is not known", "local or external")
    external = os.environ.get("REFUND_BENCH_BROKER") if broker == "external" else None
    if broker == "external" and not external:
        refuse("REFUND_BENCH_BROKER is not set", "set it, or use --broker local")
    from ops.chaos import stage

    found = stage.run(kills=kills, messages=messages, seed=seed, broker=external)
    write_json(found)
    raise typer.Exit(TRUE if found["ok"] else FALSE)
