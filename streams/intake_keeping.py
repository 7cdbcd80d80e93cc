"""How long intake remembers an order, and for how much shorter a time its records: by timers, never by a TTL."""

from datetime import datetime, timedelta

from schemas.timer import Timer
from streams.emit import Emit, start, timer_id
from streams.intake_memory import IntakeState

STAGE = "intake"
RECORDS_KEPT = timedelta(days=30)
"""How long snapshots are kept, asked for or not: as long as their topic keeps them."""
RECORDS_ONLY = {"of": "records"}
"""The payload of the deadline that ends the snapshots and not the order's memory."""


def keep_records(
    state: IntakeState, order_id: str, now: datetime
) -> tuple[IntakeState, list[Emit]]:
    """Keep the snapshots for as long as their topic would: they may quote people, and the order's memory
    is kept for much longer than that."""
    due_at = now + RECORDS_KEPT
    if state.records_until is not None and state.records_until > due_at - timedelta(days=1):
        return state, []
    timer = Timer(
        at=now,
        timer_id=timer_id(STAGE, "records", order_id),
        stage=STAGE,
        kind="retire",
        waiting_key=order_id,
        due_at=due_at,
        payload=RECORDS_ONLY,
    )
    return state.model_copy(update={"records_until": due_at}), [start(timer)]


def keep_for(
    state: IntakeState, order_id: str, span: timedelta, now: datetime
) -> tuple[IntakeState, list[Emit]]:
    """Forget the order no sooner than `span` from now: a timer, never a TTL, since a TTL runs on
    event time and one record with a bad timestamp would erase every order's memory."""
    due_at = now + span
    if state.retire_at is not None and state.retire_at > due_at - timedelta(days=1):
        return state, []
    timer = Timer(
        at=now,
        timer_id=timer_id(STAGE, "retire", order_id),
        stage=STAGE,
        kind="retire",
        waiting_key=order_id,
        due_at=due_at,
    )
    return state.model_copy(update={"retire_at": due_at}), [start(timer)]
