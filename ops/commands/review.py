"""`review`: what waits for a person, and deciding it."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ops.commands.reply import (
    FALSE,
    TRUE,
    Json,
    answer,
    commands,
    console,
    note,
    read_input,
    refuse,
    say,
    visible,
)

app = commands()

Dispute = Annotated[
    str, typer.Argument(metavar="ID", help="A dispute's id; an order's where it has one dispute.")
]
User = Annotated[str, typer.Option("--as", help="Who you are, as the roles file names you.")]
Role = Annotated[
    str, typer.Option("--role", help="In which of your roles; by default the one that may most.")
]
Reason = Annotated[str, typer.Option("--reason", help="A reason code, without spaces.")]
Note = Annotated[str, typer.Option("--note", help="A note for your colleagues; kept 30 days.")]
ReviewId = Annotated[
    str, typer.Option("--review-id", help="Your own id, so that sending it again is safe.")
]
Wait = Annotated[float, typer.Option("--wait", help="Seconds to wait for what becomes of it.")]


@app.callback()
def review() -> None:
    """The officer's desk: what waits for a person, a case with claim and record side by side, and deciding it.

    Who may decide is in the file that REFUND_BENCH_ROLES names; up to which amount, in the dispute's pack. A review
    takes effect once; a second or contradicting one is refused with a reason and recorded. Exit code 1 where it was
    refused.
    """


@app.command("list")
def list_waiting(
    policy: Annotated[str, typer.Option(help="Only disputes under this policy.")] = "",
    overdue: Annotated[bool, typer.Option("--overdue", help="Only those past their time.")] = False,
    as_json: Json = False,
) -> None:
    """What waits for a person, most pressing first: safety, then by when it must be decided. No customer's words.

    Examples:

      refund-bench review list
      refund-bench review list --policy bank-disputes-ng --overdue --json | jq -r '.items[].dispute_id'
    """
    from ops.packs import load_packs
    from ops.reachable import need_kafka
    from ops.reviews.queue import queue

    packs = load_packs()
    need_kafka()
    now = datetime.now(UTC)
    items = [waiting.as_json(now) for waiting in queue(packs, policy)]
    items = [item for item in items if item["overdue"] or not overdue]

    def tell() -> None:
        from ops.reviews.showing import queue_line

        for item in items:
            say(queue_line(item))
        say(f"{len(items)} disputes wait for a person")

    answer(as_json, {"count": len(items), "items": items}, tell)


@app.command()
def show(identifier: Dispute, user: User = "", role: Role = "", as_json: Json = False) -> None:
    """One case: each claim beside what the record says of it, how the bench ruled, what a person may pay, what was
    done since and what came. It shows the customer's words, and that you read them is recorded first.

    Examples:

      refund-bench review show d-4f0c1b2a9d8e7f6a5b4c3d2e --as asha
      refund-bench review show order-1840 --as asha --json | jq '.claims[] | {category, text, record}'
    """
    from ops.operations import record_reading
    from ops.reachable import need_kafka
    from ops.reviews import desk
    from ops.reviews.case_file import case_file
    from ops.trail import read_trail

    roles, packs = _ready()
    need_kafka()
    entry = desk.dispute(identifier)
    acting = _role(roles, packs, entry, user, role)
    record_reading(entry.dispute_id, user, "review show", datetime.now(UTC), role=acting)
    found = case_file(read_trail(entry))

    def tell() -> None:
        from ops.reviews.showing import case

        console().print(case(found))

    answer(as_json, found, tell)


@app.command()
def approve(
    identifier: Dispute, reason: Reason, user: User = "", role: Role = "", note: Note = "",
    review_id: ReviewId = "", wait: Wait = 30, as_json: Json = False,
) -> None:  # fmt: skip
    """Pay what waits, as the rules price it. In tier 3 it takes two different people.

    Examples:

      refund-bench review approve d-4f0c1b2a9d8e7f6a5b4c3d2e --as asha --reason photo_shows_it
    """
    _file(identifier, "approve", reason, user, role, note, review_id, wait, as_json)


@app.command()
def reject(
    identifier: Dispute, reason: Reason, user: User = "", role: Role = "", note: Note = "",
    review_id: ReviewId = "", wait: Wait = 30, as_json: Json = False,
) -> None:  # fmt: skip
    """Close what waits without paying it.

    Examples:

      refund-bench review reject d-4f0c1b2a9d8e7f6a5b4c3d2e --as asha --reason not_shown
    """
    _file(identifier, "reject", reason, user, role, note, review_id, wait, as_json)


@app.command()
def amount(
    identifier: Dispute,
    amount_minor: Annotated[int, typer.Argument(metavar="AMOUNT_MINOR", help="In minor units: 6000 is 60.00.", min=0)],
    reason: Reason, user: User = "", role: Role = "", note: Note = "",
    review_id: ReviewId = "", wait: Wait = 30, as_json: Json = False,
) -> None:  # fmt: skip
    """Pay another amount for all that waits, up to its ceiling. Where the rules priced nothing (no evidence, an
    order too old, an appeal) that is what is left of the order; without a record, the pack's limit.

    Examples:

      refund-bench review amount d-4f0c1b2a9d8e7f6a5b4c3d2e 6000 --as asha --reason half_of_it
    """
    _file(
        identifier, "amount", reason, user, role, note, review_id, wait, as_json,
        amount_minor=amount_minor,
    )  # fmt: skip


@app.command("more-evidence")
def more_evidence(
    identifier: Dispute, reason: Reason = "more_evidence_needed", user: User = "", role: Role = "",
    note: Note = "", review_id: ReviewId = "", wait: Wait = 30, as_json: Json = False,
) -> None:  # fmt: skip
    """Ask the customer for more. The case waits; what comes is attached for you and never judged: records on the
    topic `evidence` by themselves, what the customer sends by `review attach`.

    Examples:

      refund-bench review more-evidence d-4f0c1b2a9d8e7f6a5b4c3d2e --as asha
    """
    _file(identifier, "more_evidence", reason, user, role, note, review_id, wait, as_json)


@app.command()
def attach(
    identifier: Dispute,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="What came; - for stdin.")],
    reference: Annotated[str, typer.Option(help="Where the file is kept, if it is no text.")] = "",
    reason: Reason = "evidence_came", user: User = "", role: Role = "", note: Note = "",
    review_id: ReviewId = "", wait: Wait = 30, as_json: Json = False,
) -> None:  # fmt: skip
    """Put what came with a case that waits. A text travels whole and is kept 30 days; of anything else the hash and
    the place where you keep it.

    Examples:

      refund-bench review attach d-4f0c1b2a9d8e7f6a5b4c3d2e mail.txt --as asha
      refund-bench review attach order-1840 photo.jpg --reference https://files.example/1840.jpg --as asha
    """
    from ops.reviews.attaching import attachment

    came = attachment(file, read_input(file), reference)
    _file(identifier, "attach", reason, user, role, note, review_id, wait, as_json, attachment=came)


@app.command()
def appeal(
    identifier: Dispute, reason: Reason = "customer_appeals", user: User = "", role: Role = "",
    note: Note = "", review_id: ReviewId = "", wait: Wait = 30, as_json: Json = False,
) -> None:  # fmt: skip
    """Record that the customer appeals. The dispute comes before a person, another one than decided it; nothing is
    judged again, and nothing is paid twice.

    Examples:

      refund-bench review appeal d-4f0c1b2a9d8e7f6a5b4c3d2e --as asha
    """
    _file(identifier, "appeal", reason, user, role, note, review_id, wait, as_json)


def _ready() -> tuple[Any, Any]:
    from ops.packs import load_packs
    from ops.reviews.roles import load_roles

    return load_roles(), load_packs()


def _role(roles: Any, packs: Any, entry: Any, user: str, wanted: str) -> str:
    """The role in which the user acts on the dispute, checked against the roles file and the pack."""
    from ops.reviews.queue import pack_of

    if not user:
        refuse("--as is missing", "say who you are, as the roles file names you")
    pack = pack_of(entry, packs)
    if pack is None:
        refuse(
            f"{entry.dispute_id}: its policy pack is not loaded here",
            "wait until intake has opened it, or name the pack's folder in REFUND_BENCH_PACKS",
        )
    role: str = roles.role(user, pack, wanted)
    return role


def _file(
    identifier: str, action: str, reason: str, user: str, role: str, remark: str, review_id: str,
    wait: float, as_json: bool, **more: Any,
) -> None:  # fmt: skip
    """Check who it is, send the review, wait, and say what became of it."""
    from pydantic import ValidationError

    from ops.operations import record, roles_changed
    from ops.reachable import need_kafka
    from ops.reviews import desk
    from schemas.review import Review

    roles, packs = _ready()
    need_kafka()
    entry = desk.dispute(identifier)
    acting = _role(roles, packs, entry, user, role)
    desk.check_kept(entry, packs)
    now = datetime.now(UTC)
    record(
        roles_changed(roles.content, user, now)
    )  # under the content's own id: told again, no change
    fields = {
        **desk.about(entry, now), "review_id": review_id or desk.new_id(), "action": action,
        "reason_code": reason, "note": remark, "reviewer": user, "role": acting, **more,
    }  # fmt: skip
    try:
        made = Review.model_validate(fields)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        field = ".".join(str(part) for part in fault["loc"]) or "review"
        refuse(f"--{field.replace('reason_code', 'reason').replace('_', '-')}: {fault['msg']}", "see `refund-bench review --help`")  # fmt: skip
    note(f"{action} of {entry.dispute_id} as {user} ({acting})")
    result = desk.file(made, wait, entry.filed_at if review_id else now)

    def tell() -> None:
        from ops.reviews.showing import result_lines

        for line in result_lines(made, result):
            say(visible(line))

    answer(as_json, result.as_json(made), tell, TRUE if result.ok else FALSE)
