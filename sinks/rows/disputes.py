"""An opened dispute leaves one row, and one more for the evidence that was frozen with it."""

from datetime import UTC, datetime
from typing import Any

from schemas.base import MAX_MINOR, canonical_bytes
from schemas.dispute import Dispute
from sinks.rows.row import Place, Row, about, maybe_moment, moment


def rows(event: Dispute, place: Place) -> list[Row]:
    opened = Row(
        "disputes",
        {
            **about(event, place),
            "filed_at": moment(event.filed_at),
            "received_at": moment(event.received_at),
            "channel": event.channel,
            "text": event.text,
            "evidence_hash": event.evidence_hash or "",
            "evidence_stale": event.evidence_stale,
            "evidence_problems": list(event.evidence_problems),
            "screening_rules": [flag.rule for flag in event.screening],
            "screening_places": [flag.where for flag in event.screening],
            "tier": event.tier,
            "acknowledge_by": maybe_moment(event.acknowledge_by),
            "resolve_by": maybe_moment(event.resolve_by),
            "outcome": event.outcome or "",
        },
    )
    if event.evidence is None:
        return [opened]
    return [opened, _snapshot(event, event.evidence, place)]


def _snapshot(event: Dispute, body: dict[str, Any], place: Place) -> Row:
    return Row(
        "evidence_snapshots",
        {
            **about(event, place),
            "evidence_hash": event.evidence_hash or "",
            "kind": _text(body, "kind"),
            "currency": _text(body, "currency"),
            "captured_at": _moment_in(body, "captured_at"),
            "disputed_minor": _minor(body, "paid_total_minor", "amount_minor"),
            "merchant_id": _text(body, "merchant_id"),
            "courier_id": _text(body, "courier_id"),
            "city": _text(body, "city"),
            "rail": _text(body, "rail"),
            "body": canonical_bytes(body).decode(),
        },
    )


def _text(body: dict[str, Any], field: str) -> str:
    value = body.get(field)
    return value if isinstance(value, str) else ""


def _minor(body: dict[str, Any], *fields: str) -> int | None:
    """The first of the fields that holds an amount; evidence is upstream's and may hold anything."""
    for field in fields:
        value = body.get(field)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_MINOR:
            return value
    return None


def _moment_in(body: dict[str, Any], field: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(_text(body, field))
        return None if at.tzinfo is None else moment(at.astimezone(UTC))
    except (ValueError, OverflowError):
        return None
