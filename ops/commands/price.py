"""`price`: what a case would pay, without a broker or a model."""

from typing import Annotated, Any

import typer

from ops.commands.reply import Json, answer, commands, read_input, refuse, say, visible

app = commands()


@app.command()
def price(
    case: Annotated[str, typer.Argument(metavar="CASE.json|-", help="One case; - for stdin.")],
    as_json: Json = False,
) -> None:
    """Dry run of the money: the functions of the pipeline on one case with given rulings. Moves nothing.

    A case holds `policy`, `complaint` and `evidence`; its grievances come from `expect.grievances`; its rulings
    from `rulings` (["UPHELD", "REJECTED", "ESCALATE"], in the same order) or, without it, from each `truth`.
    Evidence, screening, safety words, tier, deadlines, caps and the customer's limit are checked as in the pipeline.

    Examples:

      refund-bench price case.json
      head -1 ops/cases/food-delivery.jsonl | refund-bench price - --json | jq .amount_minor
      jq '.rulings = ["UPHELD", "REJECTED"]' case.json | refund-bench price -
    """
    raw = read_input(case)
    from datetime import UTC, datetime

    from ops.json_lines import Problem, read_object, split
    from ops.packs import load_packs
    from streams.dry_run import price_case

    lines = split(raw)
    if len(lines) != 1:
        refuse(f"{case}: holds {len(lines)} lines, not one case", "give one, e.g. `head -1`")
    body = read_object(*lines[0])
    if isinstance(body, Problem):
        refuse(f"{case}: {body.field or 'the case'} {body.problem}", body.remedy)
    found = price_case(body, load_packs(), datetime.now(UTC))
    answer(as_json, found, lambda: _tell(found))


def _tell(found: dict[str, Any]) -> None:
    from schemas.money import show

    currency = found["currency"]
    for line in found["lines"]:
        goods = f" {line['line_id']} × {line.get('quantity')}" if line.get("line_id") else ""
        say(
            f"{show(line['amount_minor'], currency):>14}  {line['category']}{goods}  {line['ruling']}, "
            f"{line['disposition']}: {visible(line['basis'])}"
        )
        if line["disposition"] == "person":
            worth = show(max(line["ceiling_minor"], line["amount_if_upheld_minor"]), currency)
            reason = f": {visible(line['person_reason'])}" if line["person_reason"] else ""
            say(f"{'':16}a person decides, up to {worth}{reason}")
    say(f"{show(found['amount_minor'], currency):>14}  {found['decision_rule']}")
    if found["proposed_minor"] != found["amount_minor"]:
        say(f"{show(found['proposed_minor'], currency):>14}  proposed, before the stop")
    if found["needs_person"]:
        say(f"{'':16}a person decides: {', '.join(found['escalated']) or 'the dispute'}")
    for flag in found["screening"]:
        say(f"{'':16}screening: {flag['rule']} in {flag['where']}")
    for problem in found["problems"]:
        say(f"{'':16}{visible(problem)}")
    say(f"{'':16}tier {found['tier']}, resolve by {found['resolve_by'] or 'no date'}")
