"""`explain`: why a dispute ended as it did."""

from typing import Annotated, Any

import typer

from ops.commands.reply import As, Json, answer, commands, console, refuse, visible
from ops.commands.status import unknown

app = commands()


@app.command()
def explain(
    identifier: Annotated[str, typer.Argument(metavar="ID", help="A dispute's id, or an order's.")],
    source: Annotated[
        str, typer.Option("--from", help="kafka or clickhouse; by default Kafka, then ClickHouse.")
    ] = "",
    as_user: As = "",
    as_json: Json = False,
) -> None:
    """Why a dispute ended as it did: complaint, evidence hash, each grievance with every judge's
    ruling, the count and the price line, the rule that decided, the payment, the letter.

    It shows the customer's words: run it where they may be seen. That you read them is recorded first; where that
    fails nothing is shown. With --json also every event as it stands in Kafka (`steps`), with topic, partition and
    offset. Of an order with several disputes the newest is explained. Kafka keeps texts for 30 days; what it no
    longer has is read from ClickHouse.

    Examples:

      refund-bench explain d-4f0c1b2a9d8e7f6a5b4c3d2e
      refund-bench explain order-1840 --json | jq '.grievances[] | {category, ruling, votes}'
    """
    from datetime import UTC, datetime

    from ops.audit.case import SOURCES, find_case
    from ops.explanation import explanation
    from ops.operations import actor, record_reading
    from ops.reachable import need_kafka
    from ops.reviews.since_asked import records_since_asked

    if source not in ("", *SOURCES):
        refuse(f"--from {source!r} is not known", f"one of {', '.join(SOURCES)}")
    by = actor(as_user)
    need_kafka()  # to record the reading, whatever is read
    case = find_case(identifier, source)
    if case is None:
        unknown(identifier)
    found = explanation(case.trail)
    found["source"] = case.source
    found["others"] = case.others
    record_reading(case.dispute_id, by, "explain", datetime.now(UTC))
    found["records_since_asked"] = records_since_asked(case.trail)
    answer(as_json, found, lambda: _show(found))


def _show(found: dict[str, Any]) -> None:
    console().print(tree(found))


def tree(found: dict[str, Any]) -> Any:
    """The explanation as a rich tree. Texts are shown as they are, never read as markup."""
    from rich.tree import Tree

    title = f"{found['dispute_id']}  {found['status']}"
    root = Tree(_text(title + ("  SIMULATED" if found["simulated"] else ""), "bold"))
    pack = found["pack"] or {}
    root.add(
        _text(
            f"order {found['order_id']}, {pack.get('policy')} v{pack.get('pack_version')}, tier {found['tier']}"
        )
    )
    complaint = found["complaint"]
    if complaint:
        heading = root.add(_text(f"complaint, filed {complaint['filed_at'].isoformat()}", "bold"))
        heading.add(_text(complaint["text"], "italic"))
    evidence = found["evidence"]
    if evidence:
        stale = ", STALE: captured before the filing" if evidence["stale"] else ""
        node = root.add(_text(f"evidence {evidence['hash'] or 'none'}{stale}", "bold"))
        for problem in evidence["problems"]:
            node.add(_text(problem, "red"))
    for flag in found["screening"]:
        root.add(_text(f"screening: {flag['rule']} in {flag['where']}; a person decides", "red"))
    if found["left_out"]:
        node = root.add(_text(f"left out: {len(found['left_out'])}", "bold"))
        for one in found["left_out"]:
            node.add(_text(f"{one['kind']}: {one['text']}", "dim"))
    for grievance in found["grievances"]:
        _grievance(root, grievance, found["currency"])
    _ending(root, found)
    return root


def _grievance(root: Any, grievance: dict[str, Any], currency: str | None) -> None:
    line = grievance["line"] or {}
    goods = f" [{grievance['line_id']} × {grievance.get('quantity', '?')}]" if grievance.get("line_id") else ""  # fmt: skip
    votes = {name: n for name, n in (grievance["votes"] or {}).items() if n}
    count = ", ".join(f"{n} {name}" for name, n in votes.items())
    node = root.add(
        _text(
            f"{grievance['index']}. {grievance['category']}{goods}  {grievance['ruling'] or 'not counted yet'}",
            "bold",
        )
    )
    node.add(_text(grievance["text"], "italic"))
    for ruling in grievance["rulings"]:
        judge = f"seat {ruling['seat']} {ruling['provider']}/{ruling['model']} ({ruling['prompt_variant']})"
        why = ruling.get("failure") or ruling["reason"]
        cited = ", ".join(ruling["citations"]) or "nothing"
        node.add(
            _text(f"{judge}: {ruling['ruling']} {ruling['confidence']:.2f}, cites {cited}; {why}")
        )
    if votes:
        node.add(_text(f"count: {count}; confidence {grievance['confidence']:.2f}, closed by {grievance['closed_by']}"))  # fmt: skip
    if line:
        worth = _money(line["amount_minor"], currency)
        held = line["amount_if_upheld_minor"] if line["disposition"] == "person" else 0
        open_part = f", {_money(held, currency)} if a person upholds it" if held else ""
        node.add(
            _text(f"price: {worth}{open_part}; {line['disposition']}; {line['basis']}", "green")
        )


def _ending(root: Any, found: dict[str, Any]) -> None:
    currency = found["currency"]
    for decision in found["decisions"]:
        by = decision["authorised_by"]
        node = root.add(
            _text(f"decision {decision['decision_rule']}: {_money(decision['amount_minor'], currency)}, by {by}", "bold")
        )  # fmt: skip
        if decision["proposed_minor"] != decision["amount_minor"]:
            node.add(_text(f"proposed {_money(decision['proposed_minor'], currency)}"))
        if decision["needs_person"]:
            what = ", ".join(decision["escalated"]) or "the dispute"
            node.add(_text(f"a person decides: {what}", "yellow"))
    for payment in found["payments"]:
        what = payment.get("gateway_ref") or payment.get("refusal") or ""
        root.add(
            _text(
                f"payment {payment['status']} {_money(payment['amount_minor'], payment['currency'])} "
                f"under {payment['payment_id']} at {payment['gateway']} {what}",
                "bold",
            )
        )
    for review in found["reviews"]:
        root.add(
            _text(
                f"review {review['action']} by {review['reviewer']} ({review['role']}), {review['reason_code']}: "
                f"{review['outcome'] or 'not decided on yet'}"
            )
        )
    for record in found.get("records_since_asked", ()):
        root.add(_text(f"record that came after more evidence was asked for, at {record['at']}"))
    for done in found["operations"]:
        root.add(_text(f"{done['action']} by {done['actor']} at {done['at']}", "dim"))
    if found["erased"]:
        root.add(_text(f"{found['erased']} events were erased; their hashes are kept", "yellow"))
    for letter in found["letters"]:
        node = root.add(_text(f"letter, {letter['kind']}, by {letter['written_by']}", "bold"))
        node.add(_text(letter["body"], "italic"))
    if found["unreadable"]:
        root.add(_text(f"{found['unreadable']} records of these keys cannot be read", "red"))
    root.add(_text(f"{found['llm_calls']} calls, {found['audit_entries']} audit entries, chain {found['chain_head']}", "dim"))  # fmt: skip


def _text(words: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(visible(words), style=style)


def _money(amount: int, currency: str | None) -> str:
    from schemas.money import show

    return show(amount, currency) if currency else str(amount)
