"""Deadlines are events: a stage that opens a wait writes a timer, the timer app answers when due."""

from typing import Any, Literal

from schemas.base import Event, Id, UtcDatetime

TimerKind = Literal["evidence_grace", "tally_window", "tally_deadline", "docket_window", "retire"]


class Timer(Event):
    """Key: timer_id, in a compacted topic; a tombstone ends the wait."""

    timer_id: Id
    stage: Id
    """The stage that waits; the others ignore the deadline."""
    kind: TimerKind
    waiting_key: Id
    """The key under which the waiting stage keeps its state."""
    due_at: UtcDatetime
    payload: dict[str, Any] = {}
    """What the receiver needs even if it holds no state yet."""


class Deadline(Event):
    """Key: the waiting key. At least once; the waiting stage checks its own state."""

    timer_id: Id
    stage: Id
    kind: TimerKind
    waiting_key: Id
    due_at: UtcDatetime
    payload: dict[str, Any] = {}
