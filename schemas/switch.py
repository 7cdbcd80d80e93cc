"""The kill switch of the payments: the state that every payout app follows."""

from schemas.base import Event, Id, UtcDatetime

PAYOUTS = "payouts"
"""The one switch there is, and its key."""


class Switch(Event):
    """Key: switch; compacted. No record means that nobody ever paused."""

    switch: Id = PAYOUTS
    paused: bool
    actor: Id
    """The user, or `payout` where it tripped by itself."""
    reason_code: Id
    """A code, never a sentence: the topic is kept for ever."""
    operation_id: Id
    """The act on `operations`, written in the same transaction."""
    counts_anew: bool = False
    """True where a person resumed after a trip: the ceiling's window begins at this record's own time."""
    counted_from: UtcDatetime | None = None
    """Where the window began by an earlier record, by the broker's clock."""
    tripped_on: Id | None = None
    """The payment that would have passed the ceiling: the resume lets it through, whatever its amount."""
