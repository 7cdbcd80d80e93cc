"""Tally: code counts the rulings on a grievance and closes the window, in a silent topic too.

A ruling wins with at least the pack's majority of the *seated* weight, so that absent and failed
seats count against it; otherwise the verdict is ESCALATE. Below the quorum nothing wins.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Literal

from schemas.base import Model, PackRef
from schemas.ids import content_hash, verdict_id
from schemas.pack import PolicyPack
from schemas.ruling import Ruling
from schemas.timer import Deadline, Timer
from schemas.topics import VERDICTS
from schemas.verdict import ClosedBy, CountedRuling, Verdict, Votes
from streams.emit import Emit, cancel, emit, start, timer_id
from streams.policies.loader import PackRegistry

STAGE = "tally"
VerdictValue = Literal["UPHELD", "REJECTED", "ESCALATE"]
VALUES: tuple[VerdictValue, ...] = ("UPHELD", "REJECTED", "ESCALATE")
REMEMBERED = timedelta(days=30)
"""How long a grievance is known to be closed where a seat has not ruled: rulings live no longer in Kafka,
so no unread one can be older."""


def window_timer(grievance_id: str) -> str:
    return f"{STAGE}:tally_window:{grievance_id}"


def deadline_timer(grievance_id: str) -> str:
    """Set by extraction together with the grievance, so that it ends even if no seat ever answers."""
    return f"{STAGE}:tally_deadline:{grievance_id}"


class Subject(Model):
    """Which grievance is being tallied; travels in the timers' payload."""

    dispute_id: str
    order_id: str
    customer_id: str
    settles_under: str
    grievance_id: str
    category: str
    pack: PackRef


class TallyState(Model):
    """Per grievance: the first ruling of each seat, until the outer deadline has passed and no ruling that
    was made before it can still come."""

    subject: Subject
    rulings: dict[int, CountedRuling] = {}
    simulated: bool = False
    closed: bool = False
    revision: int = 0


Step = tuple[TallyState | None, list[Emit]]


def count(
    rulings: Iterable[CountedRuling], pack: PolicyPack, category: str
) -> tuple[VerdictValue, Votes, float]:
    """The verdict, the votes, and the confidence.

    Confidence = max(0, Σ winners' weight × confidence − Σ others' weight × confidence) / W, with W the
    seated weight: 0.98 for a sure 3–0, about 0.35 for a 2–1. Exact arithmetic decides the majority.
    """
    rulings = tuple(rulings)
    seated = sum(pack.weight(seat.seat, category) for seat in pack.bench.seats)
    weight = {value: sum(r.weight for r in rulings if r.ruling == value) for value in VALUES}
    answered = sum(1 for r in rulings if r.ruling != "FAILED")
    share = Fraction(pack.bench.majority).limit_denominator(1000)
    winner: VerdictValue = "ESCALATE"
    if answered >= pack.bench.quorum:
        winner = next((v for v in VALUES if weight[v] >= share * seated), "ESCALATE")
    votes = Votes(
        UPHELD=sum(r.ruling == "UPHELD" for r in rulings),
        REJECTED=sum(r.ruling == "REJECTED" for r in rulings),
        ESCALATE=sum(r.ruling == "ESCALATE" for r in rulings),
        FAILED=sum(r.ruling == "FAILED" for r in rulings),
        absent=len(pack.bench.seats) - len(rulings),
    )
    lead = sum(
        r.weight * r.confidence * (1 if r.ruling == winner else -1)
        for r in rulings
        if r.ruling != "FAILED"
    )
    return winner, votes, round(max(0.0, lead) / seated, 4)


class Tally:
    """The decisions of the tally; holds no state of its own."""

    def __init__(self, registry: PackRegistry) -> None:
        self._registry = registry

    def _pack(self, ref: PackRef) -> PolicyPack:
        return self._registry.get(ref.policy, ref.pack_version).pack

    def on_ruling(
        self,
        state: TallyState | None,
        ruling: Ruling,
        now: datetime,
        value: bytes | None = None,
    ) -> Step:
        """Count the first ruling of each seat; a late one is recorded in a revision that decides nothing.

        `value` is the ruling as it came, so that its hash is also right where a newer judge wrote fields that
        this tally does not know.
        """
        pack = self._pack(ruling.pack)
        past = now - ruling.grievance_at > timedelta(seconds=pack.windows.tally_deadline_s)
        first = state is None
        if state is None:
            state = TallyState(
                subject=Subject(**ruling.model_dump(include=set(Subject.model_fields))), closed=past
            )
        if ruling.seat in state.rulings or pack.weight(ruling.seat, ruling.category) == 0:
            return (None if first else state), []
        counted = as_counted(ruling, pack, value)
        state = state.model_copy(
            update={
                "rulings": {**state.rulings, ruling.seat: counted},
                "simulated": state.simulated or ruling.simulated,
            }
        )
        if state.closed:
            # Past the deadline there may be no state to number from; the seat keeps ids apart.
            revision = 1 + ruling.seat if first else state.revision + 1
            state, late = self._close(state, "late", now, revision)
            return (None if first else state), late
        if len(state.rulings) == len(pack.bench.seats):
            state, verdict = self._close(state, "all_seats", now)
            return state, [
                cancel(window_timer(ruling.grievance_id)),
                *verdict,
            ] if not first else verdict
        if not first:
            return state, []
        timer = Timer(
            at=now,
            timer_id=window_timer(ruling.grievance_id),
            stage=STAGE,
            kind="tally_window",
            waiting_key=ruling.grievance_id,
            due_at=now + timedelta(seconds=pack.windows.tally_window_s),
            payload=state.subject.model_dump(mode="json"),
        )
        return state, [start(timer)]

    def on_deadline(self, state: TallyState | None, deadline: Deadline, now: datetime) -> Step:
        """Close with whoever has answered. The outer deadline ends the state where every seat has ruled.

        Where one has not, its ruling may be older than the deadline and still unread, after an outage of
        ours: forgotten, the grievance would be counted again, and have two deciding verdicts.
        """
        if deadline.kind == "retire":
            return None, []
        over = deadline.kind == "tally_deadline"
        if state is None:
            if not over:
                return None, []
            state = TallyState(subject=Subject.model_validate(deadline.payload))
        verdict: list[Emit] = []
        if not state.closed:
            state, verdict = self._close(state, "deadline" if over else "window", now)
        if not over:
            return state, verdict
        if len(state.rulings) >= len(self._pack(state.subject.pack).bench.seats):
            return None, verdict
        return state, [*verdict, start(_retire(state.subject, now))]

    def _close(
        self, state: TallyState, closed_by: ClosedBy, now: datetime, revision: int = 1
    ) -> tuple[TallyState, list[Emit]]:
        subject = state.subject
        pack = self._pack(subject.pack)
        in_seat_order = tuple(state.rulings[seat] for seat in sorted(state.rulings))
        value, votes, confidence = count(in_seat_order, pack, subject.category)
        verdict = Verdict(
            at=now,
            verdict_id=verdict_id(subject.grievance_id, revision),
            revision=revision,
            ruling=value,
            votes=votes,
            confidence=confidence,
            closed_by=closed_by,
            rulings=in_seat_order,
            identical_replies=identical_replies(in_seat_order),
            simulated=state.simulated,
            **subject.model_dump(),
        )
        return state.model_copy(update={"closed": True, "revision": revision}), [
            emit(VERDICTS, verdict)
        ]


def _retire(subject: Subject, now: datetime) -> Timer:
    return Timer(
        at=now,
        timer_id=timer_id(STAGE, "retire", subject.grievance_id),
        stage=STAGE,
        kind="retire",
        waiting_key=subject.grievance_id,
        due_at=now + REMEMBERED,
    )


def identical_replies(rulings: Iterable[CountedRuling]) -> int:
    """How many seats gave another seat's raw reply."""
    replies = [ruling.reply_hash for ruling in rulings if ruling.reply_hash]
    return sum(replies.count(reply) > 1 for reply in replies)


def as_counted(ruling: Ruling, pack: PolicyPack, value: bytes | None = None) -> CountedRuling:
    """The ruling as a verdict embeds it, with its weight under the pack and the hash of its bytes."""
    return CountedRuling(
        weight=pack.weight(ruling.seat, ruling.category),
        ruling_hash=content_hash(ruling.to_bytes() if value is None else value),
        reply_hash=content_hash(ruling.raw_reply.encode()) if ruling.raw_reply else "",
        **ruling.model_dump(
            include=set(CountedRuling.model_fields) - {"weight", "ruling_hash", "reply_hash"}
        ),
    )
