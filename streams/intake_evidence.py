"""What makes a record one that a dispute can be judged on, and what is said of one that is not."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from schemas.base import canonical_bytes
from schemas.complaint import Complaint
from schemas.evidence import (
    MAX_EVIDENCE_BYTES,
    MAX_NESTING,
    Record,
    is_too_deep,
    read_record,
    subject_of,
)
from streams.facts import moment
from streams.intake_memory import CAPTURED_AHEAD, CLOCKS_DIFFER, TOO_LARGE
from streams.policies.loader import LoadedPack

PLACED_AFTER_FILING = timedelta(hours=1)
"""Clocks differ; an order placed later than this after the complaint about it is not believed."""
AFTER_THE_START = ("delivered_at", "cancelled_at", "credit_confirmed_at", "reversal_posted_at")
"""Moments that cannot come before the order was placed or the transaction begun."""


def believable(
    body: dict[str, Any], complaint: Complaint, pack: LoadedPack
) -> tuple[Record | None, list[str]]:
    """The typed record, or every reason why this body cannot be judged on."""
    if is_too_deep(body):
        return None, [f"evidence is nested more than {MAX_NESTING} levels deep"]
    if body.get(TOO_LARGE) or len(canonical_bytes(body)) > MAX_EVIDENCE_BYTES:
        return None, [f"evidence is over {MAX_EVIDENCE_BYTES // 1024} KB"]
    if body.get(CAPTURED_AHEAD):
        return None, ["captured_at lies in the future"]
    if body.get("kind") != pack.pack.evidence_kind:
        return None, [
            f"kind is {body.get('kind')!r}; {pack.pack.policy} takes {pack.pack.evidence_kind!r}"
        ]
    try:
        record = read_record(body)
    except ValidationError as error:
        return None, [
            f"{'.'.join(str(part) for part in item['loc']) or 'evidence'}: {item['msg']}"
            for item in error.errors()
        ]
    except (ValueError, OverflowError) as error:
        return None, [str(error)]
    found = [
        f"{field} is missing" for field in pack.pack.evidence_required if body.get(field) is None
    ]
    if subject_of(body) != complaint.order_id:
        found.append("order_id is not the complaint's")
    if record.customer_id != complaint.customer_id:
        found.append("customer_id is not the complaint's")
    if record.currency != pack.pack.currency:
        found.append(
            f"currency is {record.currency}; {pack.pack.policy} settles in {pack.pack.currency}"
        )
    placed = moment(body.get(pack.pack.order_placed_field))
    if placed and placed - complaint.filed_at > PLACED_AFTER_FILING:
        found.append(f"{pack.pack.order_placed_field} is after the complaint was filed")
    found += _impossible_moments(record, placed, pack.pack.order_placed_field)
    found += _other_currencies(body, record.currency)
    return (None, found) if found else (record, [])


def _impossible_moments(record: Record, start: datetime | None, start_field: str) -> Iterator[str]:
    """Times the records cannot know yet, or from before there was an order: lateness is paid by them."""
    for field in AFTER_THE_START:
        at = getattr(record, field, None)
        if not isinstance(at, datetime):
            continue
        if at - record.captured_at > CLOCKS_DIFFER:
            yield f"{field} is after captured_at"
        elif start is not None and start - at > CLOCKS_DIFFER:
            yield f"{field} is before {start_field}"


def _other_currencies(body: dict[str, Any], currency: str) -> Iterator[str]:
    """Amounts are added up as they stand; one in another currency cannot be."""
    for field in ("line_items", "fee_lines", "refunds", "related"):
        items = body.get(field)
        for i, item in enumerate(items if isinstance(items, list) else ()):
            named = item.get("currency") if isinstance(item, dict) else None
            if named is not None and named != currency:
                yield f"{field}.{i}.currency is not the record's"
