"""The officer's desk in words: a line of the queue, a case, what became of a review."""

from typing import Any

from ops.commands.reply import visible
from ops.reviews.desk import Result
from schemas.money import show
from schemas.review import Review


def queue_line(item: dict[str, Any]) -> str:
    """One dispute of the queue, on two lines."""
    marks = [
        "SAFETY" if item["safety"] else "",
        "OVERDUE" if item["overdue"] else "",
        "two people" if item["people"] == 2 else "",
        f"waits for {item['waits_for'].replace('_', ' ')}" if item["waits_for"] != "person" else "",
        f"{item['attached']} attached" if item["attached"] else "",
    ]
    by = f"by {item['decide_by']}" if item["decide_by"] else "without a date"
    worth = ", ".join(
        f"{name} {_money(item[key], item['currency'])}"
        for name, key in (("priced", "pending_minor"), ("at most", "ceiling_minor"))
    )
    what = ", ".join(item["escalated"]) or item["decision_rule"] or "the dispute"
    return (
        f"{item['dispute_id']}  {item['order_id']}  {', '.join(mark for mark in marks if mark)}\n"
        f"    {what}; {worth}; {' or '.join(item['roles']) or 'nobody'} {by}, "
        f"{item['age_s'] // 3600} h old"
    )


def result_lines(review: Review, result: Result) -> list[str]:
    """What became of a review."""
    decision, payment = result.decision, result.payment
    verb = "refused" if result.refused else "done"
    lines = [f"{review.dispute_id}  {verb}: {result.meaning}"]
    if decision.amount_minor:
        amount = show(decision.amount_minor, decision.currency)
        state = f"{payment.status} under {payment.payment_id}" if payment else "not answered yet"
        lines.append(f"  {amount}, {state}")
    if decision.needs_person:
        lines.append("  it still waits for a person")
    return lines


def case(found: dict[str, Any]) -> Any:
    """The case as a rich group: the complaint, a table of claim beside record, what was done since."""
    from rich.console import Group

    parts: list[Any] = [_text(_heading(found), "bold")]
    if found["complaint"]:
        parts += [_text(found["complaint"]["text"], "italic"), _text("")]
    if found["problem"]:
        parts.append(_text(f"problem: {found['problem']}", "red"))
    parts += [
        _text(f"screening: {flag['rule']} in {flag['where']}", "red") for flag in found["screening"]
    ]
    if found["claims"]:
        parts.append(_side_by_side(found))
    elif found["evidence"] and found["evidence"]["record"]:
        parts.append(_text(_fields(found["evidence"]["record"])))
    parts += [_text(line) for line in _since(found)]
    return Group(*parts)


def _heading(found: dict[str, Any]) -> str:
    currency = found["currency"]
    return (
        f"{found['dispute_id']}  order {found['order_id']}  {found['status']}"
        + ("  SAFETY" if found["safety"] else "")
        + ("  SIMULATED" if found["simulated"] else "")
        + f"\n{found['decision_rule']}, tier {found['tier']}; paid {_money(found['paid_minor'], currency)}, "
        f"priced {_money(found['pending_minor'], currency)}, at most {_money(found['ceiling_minor'], currency)}"
        + (f"; decide by {found['decide_by'].isoformat()}" if found["decide_by"] else "")
        + (f"; waits for {found['waits_for'].replace('_', ' ')}" if found["waits_for"] else "")
    )


def _side_by_side(found: dict[str, Any]) -> Any:
    from rich.table import Table

    table = Table(show_lines=True)
    for title in ("claim", "what the record says", "bench and money"):
        table.add_column(title, overflow="fold")
    currency = found["currency"]
    for claim in found["claims"]:
        votes = ", ".join(f"{n} {name}" for name, n in (claim["votes"] or {}).items() if n)
        bench = [f"{claim['ruling'] or 'not counted'} ({votes or 'no votes'})"]
        bench += [f"seat {one['seat']} {one['ruling']}: {one['reason']}" for one in claim["judges"]]
        bench.append(f"{claim['disposition'] or 'not priced'}: {claim['basis'] or ''}")
        if claim["disposition"] == "person":
            priced = _money(claim["amount_if_upheld_minor"], currency)
            bench.append(f"if upheld {priced}, at most {_money(claim['ceiling_minor'], currency)}")
        goods = f"\n{claim['line_id']} × {claim['quantity'] or '?'}" if claim["line_id"] else ""
        table.add_row(
            _text(f"{claim['category']}{goods}\n{claim['text']}"),
            _text(_fields(claim["record"]) or "nothing"),
            _text("\n".join(bench)),
        )
    return table


def _since(found: dict[str, Any]) -> list[str]:
    lines = []
    for review in found["reviews"]:
        stated = f" {_money(review['amount_minor'], found['currency'])}" if "amount_minor" in review else ""  # fmt: skip
        lines.append(
            f"{review['at']}  {review['action']}{stated} by {review['reviewer']} ({review['role']}), "
            f"{review['reason_code']}: {review['outcome'] or 'not decided on yet'}"
        )
        if review.get("note"):
            lines.append(f"    {review['note']}")
        came = review.get("attachment")
        if came:
            kept = f", kept at {came['reference']}" if came.get("reference") else ""
            lines.append(f"    {came['name']}, {came['size_bytes']} bytes, {came['content_hash']}{kept}")  # fmt: skip
            lines += [f"    {line}" for line in came.get("text", "").splitlines()]
    for record in found["records_since_asked"]:
        lines += [f"{record['at']}  record that came since:", f"    {_fields(record['record'])}"]
    return lines


def _fields(record: dict[str, Any]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in record.items())


def _text(words: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(visible(words), style=style)


def _money(amount: int, currency: str | None) -> str:
    return show(amount, currency) if currency else str(amount)
