"""Settlement: the process manager of an order. It waits for a docket and its verdicts, prices once,
holds the pay scopes, follows decision and payment, takes a person's review, and asks for the letter.

Every step stores what came and then advances the dispute as far as it can go, so that the order in
which events arrive cannot matter.
"""

from datetime import datetime, timedelta

from schemas.base import DisputeEvent
from schemas.docket import Docket, Usage
from schemas.ids import auto_key, review_key
from schemas.payment import Payment
from schemas.review import Review
from schemas.settlement import Decision, Proposal
from schemas.timer import Deadline, Timer
from schemas.topics import LETTER_REQUESTS, PROPOSALS
from schemas.verdict import Verdict
from streams.beyond_lines import beyond_lines, is_open, whole_ceiling
from streams.emit import LONGEST_ID, Emit, cancel, emit, start, timer_id
from streams.order_book import (
    DisputeBook,
    OrderBook,
    VerdictNote,
    merge,
    room_on_order,
    to_person,
    without_text,
)
from streams.payout import KEY_CONFLICT
from streams.policies.loader import LoadedPack, PackRegistry
from streams.proposing import propose, rebuilt
from streams.recomputed import check_same, fingerprint
from streams.reviewing import review_outcome
from streams.telling import acknowledgement, is_told, letter_id, outcome_letter, review_letter
from streams.transactions_taken import REFUSED as TRANSACTION_TAKEN

STAGE = "settlement"
UNDECIDED_AGAIN = timedelta(days=30)
"""An order whose lines still wait for a person is not forgotten; it is looked at again after this."""


Step = tuple[OrderBook | None, list[Emit]]


def _window_timer(dispute: str) -> str:
    return f"{STAGE}:docket_window:{dispute}"


class Settlement:
    """The decisions of settlement; holds no state of its own."""

    def __init__(self, registry: PackRegistry) -> None:
        self._registry = registry

    def _pack(self, event: DisputeEvent) -> LoadedPack:
        return self._registry.get(event.pack.policy, event.pack.pack_version)

    def on_docket(self, book: OrderBook, docket: Docket, now: datetime) -> Step:
        dispute = book.disputes.get(docket.dispute_id, DisputeBook())
        if dispute.docket is not None:
            return book, []
        pack = self._pack(docket)
        book, emits = _remember_until(book, docket, pack, now)
        dispute = dispute.model_copy(update={"docket": docket})
        if dispute.proposed:
            dispute = rebuilt(book, dispute, docket, pack)
        if not _complete(dispute) and not dispute.proposed:
            window = Timer(
                at=now,
                timer_id=_window_timer(docket.dispute_id),
                stage=STAGE,
                kind="docket_window",
                waiting_key=docket.settles_under,
                due_at=now + timedelta(seconds=pack.pack.windows.docket_window_s),
                payload={"dispute_id": docket.dispute_id},
            )
            emits.append(start(window))
        received = acknowledgement(docket, pack, now)
        if received is not None:
            emits.append(emit(LETTER_REQUESTS, received))
        return self._advance(book, docket.dispute_id, dispute, now, emits)

    def on_verdict(self, book: OrderBook, verdict: Verdict, now: datetime) -> Step:
        """A verdict before its docket waits, and is forgotten in time where none ever comes; a second one for
        a grievance, or a late revision, changes nothing."""
        dispute = book.disputes.get(verdict.dispute_id, DisputeBook())
        if dispute.proposed or verdict.grievance_id in dispute.verdicts or verdict.revision > 1:
            return book, []
        usage = Usage()
        for ruling in verdict.rulings:
            usage = usage.plus(ruling.usage)
        note = VerdictNote(ruling=verdict.ruling, simulated=verdict.simulated, usage=usage)
        dispute = dispute.model_copy(
            update={"verdicts": {**dispute.verdicts, verdict.grievance_id: note}}
        )
        book, emits = _not_for_ever(book, verdict.settles_under, now)
        if _complete(dispute):
            emits.append(cancel(_window_timer(verdict.dispute_id)))
        return self._advance(book, verdict.dispute_id, dispute, now, emits)

    def on_decision(self, book: OrderBook, decision: Decision, now: datetime) -> Step:
        """An order whose state was lost is rebuilt from its decisions, with their keys and their tier.

        Raises:
            Recomputed: the decision is known, and now says something else of the money.
        """
        dispute = book.disputes.get(decision.dispute_id, DisputeBook())
        known = dispute.decisions.get(decision.decision_id)
        if known is not None:
            check_same(decision.decision_id, fingerprint(known), fingerprint(decision))
            return book, []
        paid = [line.grievance_id for line in decision.lines if line.disposition == "pay"]
        review = decision.review_id
        if review is not None and review not in dispute.reviews:
            dispute = _reviewed_before(dispute, review, decision.needs_person)
        proposed = dispute.proposed
        dispute = dispute.model_copy(
            update={
                "proposed": True,
                "tier": max(dispute.tier, decision.tier),
                "paid_under": dispute.paid_under | dict.fromkeys(paid, decision.decision_id),
                "decisions": {**dispute.decisions, decision.decision_id: decision},
                "lines": merge(dispute.lines, decision.lines),
            }
        )
        pack = self._pack(decision)
        if dispute.docket is not None and not proposed:
            dispute = rebuilt(book, dispute, dispute.docket, pack)
        book, emits = _remember_until(book, decision, pack, now)
        return self._advance(book, decision.dispute_id, dispute, now, emits)

    def on_payment(self, book: OrderBook, payment: Payment, now: datetime) -> Step:
        """A definite refusal frees what was held and puts the lines before a person."""
        dispute = book.disputes.get(payment.dispute_id, DisputeBook())
        if payment.payment_id in dispute.payments:
            return book, []
        dispute = dispute.model_copy(
            update={"payments": {**dispute.payments, payment.payment_id: payment}}
        )
        return self._advance(book, payment.dispute_id, dispute, now, [])

    def on_review(self, book: OrderBook, review: Review, now: datetime) -> Step:
        """A person's decision takes effect once; one that may not is recorded as refused, with the
        reason; one that comes before the automatic part has ended here waits for that, and is
        forgotten in time where there is no such dispute.

        Raises:
            ValueError: the review's id is too long for the ids made of it, its letter's among them.
        """
        if len(letter_id(review_key(review.dispute_id, review.review_id))) > LONGEST_ID:
            raise ValueError("review_id: is too long; give the review a shorter one")
        dispute = book.disputes.get(review.dispute_id, DisputeBook())
        waiting = {early.review_id for early in dispute.early}
        if review.review_id in waiting or review.review_id in dispute.reviews:
            return book, []
        dispute = dispute.model_copy(update={"early": (*dispute.early, review.in_codes())})
        book, emits = _not_for_ever(book, review.settles_under, now)
        return self._advance(book, review.dispute_id, dispute, now, emits)

    def on_deadline(self, book: OrderBook, deadline: Deadline, now: datetime) -> Step:
        if deadline.kind == "retire":
            return self._retire(book, deadline, now)
        dispute_id = str(deadline.payload.get("dispute_id"))
        dispute = book.disputes.get(dispute_id)
        if dispute is None or dispute.proposed:
            return book, []
        dispute = dispute.model_copy(update={"window_over": True})
        return self._advance(book, dispute_id, dispute, now, [])

    def _advance(
        self,
        book: OrderBook,
        dispute_id: str,
        dispute: DisputeBook,
        now: datetime,
        emits: list[Emit],
    ) -> Step:
        """Take the dispute as far as what is known lets it go."""
        if (
            dispute.docket is not None
            and not dispute.proposed
            and (_complete(dispute) or dispute.window_over)
        ):
            pack = self._pack(dispute.docket)
            dispute, proposal = propose(book, dispute, dispute.docket, pack, now)
            emits = [*emits, emit(PROPOSALS, proposal)]
        for key, decision in dispute.decisions.items():
            payment = dispute.payments.get(key)
            if payment is None or key in dispute.told:
                continue
            dispute = _ended(dispute, decision, payment)
            if dispute.docket is not None and is_told(decision):
                pack = self._pack(decision)
                tell = review_letter if decision.review_id else outcome_letter
                request = tell(dispute.docket, decision, payment, pack.pack, now)
                emits = [*emits, emit(LETTER_REQUESTS, request)]
        docket = dispute.docket
        if auto_key(dispute_id) in dispute.told and docket is not None:
            for review in dispute.early:
                dispute, proposal = self._review(book, dispute, review, docket, now)
                emits = [*emits, emit(PROPOSALS, proposal)]
            dispute = dispute.model_copy(update={"early": ()})
            if not dispute.needs_person and _expected(dispute_id, dispute) <= set(dispute.told):
                # The dispute is closed: the customer's words go, codes and amounts stay.
                dispute = dispute.model_copy(update={"docket": without_text(docket)})
        return book.model_copy(update={"disputes": {**book.disputes, dispute_id: dispute}}), emits

    def _review(
        self, book: OrderBook, dispute: DisputeBook, review: Review, docket: Docket, now: datetime
    ) -> tuple[DisputeBook, Proposal]:
        pack = self._pack(docket)
        dispute_id = docket.dispute_id
        whole = beyond_lines(book, dispute_id, dispute, docket, pack.pack)
        outcome = review_outcome(
            review,
            dispute.pending(),
            dispute.approvals,
            dispute.tier,
            pack.pack,
            waits=dispute.needs_person,
            room=room_on_order(book, dispute_id, dispute),
            whole=whole if is_open(dispute) else None,
            appealed=dispute.appealed,
            decided_by=dispute.decided_by,
        )
        proposal = outcome.proposal(docket, now)
        paid = [line.grievance_id for line in proposal.lines if line.disposition == "pay"]
        dispute = dispute.model_copy(
            update={
                "reviews": (*dispute.reviews, review.review_id),
                "approvals": outcome.approvals,
                "needs_person": outcome.pending,
                "lines": merge(dispute.lines, proposal.lines),
                "paid_under": dispute.paid_under | dict.fromkeys(paid, proposal.proposal_id),
                "appealed": outcome.appealed(dispute.appealed),
                "decided_by": outcome.decided_by(dispute.decided_by, dispute.approvals),
            }
        )
        left = whole_ceiling(book, dispute, docket, pack.pack, outcome.pending)
        return dispute, proposal.model_copy(update={"whole_ceiling_minor": left})

    def _retire(self, book: OrderBook, deadline: Deadline, now: datetime) -> Step:
        if book.retire_at is None or deadline.due_at < book.retire_at:
            return book, []
        if not any(dispute.needs_person for dispute in book.disputes.values()):
            return None, []
        return _retire_at(book, deadline.waiting_key, now + UNDECIDED_AGAIN, now)


def _ended(dispute: DisputeBook, decision: Decision, payment: Payment) -> DisputeBook:
    """The dispute after one of its decisions was paid, needed no payment, or was refused for good."""
    key = decision.decision_id
    followed = decision.review_id or dispute.reviews  # a review comes later, and says how it stands
    needs_person = dispute.needs_person if followed else decision.needs_person
    if decision.decision_rule == TRANSACTION_TAKEN:  # settlement had taken it for decided
        needs_person = True
    lines = dispute.lines
    if payment.status == "refused":
        needs_person = True
        if payment.refusal != KEY_CONFLICT:  # else money did move under the key: nothing is free
            lines = to_person(dispute, key)
    told = (*dispute.told, key)
    return dispute.model_copy(update={"told": told, "lines": lines, "needs_person": needs_person})


def _reviewed_before(dispute: DisputeBook, review: str, needs_person: bool) -> DisputeBook:
    """The dispute of a rebuilt order after a review that took effect before its state was lost: the review
    does nothing again, and whether somebody must still act is as its decision says."""
    return dispute.model_copy(
        update={
            "reviews": (*dispute.reviews, review),
            "early": tuple(early for early in dispute.early if early.review_id != review),
            "needs_person": needs_person,
        }
    )


def _expected(dispute_id: str, dispute: DisputeBook) -> set[str]:
    """The decisions made, and those that reviews seen here will still become."""
    return {*dispute.decisions, *(review_key(dispute_id, review) for review in dispute.reviews)}


def _complete(dispute: DisputeBook) -> bool:
    docket = dispute.docket
    return docket is not None and all(
        claim.grievance_id in dispute.verdicts for claim in docket.claims
    )


def _remember_until(
    book: OrderBook, about: DisputeEvent, pack: LoadedPack, now: datetime
) -> tuple[OrderBook, list[Emit]]:
    """Keep what was paid for as long as anyone may still complain, by a timer and never by a TTL."""
    due_at = now + timedelta(
        days=pack.pack.limits.max_order_age_days + pack.pack.windows.retire_days
    )
    if book.retire_at is not None and book.retire_at > due_at - timedelta(days=1):
        return book, []
    return _retire_at(book, about.settles_under, due_at, now)


def _not_for_ever(book: OrderBook, key: str, now: datetime) -> tuple[OrderBook, list[Emit]]:
    """An order of which no docket has come yet is looked at again, and forgotten if none has by then."""
    if book.retire_at is not None:
        return book, []
    return _retire_at(book, key, now + UNDECIDED_AGAIN, now)


def _retire_at(
    book: OrderBook, key: str, due_at: datetime, now: datetime
) -> tuple[OrderBook, list[Emit]]:
    timer = Timer(
        at=now,
        timer_id=timer_id(STAGE, "retire", key),
        stage=STAGE,
        kind="retire",
        waiting_key=key,
        due_at=due_at,
    )
    return book.model_copy(update={"retire_at": due_at}), [start(timer)]
