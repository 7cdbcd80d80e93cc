"""`run`: one app in the foreground, as a supervisor or a container starts it."""

from typing import Annotated

import typer

from ops.commands.reply import commands, refuse

app = commands()


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="APP", help="Which app; see the list above.")],
    seat: Annotated[
        int | None, typer.Option(min=1, help="For judge: this seat alone. Without it, every seat.")
    ] = None,
) -> None:
    """Run one app until it is told to stop (SIGTERM, Ctrl-C).

    [bold]intake tally settlement allowance ledger[/]: the stages that keep state, one process each.
    [bold]extraction judge payout letters delivery[/]: those that wait on a network; [bold]network[/] is all of them in one.
    [bold]timer[/]: deadlines. [bold]sink[/]: ClickHouse.

    Settings come from REFUND_BENCH_BROKER, _INSTALLATION_KEY, _PROVIDER, _GATEWAY, _DELIVERY, _CLICKHOUSE,
    _STATE_DIR and _ORDINAL (0, 1, 2 … for the instances of one app). Logs go to stderr as JSON lines. Exit code 2 means
    that starting it again is of no use.

    Examples:

      refund-bench run intake
      refund-bench run judge --seat 2
      REFUND_BENCH_ORDINAL=1 refund-bench run settlement
    """
    from ops import apps

    if name not in apps.ALL:
        refuse(f"there is no app {name!r}", f"one of {', '.join(apps.ALL)}")
    if seat is not None and name != "judge":
        refuse("--seat goes with judge, and only with it", "leave it out")
    raise typer.Exit(apps.run_app(name, seat))
