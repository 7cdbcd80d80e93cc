"""Intake: a complaint meets the records of its order, in either order, and becomes a dispute once.

Frozen is the newest valid snapshot captured at or after the filing; where none comes within the
pack's grace, the newest there is, flagged stale; where there is none at all, a person decides.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from schemas.base import canonical_bytes
from schemas.complaint import Complaint
from schemas.dispute import Dispute, Outcome, ScreeningFlag, Tier
from schemas.evidence import (
    Record,
    is_identity_only,
)
from schemas.ids import dispute_id, evidence_hash
from schemas.ledger import LedgerEntry
from schemas.timer import Deadline, Timer
from schemas.topics import DISPUTES, LEDGER
from streams.clocks import due
from streams.emit import Emit, cancel, emit, start
from streams.facts import facts, moment, same_reference
from streams.intake_evidence import believable
from streams.intake_keeping import (
    RECORDS_KEPT,
    RECORDS_ONLY,
    STAGE,
    keep_for,
    keep_records,
)
from streams.intake_memory import (
    IntakeState,
    Waiting,
    believed,
    remember,
)
from streams.policies.loader import LoadedPack, PackRegistry
from streams.screening import screen
from streams.tiers import tier_at_intake

_ID = re.compile(r"\S{1,200}")


@dataclass(frozen=True)
class Assessment:
    """What intake makes of a complaint and the records at hand."""

    evidence: dict[str, Any] | None
    evidence_hash: str | None
    evidence_stale: bool
    problems: tuple[str, ...]
    screening: tuple[ScreeningFlag, ...]
    tier: Tier
    acknowledge_by: datetime | None
    resolve_by: datetime | None
    outcome: Outcome | None
    settles_under: str


@dataclass(frozen=True)
class _Snapshot:
    body: dict[str, Any]
    record: Record


def _candidates(
    complaint: Complaint, bodies: Sequence[dict[str, Any]], pack: LoadedPack
) -> tuple[list[_Snapshot], list[str]]:
    """The valid snapshots, oldest capture first, and the problems of the others."""
    valid: list[_Snapshot] = []
    problems: list[str] = []
    for body in bodies:
        if is_identity_only(body):
            continue
        record, found = believable(body, complaint, pack)
        problems += found
        if record is not None:
            valid.append(_Snapshot(body, record))
    return sorted(valid, key=lambda snapshot: snapshot.record.captured_at), problems


def is_ready(complaint: Complaint, bodies: Sequence[dict[str, Any]], pack: LoadedPack) -> bool:
    """True where a valid snapshot was captured at or after the filing, so that nothing need be awaited."""
    valid, _ = _candidates(complaint, bodies, pack)
    return bool(valid) and valid[-1].record.captured_at >= complaint.filed_at


def _settles_under(order_id: str, body: dict[str, Any] | None) -> str:
    """The smallest id of the transactions that share the reference; an id that is none is not one."""
    related = [other.get("transaction_id") for other in same_reference(body or {})]
    return min([order_id, *(id_ for id_ in related if isinstance(id_, str) and _ID.fullmatch(id_))])


def assess(
    *, complaint: Complaint, snapshots: Sequence[dict[str, Any]], pack: LoadedPack
) -> Assessment:
    """Freeze the evidence and say what screening, tier, deadlines and outcome follow from it.

    Called when a fresh snapshot is there or the grace has ended; `price` calls it as at the end of
    the grace, so the command and the pipeline cannot differ.
    """
    policy = pack.pack
    valid, problems = _candidates(complaint, snapshots, pack)
    chosen = valid[-1] if valid else None
    body = chosen.body if chosen else None
    outcome: Outcome | None = None
    if chosen is None:
        outcome = "evidence_invalid" if problems else "evidence_unavailable"
    else:
        placed = moment(chosen.body.get(policy.order_placed_field))
        if placed and complaint.filed_at - placed > timedelta(
            days=policy.limits.max_order_age_days
        ):
            outcome = "order_too_old"
    screening = screen(complaint.text, body, policy.screening_patterns)
    known = facts(body or {})
    tier = tier_at_intake(policy, known)
    if screening:
        tier = max(tier, policy.screening_tier)
    return Assessment(
        evidence=body,
        evidence_hash=evidence_hash(canonical_bytes(body)) if body is not None else None,
        evidence_stale=chosen is not None and chosen.record.captured_at < complaint.filed_at,
        problems=tuple(problems) if chosen is None else (),
        screening=screening,
        tier=tier,
        acknowledge_by=due(complaint.filed_at, policy.acknowledge_clocks, known),
        resolve_by=due(complaint.filed_at, policy.resolve_clocks, known),
        outcome=outcome,
        settles_under=_settles_under(complaint.order_id, body),
    )


Step = tuple[IntakeState | None, list[Emit]]
"""The order's next state (None deletes it) and what to produce."""


def _grace_timer(dispute: str) -> str:
    return f"{STAGE}:evidence_grace:{dispute}"


class Intake:
    """The decisions of intake; holds no state of its own."""

    def __init__(self, registry: PackRegistry, installation_key: bytes) -> None:
        self._registry = registry
        self._key = installation_key

    def on_complaint(self, state: IntakeState, complaint: Complaint, now: datetime) -> Step:
        """Open the dispute, or wait for evidence; a repeat changes nothing, but records that came with
        it are records.

        Raises:
            KeyError: the policy is not one we hold a pack for.
        """
        dispute = dispute_id(self._key, complaint.order_id, complaint.text)
        inline = complaint.evidence if complaint.source.role == "records" else None
        if dispute in state.opened or dispute in state.waiting:
            if inline is None:
                return state, []
            return self.on_evidence(state, complaint.order_id, inline, now)
        pack = self._registry.latest(complaint.policy)
        if inline is not None:
            state = remember(state, believed(inline, now))
        complaint = complaint.model_copy(update={"evidence": None})
        days = pack.pack.limits.max_order_age_days + pack.pack.windows.retire_days
        state, emits = keep_records(state, complaint.order_id, now)
        state, kept = keep_for(state, complaint.order_id, timedelta(days=days), now)
        emits += kept
        wait = Waiting(
            complaint=complaint,
            received_at=now,
            policy=pack.pack.policy,
            pack_version=pack.pack.version,
        )
        if is_ready(complaint, state.snapshots, pack):
            return self._open(state, dispute, wait, now, emits)
        grace = Timer(
            at=now,
            timer_id=_grace_timer(dispute),
            stage=STAGE,
            kind="evidence_grace",
            waiting_key=complaint.order_id,
            due_at=now + timedelta(seconds=pack.pack.windows.evidence_grace_s),
            payload={"dispute_id": dispute},
        )
        waiting = {**state.waiting, dispute: wait}
        entry = LedgerEntry(
            at=now,
            dispute_id=dispute,
            order_id=complaint.order_id,
            customer_id=complaint.customer_id,
            settles_under=complaint.order_id,
            pack=pack.ref,
            policy=pack.pack.policy,
            status="awaiting_evidence",
            sequence=0,
            filed_at=complaint.filed_at,
            stages={"received": now},
        )
        return state.model_copy(update={"waiting": waiting}), [
            *emits,
            start(grace),
            emit(LEDGER, entry),
        ]

    def on_evidence(
        self, state: IntakeState, order_id: str, body: dict[str, Any], now: datetime
    ) -> Step:
        """Keep the snapshot, and open every complaint it was awaited by."""
        state = remember(state, believed(body, now))
        emits: list[Emit] = []
        if state.opened or state.waiting:  # else the order itself goes as soon
            state, emits = keep_records(state, order_id, now)
        state, kept = keep_for(state, order_id, RECORDS_KEPT, now)
        emits += kept
        for dispute, wait in list(state.waiting.items()):
            pack = self._registry.get(wait.policy, wait.pack_version)
            if is_ready(wait.complaint, state.snapshots, pack):
                state, opened = self._open(
                    state, dispute, wait, now, [cancel(_grace_timer(dispute))]
                )
                emits += opened
        return state, emits

    def on_deadline(self, state: IntakeState, deadline: Deadline, now: datetime) -> Step:
        """The grace of a complaint has ended, or the order may be forgotten."""
        if deadline.kind == "retire" and deadline.payload == RECORDS_ONLY:
            put_off = state.records_until is None or deadline.due_at < state.records_until
            if put_off:
                return state, []
            if state.waiting:
                return keep_records(state, deadline.waiting_key, now)
            return state.model_copy(update={"snapshots": (), "records_until": None}), []
        if deadline.kind == "retire":
            early = state.retire_at is not None and deadline.due_at < state.retire_at
            return (state, []) if early or state.waiting else (None, [])
        dispute = str(deadline.payload.get("dispute_id"))
        wait = state.waiting.get(dispute)
        return self._open(state, dispute, wait, now, []) if wait else (state, [])

    def _open(
        self, state: IntakeState, dispute: str, wait: Waiting, now: datetime, emits: list[Emit]
    ) -> tuple[IntakeState, list[Emit]]:
        complaint = wait.complaint
        pack = self._registry.get(wait.policy, wait.pack_version)
        found = _where_it_settled(
            state, assess(complaint=complaint, snapshots=state.snapshots, pack=pack)
        )
        event = Dispute(
            at=now,
            dispute_id=dispute,
            order_id=complaint.order_id,
            customer_id=complaint.customer_id,
            settles_under=found.settles_under,
            pack=pack.ref,
            text=complaint.text,
            filed_at=complaint.filed_at,
            received_at=wait.received_at,
            channel=complaint.channel,
            evidence=found.evidence,
            evidence_hash=found.evidence_hash,
            evidence_stale=found.evidence_stale,
            evidence_problems=found.problems,
            screening=found.screening,
            tier=found.tier,
            acknowledge_by=found.acknowledge_by,
            resolve_by=found.resolve_by,
            outcome=found.outcome,
        )
        waiting = {key: value for key, value in state.waiting.items() if key != dispute}
        opened = (*state.opened, dispute)
        settles_under = state.settles_under or (None if found.outcome else found.settles_under)
        next_state = state.model_copy(
            update={"waiting": waiting, "opened": opened, "settles_under": settles_under}
        )
        return next_state, [*emits, emit(DISPUTES, event)]


def _where_it_settled(state: IntakeState, found: Assessment) -> Assessment:
    """Two disputes on one transaction that settled apart could each pay it. So where a later record names
    a relation that the earlier one did not, a person decides."""
    before = state.settles_under
    if found.outcome is not None or before in (None, found.settles_under):
        return found
    problem = f"related: a dispute on this settles under {before}; now the record names others"
    return replace(
        found, outcome="evidence_invalid", problems=(problem,), settles_under=str(before)
    )
