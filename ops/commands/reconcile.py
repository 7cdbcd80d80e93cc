"""`reconcile`: does the money add up between decisions, gateway, ledger and ClickHouse."""

import os
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer

from ops.commands.reply import (
    DEPENDENCY_DOWN,
    FALSE,
    TRUE,
    Failure,
    Json,
    answer,
    commands,
    refuse,
    say,
)

app = commands()


@app.command()
def reconcile(
    wait: Annotated[
        float,
        typer.Option(min=0, help="Seconds the stages are given to finish what is under way."),
    ] = 10.0,
    as_json: Json = False,
) -> None:
    """Compare, dispute by dispute and in total, what was decided (Kafka) with what the gateway paid, what the
    ledger says and what analysts see in ClickHouse. Every difference is printed; exit code 1 if there is any.

    It only reads, and may run at any time: what a stage has yet to do is in flight, not different, however long
    it takes. Money at the gateway that no decision explains is a difference too. Memory stays bounded: the
    sources are compared in a temporary file.

    Exit code 3 where Kafka, the gateway or ClickHouse is away; the message says which.

    Examples:

      refund-bench reconcile
      refund-bench reconcile --wait 60 --json | jq '.differences[] | {dispute_id, what}'
    """
    from ops.reachable import need_kafka
    from ops.reconcile.run import Sources, reconcile
    from sinks.connection import address_from, connect
    from streams.payments.port import GatewayUnavailable
    from streams.payments.registry import open_gateway
    from streams.sealing import DecisionSeal
    from topologies.settings import Settings

    settings = Settings.from_environment()
    try:
        address = address_from()
    except ValueError as error:
        refuse(str(error))
    need_kafka()
    client = connect(address)
    gateway: Callable[[], Any] = partial(
        open_gateway, settings.gateway_kind, settings.gateway_url, os.environ
    )
    try:
        seal = DecisionSeal(settings.installation_key)
        found = reconcile(Sources(gateway, client, seal), wait)
    except GatewayUnavailable as away:
        raise Failure(
            f"the gateway ({settings.gateway_kind}) does not answer: {away}",
            "check REFUND_BENCH_GATEWAY, or start `refund-bench up`",
            DEPENDENCY_DOWN,
        ) from None
    finally:
        client.close()
    answer(as_json, found, lambda: _tell(found), TRUE if found["ok"] else FALSE)


def _tell(found: dict[str, Any]) -> None:
    from schemas.money import show

    for currency, by_source in found["totals"].items():
        say(currency)
        for source, amount in by_source.items():
            say(f"  {source:12}{show(amount, currency):>20}")
    say(f"{found['disputes']} disputes, {found['in_flight']} of them in flight")
    for stage, count in found["waiting_for"].items():
        if count:
            say(f"  {count} events wait for {stage}")
    for one in found["differences"]:
        sums = ", ".join(
            f"{source} {'nothing' if one[source] is None else one[source]}"
            for source in ("decisions", "gateway", "ledger", "clickhouse")
        )
        say(
            f"{one['dispute_id']} {one['payment_id'] or ''}: {one['what']}: {one['meaning']} ({sums})"
        )
    say("it adds up" if found["ok"] else f"{len(found['differences'])} differences")
