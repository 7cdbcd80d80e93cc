"""`chaos`: kill parts at random, then count."""

from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, Json, commands, refuse, write_json

app = commands()
NAMES = ("stage", "money", "sink")


@app.command()
def chaos(
    name: Annotated[str, typer.Argument(metavar="NAME", help="stage, money or sink.")],
    kills: Annotated[int, typer.Option(min=0, help="How many kill -9.")] = 100,
    messages: Annotated[
        int, typer.Option(min=1, help="stage: how many messages are worked on.")
    ] = 5_000,
    disputes: Annotated[
        int | None,
        typer.Option(
            min=1, help="money, sink: how many disputes are filed; 600 and 1,200 by default."
        ),
    ] = None,
    clickhouse_kills: Annotated[
        int,
        typer.Option(min=0, help="sink: how many kill -9 of ClickHouse, beside those of the sink."),
    ] = 20,
    away: Annotated[
        float, typer.Option(min=0, help="sink: seconds that ClickHouse is out of reach at the end.")
    ] = 20.0,
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
    [bold]sink[/]: the sink and ClickHouse, behind a proxy that cuts connections before the reply; whether the
    views show every record of every topic, once, with its bytes.

    The answer is JSON with or without --json. Exit code 1 if anything was lost, doubled or got stuck.

    Examples:

      refund-bench chaos stage --kills 100 --json
      refund-bench chaos stage --kills 6 --messages 400 --seed 7
      refund-bench chaos money --kills 60 --json
      refund-bench chaos sink --kills 60 --clickhouse-kills 20 --json
      refund-bench chaos sink --kills 0 --clickhouse-kills 0 --away 180
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

        found = money.run(kills=kills, count=disputes or 600, seed=seed, broker=external)
    elif name == "sink":
        from ops.chaos import sink

        found = sink.run(
            kills=kills, clickhouse_kills=clickhouse_kills, count=disputes or 1_200, away_s=away,
            seed=seed, broker=external,
        )  # fmt: skip
    else:
        from ops.chaos import stage

        found = stage.run(kills=kills, messages=messages, seed=seed, broker=external)
    write_json(found)
    raise typer.Exit(TRUE if found["ok"] else FALSE)
