"""The kill switch: who may turn it into what, and what is recorded of it.

Paused, no payment is begun; what is due waits and is paid once after the resume. A person pauses and
resumes; payout itself only ever pauses, when the sum paid passes the pack's ceiling. Resuming after
that is a person's word that the sum is right: the window begins anew, and the payment that tripped it
is let through.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from schemas.operation import Operation, OperationAction
from schemas.switch import PAYOUTS, Switch

PAYOUT = "payout"
"""The actor of a trip."""
UNREADABLE = "unreadable_record"
"""The reason of a pause that is nobody's: what lies on the topic is no switch."""


@dataclass(frozen=True)
class SwitchState:
    """The state as last written; the default is that of an installation where nobody ever paused."""

    paused: bool = False
    since: datetime | None = None
    by: str | None = None
    reason: str | None = None
    counted_from: datetime | None = None
    """Payments before it no longer count against the ceiling."""
    tripped_on: str | None = None

    @classmethod
    def of(cls, switch: Switch, at: datetime) -> "SwitchState":
        """The state that a record of the topic tells; `at` is the broker's time of it."""
        return cls(
            paused=switch.paused,
            since=at,
            by=switch.actor,
            reason=switch.reason_code,
            counted_from=at if switch.counts_anew else switch.counted_from,
            tripped_on=switch.tripped_on,
        )

    @classmethod
    def unreadable(cls, at: datetime) -> "SwitchState":
        """What a record that is no switch comes to: paused, until a person resumes."""
        return cls(paused=True, since=at, by=PAYOUT, reason=UNREADABLE)

    @property
    def tripped(self) -> bool:
        """Paused by payout itself."""
        return self.paused and self.by == PAYOUT


@dataclass(frozen=True)
class Turn:
    """One act: the new state and its record for the auditors, written together."""

    switch: Switch
    operation: Operation


def pause(state: SwitchState, actor: str, reason: str, now: datetime) -> Turn | None:
    """Pause; None where it is paused already, and stays as it is."""
    if state.paused:
        return None
    return _turn(state, "payouts_paused", True, actor, "operator", reason, now)


def resume(state: SwitchState, actor: str, reason: str, now: datetime) -> Turn | None:
    """Resume; None where nothing is paused."""
    if not state.paused:
        return None
    turn = _turn(state, "payouts_resumed", False, actor, "operator", reason, now)
    if not state.tripped:
        return turn
    return replace(
        turn,
        switch=turn.switch.model_copy(update={"counts_anew": True, "counted_from": None}),
    )


def trip(
    state: SwitchState, payment_id: str, details: dict[str, str], now: datetime
) -> Turn | None:
    """Pause by ourselves on this payment; None where somebody has paused already."""
    if state.paused:
        return None
    turn = _turn(state, "payouts_tripped", True, PAYOUT, "app", "ceiling_passed", now, details)
    return replace(turn, switch=turn.switch.model_copy(update={"tripped_on": payment_id}))


def _turn(
    state: SwitchState,
    action: OperationAction,
    paused: bool,
    actor: str,
    role: str,
    reason: str,
    now: datetime,
    details: dict[str, str] | None = None,
) -> Turn:
    operation_id = f"{action}:{now.isoformat()}:{actor}"
    operation = Operation(
        at=now,
        operation_id=operation_id,
        subject=PAYOUTS,
        action=action,
        actor=actor,
        role=role,
        reason_code=reason,
        details=details or {},
    )
    switch = Switch(
        at=now,
        paused=paused,
        actor=actor,
        reason_code=reason,
        operation_id=operation_id,
        counted_from=state.counted_from,
        tripped_on=state.tripped_on,
    )
    return Turn(switch, operation)
