"""The money again: an order's proposals by settlement itself, a customer's decisions by the allowance itself.

Settlement reads several topics, and in which order it took two records of different topics is written
nowhere. It is replayed in the order of the broker's time; where that does not give what was proposed,
as if it had been behind on a topic. A proposal that none of these histories gives is a fault.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import product

from ops.audit.chains import Fault
from ops.audit.history import History, Told
from ops.audit.recount_votes import unlike
from schemas.payment import Payment
from schemas.settlement import Decision, Proposal
from schemas.timer import Deadline
from schemas.topics import (
    DECISIONS,
    DOCKETS,
    PAYMENTS,
    PROPOSALS,
    REVIEWS,
    VERDICTS,
    Topic,
)
from streams.allowance import Allowance, CustomerState
from streams.order_book import OrderBook
from streams.policies.loader import PackRegistry
from streams.sealing import DecisionSeal
from streams.settlement import STAGE, Settlement

WHERE = "recount"
INPUTS: tuple[Topic, ...] = (DOCKETS, VERDICTS, REVIEWS, DECISIONS, PAYMENTS)
BEHIND = (timedelta(0), timedelta(seconds=2), timedelta(hours=1))
"""How far settlement may have been behind on one topic against the others."""
_ROUNDED = timedelta(milliseconds=2)


@dataclass(frozen=True)
class Input:
    """One record that settlement took, or the end of a docket's window."""

    topic: str
    at: datetime
    offset: int
    event: object


def recount_order(
    disputes: Sequence[str], history: History, packs: PackRegistry
) -> Iterator[Fault]:
    """Every proposal about the disputes of one order, automatic and authorised by people, against a replay."""
    told = {t.event.proposal_id: t for d in disputes for t in history.of(d, PROPOSALS)}
    if not told:
        return
    inputs = [
        Input(topic.name, t.record.at, t.record.place.offset, t.event)
        for dispute in disputes
        for topic in INPUTS
        for t in history.of(dispute, topic)
    ]
    windows, faults = _windows(told.values(), inputs, packs)
    yield from faults
    best: dict[str, list[str]] | None = None
    for behind in product(BEHIND, repeat=len(INPUTS)):
        late = {topic.name: shift for topic, shift in zip(INPUTS, behind, strict=True)}
        wrong = _differences(told, _replay([*inputs, *windows], late, packs))
        if best is None or len(wrong) < len(best):
            best = wrong
        if not best or len(disputes) == 1:
            break
    for proposal_id, fields in (best or {}).items():
        one = told[proposal_id]
        yield Fault(one.record.chain, "price_differs", WHERE, None, one.record.place, ", ".join(fields))  # fmt: skip


def _windows(
    proposals: Iterable[Told], inputs: Sequence[Input], packs: PackRegistry
) -> tuple[list[Input], list[Fault]]:
    """Proposals that no docket or verdict set off: the docket's window was over, and had to be."""
    ends: list[Input] = []
    faults: list[Fault] = []
    for told in proposals:
        proposal: Proposal = told.event
        mine = [one for one in inputs if getattr(one.event, "dispute_id", None) == proposal.dispute_id]  # fmt: skip
        causes = [one for one in mine if one.topic in (DOCKETS.name, VERDICTS.name)]
        if proposal.review_id or any(abs(one.at - proposal.at) <= _ROUNDED for one in causes):
            continue
        pack = packs.get(proposal.pack.policy, proposal.pack.pack_version).pack
        began = [one.at for one in causes if one.topic == DOCKETS.name]
        window = timedelta(seconds=pack.windows.docket_window_s)
        if not began or proposal.at < min(began) + window - _ROUNDED:
            said = "made before its verdicts were in and its window over"
            place = told.record.place
            faults.append(Fault(told.record.chain, "too_early", WHERE, None, place, said))
        ended = Deadline(
            at=proposal.at,
            timer_id="recount",
            stage=STAGE,
            kind="docket_window",
            waiting_key=proposal.settles_under,
            due_at=proposal.at,
            payload={"dispute_id": proposal.dispute_id},
        )
        ends.append(Input("deadlines", proposal.at, 0, ended))
    return ends, faults


def _replay(
    inputs: Iterable[Input], late: dict[str, timedelta], packs: PackRegistry
) -> dict[str, Proposal]:
    """What settlement proposes when it takes the inputs in this order; by proposal id."""
    decide = Settlement(packs)
    steps = {
        DOCKETS.name: decide.on_docket,
        VERDICTS.name: decide.on_verdict,
        REVIEWS.name: decide.on_review,
        DECISIONS.name: decide.on_decision,
        PAYMENTS.name: decide.on_payment,
        "deadlines": decide.on_deadline,
    }
    book = OrderBook()
    made: dict[str, Proposal] = {}
    still = timedelta(0)
    ordered = sorted(inputs, key=lambda one: (one.at + late.get(one.topic, still), one.topic, one.offset))  # fmt: skip
    for one in ordered:
        after, emits = steps[one.topic](book, one.event, one.at)  # type: ignore[arg-type]
        book = after or OrderBook()
        for item in emits:
            if isinstance(item.event, Proposal):
                made.setdefault(item.event.proposal_id, item.event)
    return made


def _differences(told: dict[str, Told], made: dict[str, Proposal]) -> dict[str, list[str]]:
    wrong: dict[str, list[str]] = {}
    for proposal_id, one in told.items():
        again = made.get(proposal_id)
        fields = ["nothing proposes it"] if again is None else unlike(one.event, again, {"at"})
        if fields:
            wrong[proposal_id] = fields
    return wrong


def recount_customer(
    customer_id: str, wanted: set[str], history: History, packs: PackRegistry
) -> Iterator[Fault]:
    """The decisions of the wanted disputes, after every earlier proposal about the customer. The allowance takes
    them in the order of their partition, each at the broker's time, which the decision has kept."""
    allowance = Allowance(packs, DecisionSeal(b"a recount seals nothing"))
    decided = {t.event.decision_id: t for t in history.every(DECISIONS)}
    state = CustomerState()
    seen: set[str] = set()
    for told in history.every(PROPOSALS):
        proposal: Proposal = told.event
        one = decided.get(proposal.proposal_id)
        if proposal.customer_id != customer_id or one is None or proposal.proposal_id in seen:
            continue
        seen.add(proposal.proposal_id)
        after, emits = allowance.on_proposal(state, proposal, one.event.at)
        state = after or CustomerState()
        if proposal.dispute_id in wanted:
            again = next((e.event for e in emits if isinstance(e.event, Decision)), None)
            fields = unlike(one.event, again, {"at", "seal", "proposal_hash"}) if again else ["all"]
            if fields:
                yield Fault(one.record.chain, "decision_differs", WHERE, None, one.record.place, ", ".join(fields))  # fmt: skip
    for dispute in wanted:
        for one in history.of(dispute, DECISIONS):
            mine = one.event.customer_id == customer_id and one.event.decision_id not in seen
            if mine:
                yield Fault(dispute, "decision_unexplained", WHERE, None, one.record.place, "no proposal of it")  # fmt: skip


def recount_payments(dispute_id: str, history: History) -> Iterator[Fault]:
    """A payment that was made is its decision's, to the minor unit."""
    decisions = {t.event.decision_id: t.event for t in history.of(dispute_id, DECISIONS)}
    for told in history.of(dispute_id, PAYMENTS):
        payment: Payment = told.event
        decision = decisions.get(payment.payment_id)
        if decision is None or (
            payment.status == "paid"
            and (payment.amount_minor, payment.currency)
            != (decision.amount_minor, decision.currency)
        ):
            said = "no decision of it" if decision is None else "is not the amount decided"
            yield Fault(dispute_id, "payment_differs", WHERE, None, told.record.place, said)
