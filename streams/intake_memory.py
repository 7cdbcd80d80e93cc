"""What intake remembers of an order: complaints that wait, disputes that were opened, the newest records."""

from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.base import Model, UtcDatetime, canonical_bytes
from schemas.complaint import Complaint
from schemas.evidence import MAX_EVIDENCE_BYTES
from streams.facts import moment

SNAPSHOTS_KEPT = 4
"""Newest snapshots an order keeps; a complaint needs one, an operator may send corrections."""
TOO_LARGE = "too_large"
"""Marks what is kept of a record that was over the size, so that a person learns why it was not used."""


CAPTURED_AHEAD = "captured_ahead"
"""Marks what is kept of a record that says it was captured in the future."""
CLOCKS_DIFFER = timedelta(days=1)


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
    records_until: UtcDatetime | None = None
    """When the snapshots go; the order itself is remembered longer."""
    settles_under: str | None = None
    """Where the first dispute that could be priced settles; what is paid once must meet there."""


def believed(body: dict[str, Any], now: datetime) -> dict[str, Any]:
    """The record, or what is kept of one captured later than any clock may be ahead: lateness may be
    counted to that moment, and no true record would ever be newer."""
    captured = moment(body.get("captured_at"))
    if captured is None or captured - now <= CLOCKS_DIFFER:
        return body
    return {**_identity(body), CAPTURED_AHEAD: True}


def _identity(body: dict[str, Any]) -> dict[str, Any]:
    return {f: body.get(f) for f in ("kind", "order_id", "transaction_id", "customer_id")}


def remember(state: IntakeState, body: dict[str, Any]) -> IntakeState:
    """Keep the newest captures. One that cannot be read is kept while there is room: it may be why a
    dispute goes to a person as `evidence_invalid`."""
    if len(canonical_bytes(body)) > MAX_EVIDENCE_BYTES:
        body = {**_identity(body), TOO_LARGE: True}
    kept = [*(other for other in state.snapshots if other != body), body]
    kept.sort(
        key=lambda other: moment(other.get("captured_at")) or datetime.min.replace(tzinfo=UTC)
    )
    return state.model_copy(update={"snapshots": tuple(kept[-SNAPSHOTS_KEPT:])})
