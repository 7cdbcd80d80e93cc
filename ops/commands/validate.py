"""`validate`: check a file before it is filed."""

import dataclasses
from collections import Counter
from typing import Annotated

import typer

from ops.commands.reply import FALSE, TRUE, Json, answer, commands, read_input, refuse, say

app = commands()


@app.command()
def validate(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="JSON lines, or one object; - for stdin.")
    ],
    policy: Annotated[str, typer.Option(help="The policy, whatever the lines say.")] = "",
    as_json: Json = False,
) -> None:
    """Check complaints, evidence, or cases of both, as the apps would read them. Needs no broker.

    Every error names the line, the field, what is wrong and what to do, and never quotes the customer.
    Exit code 0 where every line is valid, 1 where one is not, 2 where there is no such file.

    A complaint needs order_id, customer_id, filed_at (with a zone), policy and text. Evidence needs kind,
    customer_id, currency, captured_at and what its kind asks for. A case holds `complaint` and `evidence`.

    Examples:

      refund-bench validate complaints.jsonl
      refund-bench validate --json - < case.json | jq '.errors[]'
      echo '{"order_id": "o-1", "text": "cold"}' | refund-bench validate - --policy food-delivery
    """
    raw = read_input(file)
    from datetime import UTC, datetime

    from ops.packs import load_packs
    from ops.validation import check

    items = check(raw, load_packs(), datetime.now(UTC), policy)
    if not items:
        refuse(f"{file}: holds no line", "write one JSON object on each line")
    errors = [problem for item in items for problem in item.problems]
    kinds = Counter(item.kind for item in items)
    valid = sum(not item.problems for item in items)

    def tell() -> None:
        for one in errors:
            say(f"{file}:{one.line}: {one.field or 'line'} {one.problem}; {one.remedy}")
        say(f"{valid} of {len(items)} lines are valid")

    answer(
        as_json,
        {
            "ok": not errors,
            "valid": valid,
            "lines": len(items),
            "cases": kinds["case"],
            "complaints": kinds["complaint"],
            "evidence": kinds["evidence"],
            "errors": [dataclasses.asdict(one) for one in errors],
        },
        tell,
        FALSE if errors else TRUE,
    )
