"""`up`: the whole of Refund Bench on this machine until Ctrl-C."""

from typing import Annotated

import typer

from ops.commands.reply import commands, note, refuse

app = commands()
EVERY_S = 5.0
NETWORK_GROUPS = ("extraction", "judge", "payout", "letters", "delivery")


@app.command()
def up(
    provider: Annotated[
        str,
        typer.Option(
            envvar="REFUND_BENCH_PROVIDER",
            help="Who reads and rules: offline-rules (a labelled stand-in), anthropic, openai.",
        ),
    ] = "offline-rules",
    broker: Annotated[
        str, typer.Option(help="local starts Apache Kafka; external uses REFUND_BENCH_BROKER.")
    ] = "local",
    stub: Annotated[
        bool, typer.Option("--stub", help="Start the LLM stub and point the provider's SDK at it.")
    ] = False,
    folder: Annotated[
        str | None,
        typer.Option(help="Where data and logs live; by default in the user's state folder."),
    ] = None,
) -> None:
    """Start Kafka, the ClickHouse engine, the gateway and every app; restart what dies; stop them all on Ctrl-C.

    A line says state, lag and restarts of one app. Lag counts Kafka's transaction markers too: idle is a few above
    0, trouble is lag that grows, and `?` is a Kafka that is away and does not tell.

    Addresses and the installation key are left for the other commands, so that `submit`, `status`, `explain` and
    `query` work in a second terminal while this runs. Data stay in the folder.

    Examples:

      refund-bench up --provider offline-rules
      refund-bench up --provider anthropic --stub
      REFUND_BENCH_BROKER=kafka:9092 refund-bench up --provider offline-rules --broker external
    """
    import os
    import signal
    import threading
    from pathlib import Path

    from ops.local.environment import clear_local_environment, local_file, write_local_environment
    from ops.local.stack import LocalStack

    if broker not in ("local", "external"):
        refuse(f"--broker {broker!r} is not known", "local or external")
    external = os.environ.get("REFUND_BENCH_BROKER") if broker == "external" else None
    if broker == "external" and not external:
        refuse("REFUND_BENCH_BROKER is not set", "set it, or use --broker local")
    done = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: done.set())
    home = Path(folder) if folder else local_file().parent / "up"
    if provider == "offline-rules":
        note("SIMULATED: offline-rules stands in for the models; every ruling says so")
    if stub and provider == "offline-rules":
        refuse(
            "offline-rules makes no calls that a stub could answer", "choose anthropic or openai"
        )
    if stub:
        note("SIMULATED: the stub answers from offline-rules; every ruling says so")
    stack = LocalStack(home, provider, external, stub_flags=() if stub else None)
    try:
        stack.start(lambda step: note(f"starting {step}"))
        write_local_environment(stack.environment)
        note(f"Kafka {stack.bootstrap}; data and logs in {home}; Ctrl-C to stop")
        told: dict[str, str] = {}
        while not done.is_set():
            behind = _behind(stack.bootstrap)
            for status in stack.status():
                lag = (
                    "?"
                    if behind is None
                    else sum(n for group, n in behind.items() if _is_of(status.name, group))
                )
                line = (
                    f"{status.state:10} lag {lag:<6} restarts {status.restarts:<3} {status.address}"
                )
                if told.get(status.name) != line:
                    told[status.name] = line
                    note(f"{status.name:12} {line}")
            done.wait(EVERY_S)
    finally:
        clear_local_environment()
        stack.stop()
    note("stopped")


def _behind(bootstrap: str) -> dict[str, int] | None:
    """Each group's lag; None while Kafka is away."""
    from confluent_kafka import KafkaException

    from ops.local.lag import lags

    try:
        return lags(bootstrap)
    except KafkaException:
        return None


def _is_of(process: str, group: str) -> bool:
    if process == "network":
        return group.split(".")[-1].split("-")[0] in NETWORK_GROUPS
    return group.startswith(f"refund-bench.{process}")
