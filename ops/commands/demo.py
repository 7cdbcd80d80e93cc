"""`demo`: the whole of it in a minute."""

from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, Json, commands, note, refuse, write_json

app = commands()


@app.command()
def demo(
    provider: Annotated[
        str | None,
        typer.Option(
            help="Who reads and rules: offline-rules (the default), anthropic (with --stub), openai."
        ),
    ] = None,
    stub: Annotated[
        bool, typer.Option("--stub", help="Start the LLM stub and point the provider's SDK at it.")
    ] = False,
    policy: Annotated[str | None, typer.Option(help="Only the cases of this policy.")] = None,
    broker: Annotated[
        str, typer.Option(help="local starts Apache Kafka; external uses REFUND_BENCH_BROKER.")
    ] = "local",
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep logs, data and the gateway's file.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Start the local stack, file fifteen labelled disputes, watch them move, check how each one ends.

    Exit code 0 only if every one ended as labelled. With offline-rules every ruling is simulated and says so.

    Examples:

      refund-bench demo
      refund-bench demo --policy bank-disputes-ng --keep
      refund-bench demo --provider openai --stub
      refund-bench demo --json > outcome.json
    """
    import os

    from ops import demo as show

    if broker not in ("local", "external"):
        refuse(f"--broker {broker!r} is not known", "local or external")
    external = os.environ.get("REFUND_BENCH_BROKER") if broker == "external" else None
    if broker == "external" and not external:
        refuse("REFUND_BENCH_BROKER is not set", "set it, or use --broker local")
    if stub and provider == "offline-rules":
        refuse(
            "offline-rules makes no calls that a stub could answer", "choose anthropic or openai"
        )
    chosen = provider or ("anthropic" if stub else "offline-rules")
    report = show.run(chosen, policy, external, keep, stub)
    if as_json:
        write_json(report)
    elif not report["ok"]:
        note("not every dispute ended as labelled")
    raise typer.Exit(TRUE if report["ok"] else FALSE)
