"""`status`: where a dispute stands."""

from typing import Annotated, Any, NoReturn

import typer

from ops.commands.reply import FALSE, Failure, Json, answer, commands, say

app = commands()


@app.command()
def status(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A dispute's id, or an order's.")],
    as_json: Json = False,
) -> None:
    """Where a dispute stands: status, rule, amounts, who must decide. Read from Kafka's ledger, no free text.

    An order may have several disputes: the newest is shown, the others are named. Exit code 1 where nothing is
    known of the id.

    Statuses: received, awaiting_evidence, extracting, judging, settling, paying, and at the end paid,
    part_paid_in_review, in_review or closed_no_payment.

    Examples:

      refund-bench status d-4f0c1b2a9d8e7f6a5b4c3d2e
      refund-bench status order-1840 --json | jq .status
    """
    from ops.reachable import need_kafka
    from ops.trail import complaints_of, find

    need_kafka()
    entries = find(identifier)
    if not entries:
        filed = complaints_of(identifier)
        if not filed:
            unknown(identifier)
        answer(as_json, _received(identifier, filed), lambda: say(f"{identifier}: received"))
        return
    newest, others = entries[0], [entry.dispute_id for entry in entries[1:]]
    found = newest.model_dump(mode="json")
    answer(as_json, {**found, "others": others}, lambda: _tell(newest, others))


def unknown(identifier: str) -> NoReturn:
    """End with exit code 1: the ledger and the filed complaints do not have it."""
    raise Failure(
        f"nothing is known of {identifier!r}",
        "if it was filed this second, ask again; else check the id, and `refund-bench dead-letters list`",
        FALSE,
        id=identifier,
    )


def _received(identifier: str, filed: list[Any]) -> dict[str, Any]:
    """A complaint that intake has not come to yet."""
    import os

    from schemas.ids import dispute_id

    complaint, at = filed[-1]
    key = os.environ.get("REFUND_BENCH_INSTALLATION_KEY", "").encode()
    return {
        "dispute_id": dispute_id(key, complaint.order_id, complaint.text) if key else None,
        "order_id": identifier,
        "customer_id": complaint.customer_id,
        "policy": complaint.policy,
        "status": "received",
        "filed_at": complaint.filed_at.isoformat(),
        "stages": {"received": at.isoformat()},
        "others": [],
    }


def _tell(entry: Any, others: list[str]) -> None:
    from schemas.money import show

    say(f"{entry.dispute_id}  {entry.status}" + ("  SIMULATED" if entry.simulated else ""))
    say(f"  order {entry.order_id}, policy {entry.policy}, tier {entry.tier or '?'}")
    if entry.decision_rule:
        say(f"  {entry.decision_rule}")
    if entry.currency:
        parts = [
            f"{name} {show(amount, entry.currency)}"
            for name, amount in (
                ("decided", entry.amount_minor),
                ("paid", entry.paid_minor),
                ("waiting for a person", entry.pending_minor),
            )
        ]
        say("  " + ", ".join(parts))
    if entry.needs_person:
        waits = "" if entry.waits_for in (None, "person") else f"; waits for {entry.waits_for.replace('_', ' ')}"  # fmt: skip
        say(f"  a person decides: {', '.join(entry.escalated) or 'the dispute'}{waits}")
    for review in entry.reviews:
        say(f"  review {review}: {entry.review_rules.get(review, 'not decided on yet')}")
    for stage, at in sorted(entry.stages.items(), key=lambda item: item[1]):
        say(f"  {at.isoformat(timespec='milliseconds')}  {stage}")
    if others:
        say(f"  other disputes of the order: {', '.join(others)}")
