"""What is wrong with an evidence body, field by field. Intake's own judgement has the last word."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from ops.json_lines import Problem
from ops.remedies import explained, remedy_for
from schemas.base import canonical_bytes
from schemas.complaint import Complaint
from schemas.evidence import MAX_EVIDENCE_BYTES, Record, read_record
from streams.intake import assess
from streams.intake_evidence import AFTER_THE_START
from streams.policies.loader import LoadedPack, PackRegistry
from topologies.intake import EARLIEST_FILING, FILED_AHEAD


def evidence_problems(
    line: int,
    prefix: str,
    body: dict[str, Any],
    packs: PackRegistry,
    now: datetime,
    complaint: Complaint | None,
    pack: LoadedPack | None,
) -> list[Problem]:
    """Every reason why a dispute could not be judged on this record, and what cannot be true in it."""
    kind = str(body.get("kind"))
    takers = [pack] if pack else [one for one in packs if one.pack.evidence_kind == kind]
    if not takers or takers[-1].pack.evidence_kind != kind:
        known = ", ".join(sorted({one.pack.evidence_kind for one in ([pack] if pack else packs)}))
        return [
            Problem(line, f"{prefix}kind", "is not one the policy takes", f"send kind: {known}")
        ]
    found = [
        Problem(line, (prefix + field).rstrip("."), problem, remedy or remedy_for(field))
        for field, problem, remedy in _faults(body, takers[-1], now, complaint)
    ]
    try:
        record = read_record(body)
    except ValidationError as error:
        return found + explained(line, prefix, error)
    except (ValueError, OverflowError) as error:
        return [*found, Problem(line, prefix.rstrip("."), str(error), "correct the record")]
    found += _clocks(line, prefix, record, now)
    if not found and complaint and pack:
        found += _intakes_own(line, prefix, body, complaint, pack)
    return found


def captured_tomorrow(
    line: int, prefix: str, body: dict[str, Any], now: datetime
) -> Iterable[Problem]:
    """A snapshot from the future: being the newest, it would outlast every correction of the record."""
    try:
        captured = datetime.fromisoformat(str(body.get("captured_at")))
        late = captured.tzinfo is not None and captured > now + FILED_AHEAD
    except (ValueError, OverflowError):
        return
    if late:
        yield Problem(
            line, f"{prefix}captured_at", "lies in the future", "send when the records were read"
        )


def _faults(
    body: dict[str, Any], pack: LoadedPack, now: datetime, complaint: Complaint | None
) -> Iterable[tuple[str, str, str]]:
    if len(canonical_bytes(body)) > MAX_EVIDENCE_BYTES:
        yield "", f"is over {MAX_EVIDENCE_BYTES // 1024} KB", "send less of the record"
    for field in pack.pack.evidence_required:
        if body.get(field) is None:
            yield field, "is missing", ""
    customer = body.get("customer_id")
    if complaint and isinstance(customer, str) and customer != complaint.customer_id:
        yield "customer_id", "is not the complaint's", "send the record of the customer's own order"
    currency = body.get("currency")
    if isinstance(currency, str) and currency != pack.pack.currency:
        yield "currency", f"is not {pack.pack.currency}, in which the policy settles", ""


def _clocks(line: int, prefix: str, record: Record, now: datetime) -> Iterable[Problem]:
    start = getattr(record, "placed_at", None) or getattr(record, "initiated_at", None)
    if not isinstance(start, datetime):
        return
    name = "placed_at" if hasattr(record, "placed_at") else "initiated_at"
    if start < EARLIEST_FILING:
        yield Problem(line, prefix + name, "lies before the year 2000", remedy_for(name))
    for field in AFTER_THE_START:
        moment = getattr(record, field, None)
        if isinstance(moment, datetime) and not start <= moment <= now + FILED_AHEAD:
            wrong = "lies in the future" if moment > start else f"is before {name}"
            yield Problem(line, prefix + field, wrong, remedy_for(field))


def _intakes_own(
    line: int, prefix: str, body: dict[str, Any], complaint: Complaint, pack: LoadedPack
) -> Iterable[Problem]:
    """What intake would say that the checks above did not."""
    for said in assess(complaint=complaint, snapshots=[body], pack=pack).problems:
        field, colon, problem = said.partition(": ")
        if not colon:
            field, _, problem = said.partition(" ")
        yield Problem(line, prefix + field, problem, remedy_for(field))
