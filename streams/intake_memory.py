"""What intake remembers of an order: complaints that wait, disputes that were opened, the newest records."""

from datetime import UTC, datetime
from typing import Any

from schemas.base import Model, UtcDatetime, canonical_bytes
from schemas.complaint import Complaint
from schemas.evidence import MAX_EVIDENCE_BYTES
from streams.facts import moment

SNAPSHOTS_KEPT = 4
"""Newest snapshots an order keeps; a complaint needs one, an operator may send corrections."""
TOO_LARGE = "too_large"
"""Marks what is kept of a record that was over the size, so that a person learns why it was not used."""


class Waiting(Model):
    """A complaint that waits for the records of its order."""

    complaint: Complaint
    received_at: UtcDatetime
    policy: str
    pack_version: int


class IntakeState(Model):
    """Per order: what waits, what was opened, and the newest snapshots."""

    waiting: dict[str, Waiting] = {}
    opened: tuple[str, ...] = ()
    snapshots: tuple[dict[str, Any], ...] = ()
    retire_at: UtcDatetime | None = None


def remember(state: IntakeState, body: dict[str, Any]) -> IntakeState:
    """Keep the newest captures. One that cannot be read is kept while there is room: it may be why a
    dispute goes to a person as `evidence_invalid`."""
    if len(canonical_bytes(body)) > MAX_EVIDENCE_BYTES:
        identity = {
            field: body.get(field)
            for field in ("kind", "order_id", "transaction_id", "customer_id")
        }
        body = {**identity, TOO_LARGE: True}
    kept = [*(other for other in state.snapshots if other != body), body]
    kept.sort(
        key=lambda other: moment(other.get("captured_at")) or datetime.min.replace(tzinfo=UTC)
    )
    return state.model_copy(update={"snapshots": tuple(kept[-SNAPSHOTS_KEPT:])})
