"""`payouts`: the kill switch of the payments."""

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ops.commands.reply import Json, answer, commands, refuse, say

if TYPE_CHECKING:
    from streams.payments.kill_switch import SwitchState

app = commands()

As = Annotated[
    str,
    typer.Option(
        "--as", metavar="USER", help="Who does it; recorded. Without it the user of this machine."
    ),
]
Reason = Annotated[
    str, typer.Option(help="Why, as a code without spaces (gateway_incident); recorded for ever.")
]


@app.callback()
def payouts() -> None:
    """Pause and resume all payments, and say whether they are paused.

    Paused, no payment is begun; those under way end. What is due waits, nothing is lost or refused, and
    each is paid once after the resume. Where the state cannot be read payout pays nothing.

    Payout pauses by itself when the sum paid under a policy in 15 minutes would pass the pack's
    payout_ceiling_minor. Only a person resumes; the sum is then counted anew.
    """


@app.command()
def state(as_json: Json = False) -> None:
    """Say whether payments are paused, since when, by whom and why.

    Examples:

      refund-bench payouts state
      refund-bench payouts state --json | jq .paused
    """
    from ops.reachable import need_kafka
    from topologies.switch_desk import read_switch

    need_kafka()
    _tell(as_json, read_switch(), changed=False)


@app.command()
def pause(as_user: As = "", reason: Reason = "unstated", as_json: Json = False) -> None:
    """Pause every payment, of every policy. Paused already, nothing changes.

    Examples:

      refund-bench payouts pause --as asha --reason gateway_incident
    """
    _turn(as_json, _person(as_user), _code("--reason", reason), pausing=True)


@app.command()
def resume(as_user: As = "", reason: Reason = "unstated", as_json: Json = False) -> None:
    """Let payments go again. After a trip the 15 minutes begin anew, and the payment that tripped it goes.

    Examples:

      refund-bench payouts resume --as asha --reason sums_checked
    """
    _turn(as_json, _person(as_user), _code("--reason", reason), pausing=False)


def _turn(as_json: bool, user: str, reason: str, pausing: bool) -> None:
    from ops.reachable import need_kafka
    from streams.payments import kill_switch
    from topologies import clients
    from topologies.switch_desk import BROKER_ANSWERS_WITHIN_S, read_switch, write_turn

    need_kafka()
    before, now = read_switch(), datetime.now(UTC)
    make = kill_switch.pause if pausing else kill_switch.resume
    turn = make(before, user, reason, now)
    if turn is not None:
        producer = clients.transactional_producer("refund-bench.payouts", 0)
        producer.init_transactions(BROKER_ANSWERS_WITHIN_S)
        write_turn(producer, turn)
    _tell(as_json, read_switch() if turn else before, changed=turn is not None)


def _tell(as_json: bool, state: "SwitchState", changed: bool) -> None:
    told: dict[str, Any] = {
        "ok": True,
        "changed": changed,
        "paused": state.paused,
        "since": state.since.isoformat() if state.since else None,
        "by": state.by,
        "reason": state.reason,
        "tripped": state.tripped,
        "tripped_on": state.tripped_on if state.tripped else None,
        "counted_from": state.counted_from.isoformat() if state.counted_from else None,
    }

    def words() -> None:
        if state.since is None:
            say("payouts are running; nobody ever paused them")
            return
        said = "paused" if state.paused else "running"
        say(
            f"payouts are {said} since {state.since:%Y-%m-%d %H:%M:%S} UTC, by {state.by}: {state.reason}"
        )

    answer(as_json, told, words)


def _person(given: str) -> str:
    """Who turns the switch. A name that is given must be in the roles file, where there is one: pausing is
    for whoever may write to the topic, but no typing error goes on record."""
    from ops.operations import actor
    from ops.reviews.roles import SETTING, load_roles
    from streams.payments.kill_switch import PAYOUT

    user = actor(given)
    if user == PAYOUT:
        refuse(f"--as: {user!r} is the app's own name", "name the person")
    if given and os.environ.get(SETTING):
        roles = load_roles()
        if given not in roles.users:
            refuse(f"--as: {given!r} is not a user of {roles.path}", f"add [users.{given}] to it")
    return user


def _code(option: str, text: str) -> str:
    from pydantic import TypeAdapter, ValidationError

    from schemas.base import Id

    try:
        return str(TypeAdapter(Id).validate_python(text))
    except ValidationError:
        refuse(f"{option}: {text!r} is not a code", "use letters, digits, _ and -, without spaces")
