"""`chaos`: kill parts at random, then count."""

from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, Json, commands, refuse, write_json

app = commands()
NAMES = ("stage", "money")


@app.command()
def chaos(
    name: Annotated[str, typer.Argument(metavar="NAME", help="stage or money.")],
    kills: Annotated[int, typer.Option(min=0, help="How many kill -9.")] = 100,
    messages: Annotated[
        int, typer.Option(min=1, help="stage: how many messages are worked on.")
    ] = 5_000,
    disputes: Annotated[int, typer.Option(min=1, help="money: how many disputes are filed.")] = 600,
    seed: Annotated[int, typer.Option(help="Of durations, victims and moments.")] = 1,
    broker: Annotated[
        str, typer.Option(help="local starts Apache Kafka; external uses REFUND_BENCH_BROKER.")
    ] = "local",
    as_json: Json = False,
) -> None:
    """Kill processes with kill -9 at random moments under load, then count.

    [bold]stage[/]: two instances of the async stage; what a reader of committed records sees.
    [bold]money[/]: settlement, payout and a gateway that answers late, fails after it has paid, pays on two
    deliveries at once and forgets its keys, over disputes that share orders and customers; what the gateway's
    own file says was paid, and whether everybody's books agree.

    The answer is JSON with or without --json. Exit code 1 if anything was lost, doubled or got stuck.

    Examples:

      refund-bench chaos stage --kills 100 --json
      refund-bench chaos stage --kills 6 --messages 400 --seed 7
      refund-bench chaos money --kills 60 --json
    """
    import os

    if name not in NAMES:
        refuse(f"there is no chaos {name!r}", f"one of {', '.join(NAMES)}")
    if broker not in ("local", "external"):
        refuse(f"--broker {broker!r} is not known", "local or external")
    external = os.environ.get("REFUND_BENCH_BROKER") if broker == "external" else None
    if broker == "external" and not external:
        refuse("REFUND_BENCH_BROKER is not set", "set it, or use --broker local")
    if name == "money":
        from ops.chaos import money

        found = money.run(kills=kills, count=disputes, seed=seed, broker=external)
    else:
        from ops.chaos import stage

        found = stage.run(kills=kills, messages=messages, seed=seed, broker=external)
    write_json(found)
    raise typer.Exit(TRUE if found["ok"] else FALSE)
