"""complaints, evidence, deadlines ► intake ► disputes, timers, ledger (while evidence is awaited)."""

from datetime import datetime, timedelta
from typing import Any

import orjson

from schemas.complaint import Complaint
from schemas.evidence import MAX_NESTING, is_too_deep, subject_of
from schemas.timer import Deadline
from schemas.topics import COMPLAINTS, DEADLINES, DISPUTES, EVIDENCE, LEDGER, TIMERS
from streams import intake
from streams.intake import Intake
from streams.intake_keeping import STAGE
from streams.intake_memory import IntakeState
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.settings import Settings

FILED_AHEAD = timedelta(days=1)
"""A filing later than this after the broker's clock is a wrong clock, not a complaint of tomorrow."""
EARLIEST_FILING = datetime.fromisoformat("2000-01-01T00:00:00+00:00")


def read_evidence(value: bytes) -> dict[str, Any]:
    """An evidence body, whatever its fields: what is wrong with them is said when a dispute needs it.

    Raises:
        ValueError: not a JSON object, or it names no order or transaction.
    """
    body = orjson.loads(value)
    if not isinstance(body, dict):
        raise ValueError("record: is not a JSON object")
    check_nesting(body)
    subject = subject_of(body)
    if not subject or len(subject) > 200 or any(c.isspace() or ord(c) < 32 for c in subject):
        raise ValueError(
            "order_id: is missing or not an id; name the order or transaction the record is about"
        )
    return body


def check_nesting(body: dict[str, Any] | None) -> None:
    """Refuse a record so deeply nested that no event could carry it.

    Raises:
        ValueError: more than `MAX_NESTING` levels.
    """
    if is_too_deep(body):
        raise ValueError(
            f"evidence: is nested more than {MAX_NESTING} levels deep; send it flatter"
        )


def check_filing(complaint: Complaint, now: datetime) -> None:
    """Refuse a filing time nobody could have filed at.

    Raises:
        ValueError: filed_at lies in the future or before the year 2000.
    """
    if complaint.filed_at > now + FILED_AHEAD:
        raise ValueError("filed_at: lies in the future; send the time of filing with its zone")
    if complaint.filed_at < EARLIEST_FILING:
        raise ValueError(
            "filed_at: lies before the year 2000; send the time of filing with its zone"
        )


def stage(settings: Settings) -> KeyedStage[IntakeState]:
    """The intake app."""
    decide = Intake(settings.packs(), settings.installation_key)

    def on_complaint(state: IntakeState | None, record: Record) -> intake.Step:
        check_filing(record.event, record.at)
        check_nesting(record.event.evidence)
        return decide.on_complaint(state or IntakeState(), record.event, record.at)

    def on_evidence(state: IntakeState | None, record: Record) -> intake.Step:
        subject = subject_of(record.event) or ""
        return decide.on_evidence(state or IntakeState(), subject, record.event, record.at)

    def on_deadline(state: IntakeState | None, record: Record) -> intake.Step:
        if state is None or record.event.stage != STAGE:
            return state, []
        return decide.on_deadline(state, record.event, record.at)

    return KeyedStage(
        STAGE,
        IntakeState,
        (
            Source(COMPLAINTS, Complaint.from_bytes, lambda c: c.order_id, on_complaint),
            Source(EVIDENCE, read_evidence, lambda body: subject_of(body) or "", on_evidence),
            Source(DEADLINES, Deadline.from_bytes, lambda d: d.waiting_key, on_deadline),
        ),
        (DISPUTES, TIMERS, LEDGER),
        DeadLetterBox(settings.installation_key),
    )
