"""`privacy`: erasing a customer."""

from collections.abc import Collection
from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, As, Json, answer, commands, note, refuse, say

app = commands()


@app.callback()
def privacy() -> None:
    """Take a customer's words and records out of every store."""


@app.command()
def erase(
    customer: Annotated[str, typer.Option(help="The customer, as upstream names them.")],
    reason: Annotated[str, typer.Option(help="Why, as a code.")] = "request",
    as_user: As = "",
    as_json: Json = False,
) -> None:
    """Erase a customer: complaints, letters, notes, replies of models and evidence, from ClickHouse and the archive.

    Amounts, codes and counts stay, and each event's hash in its place, so the chains still verify. The act is
    recorded first, on every dispute and under the customer's HMAC; where that fails nothing is erased. Kafka lets
    go of its texts within 30 days; the ledger's entries are tombstoned where the dispute is decided. Cut off, run it
    again. Exit code 1 where nothing is known of the customer.

    Needs REFUND_BENCH_INSTALLATION_KEY, and REFUND_BENCH_ARCHIVE where there is an archive.

    Examples:

      refund-bench privacy erase --customer cust-77 --as dpo.name --reason gdpr_17
    """
    from datetime import UTC, datetime

    from pydantic import TypeAdapter, ValidationError

    from ops.archive.folder import VARIABLE
    from ops.commands.archive import open_archive, recorder
    from ops.erasure.erasing import erase_everywhere, recorded
    from ops.erasure.finding import disputes_of, entries_of
    from ops.operations import actor, record
    from ops.reachable import need_kafka
    from schemas.base import Id
    from schemas.ids import customer_hash
    from sinks.connection import address_from, connect
    from topologies.settings import Settings

    for name, value in (("--customer", customer), ("--reason", reason)):
        try:
            TypeAdapter(Id).validate_python(value)
        except ValidationError:
            refuse(f"{name}: is not 1 to 200 characters without spaces", "give it as upstream has it")  # fmt: skip
    by, now = actor(as_user), datetime.now(UTC)
    pseudonym = customer_hash(Settings.from_environment().installation_key, customer)
    need_kafka()
    client = connect(address_from(), timeout_s=3600)
    try:
        entries = entries_of(customer)
        disputes = disputes_of(client, customer) | entries.keys()
        archive = open_archive() if _is_archived(client) else None
        if not disputes:
            answer(as_json, {"ok": False, "customer": pseudonym, "disputes": []}, lambda: say("nothing is known of that customer"), FALSE)  # fmt: skip
        if archive is None:
            note(f"there is no archive yet ({VARIABLE}); nothing to erase there")
            record(*recorded(disputes, pseudonym, by, reason, now))
            found = erase_everywhere(client, None, disputes, entries, now, lambda _: None, _tombstone)  # fmt: skip
        else:
            with archive.alone(by):
                record(*recorded(disputes, pseudonym, by, reason, now))
                written = recorder(by, now, archive.url)
                found = erase_everywhere(client, archive, disputes, entries, now, written, _tombstone)  # fmt: skip
    finally:
        client.close()

    def tell() -> None:
        say(f"{len(found.disputes)} disputes: {found.rows} rows of ClickHouse, {found.archived} events of the archive")  # fmt: skip
        say(f"Kafka lets go of the last text by {found.kafka_until:%Y-%m-%d}")
        if found.open:
            note(f"not decided yet, run it again when they are: {', '.join(found.open)}")

    answer(as_json, {"ok": True, "customer": pseudonym, **vars(found)}, tell, TRUE)


def _is_archived(client: object) -> bool:
    from os import environ

    from ops.archive.folder import VARIABLE

    [[rows]] = client.query("SELECT count() FROM events WHERE archived = 1").result_rows  # type: ignore[attr-defined]
    return bool(rows) or bool(environ.get(VARIABLE))


def _tombstone(disputes: Collection[str]) -> None:
    """Take the entries of these disputes out of the ledger."""
    from ops.submitting import Sender
    from schemas.topics import LEDGER

    sender = Sender()
    for dispute in disputes:
        sender.send(LEDGER.name, dispute, None)
    sender.finish()
