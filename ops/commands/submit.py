"""`submit`: file complaints, as an upstream with the `records` role does."""

import dataclasses
from typing import Annotated

import typer

from ops.commands.reply import (
    BAD_INPUT,
    TRUE,
    Json,
    answer,
    commands,
    note,
    read_input,
    refuse,
    say,
)

app = commands()


@app.command()
def submit(
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="JSON lines, or one object; - for stdin.")
    ],
    policy: Annotated[str, typer.Option(help="The policy, whatever the lines say.")] = "",
    inline: Annotated[
        bool, typer.Option("--inline", help="Send a case's evidence inside its complaint.")
    ] = False,
    as_json: Json = False,
) -> None:
    """File a case, a complaint, evidence, or JSON lines of them. Answers when Kafka has acknowledged every record.

    A complaint goes to `complaints`, a case's evidence to `evidence`, both under the order's id. Evidence that
    names the order and nothing else counts as none, and is not sent.

    A line that the apps would refuse is rejected, with field, problem and remedy; the others are filed (exit
    code 2). Evidence that cannot be judged on is reported as a warning and filed: a person decides.

    The dispute's id is computed from order and text, so the same complaint is one dispute however often it is
    filed: one that the ledger knows, or that stands twice in the file, counts as a duplicate.

    Examples:

      refund-bench submit case.json
      refund-bench submit complaints.jsonl --policy food-delivery --json
      head -5 cases.jsonl | refund-bench submit -
    """
    raw = read_input(file)
    from datetime import UTC, datetime

    from ops.reachable import need_kafka
    from ops.submitting import submit as send
    from ops.validation import check
    from topologies.settings import Settings

    settings = Settings.from_environment()
    items = check(raw, settings.packs(), datetime.now(UTC), policy)
    if not items:
        refuse(f"{file}: holds no line", "write one JSON object on each line")
    errors = [problem for item in items for problem in item.errors]
    warnings = [problem for item in items if not item.errors for problem in item.warnings]
    rejected = sum(bool(item.errors) for item in items)
    for kind, problems in (("rejected", errors), ("warning", warnings)):
        for one in problems:
            note(f"{kind} {file}:{one.line}: {one.field or 'line'} {one.problem}; {one.remedy}")
    need_kafka()
    filed = send(items, settings.installation_key, inline)

    def tell() -> None:
        for dispute in filed.disputes:
            known = "  (known already)" if dispute["duplicate"] else ""
            say(f"{dispute['order_id']}  {dispute['dispute_id']}{known}")
        say(
            f"{filed.accepted} accepted, {filed.duplicates} duplicates, {rejected} rejected, "
            f"{filed.evidence} records of evidence"
        )

    answer(
        as_json,
        {
            "ok": not rejected,
            **dataclasses.asdict(filed),
            "rejected": rejected,
            "errors": [dataclasses.asdict(one) for one in errors],
            "warnings": [dataclasses.asdict(one) for one in warnings],
        },
        tell,
        BAD_INPUT if rejected else TRUE,
    )
