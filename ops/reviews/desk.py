"""Files a person's review and waits for what becomes of it."""

import time
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, TopicPartition

from ops.bounded_read import partition_for, spans
from ops.commands.reply import DEPENDENCY_DOWN, Failure, refuse
from ops.commands.status import unknown
from ops.reviews.queue import pack_of
from ops.submitting import Sender
from ops.trail import find
from schemas.ids import review_key
from schemas.ledger import LedgerEntry
from schemas.payment import Payment
from schemas.review import Review
from schemas.settlement import Decision
from schemas.topics import DECISIONS, PAYMENTS, REVIEWS
from streams.policies.loader import PackRegistry
from topologies import clients

CLOCKS_DIFFER = timedelta(minutes=10)
"""How far our clock may be ahead of the broker's."""
REFUSED = "review_refused:"
MEANING = {
    "review_approved": "approved as priced",
    "review_amount": "approved",
    "review_rejected": "rejected; what waited is closed",
    "review_more_evidence": "the customer is asked; the dispute waits",
    "review_attached": "attached to the case",
    "review_awaits_second_person": "recorded; a second, different person must approve the same amount",
    "appealed": "the dispute is before a person",
    "nothing_pending": "nothing of it waits for a person: it was decided, or an appeal must open it first",
    "role_may_not_decide": "the pack does not know the role",
    "nothing_to_approve": "nothing of it can be paid; reject it",
    "nothing_left": "nothing is left of the order that could be paid; reject it",
    "scope_paid": "the order as a whole was paid under this dispute before, and is paid once",
    "scope_taken": "the transaction, or a related one, is paid or before a person in another dispute",
    "transaction_taken": "the payment of the transaction was decided in a dispute that settles under another id; reject it",
    "state_an_amount": "the rules put no price on it; give one with `review amount`",
    "above_ceiling": "more than may be paid for what waits",
    "above_authority": "more than the role may approve",
    "same_person_twice": "a second, different person must approve it",
    "appealed_already": "an appeal waits already",
    "decided_before_the_appeal": "who decided it before does not decide the appeal",
}
"""What became of a review, in words for its officer."""


@dataclass(frozen=True)
class Result:
    """What became of a review: the decision, and the payment where there is something to pay."""

    decision: Decision
    payment: Payment | None

    @property
    def refused(self) -> bool:
        return self.decision.decision_rule.startswith(REFUSED)

    @property
    def ok(self) -> bool:
        return not self.refused and (self.payment is None or self.payment.status != "refused")

    @property
    def meaning(self) -> str:
        rule = self.decision.decision_rule.removeprefix(REFUSED)
        return MEANING.get(rule, rule.replace("_", " "))

    def as_json(self, review: Review) -> dict[str, Any]:
        decision, payment = self.decision, self.payment
        return {
            "ok": self.ok,
            "dispute_id": review.dispute_id,
            "review_id": review.review_id,
            "action": review.action,
            "reviewer": review.reviewer,
            "role": review.role,
            "rule": decision.decision_rule,
            "refused": self.refused,
            "meaning": self.meaning,
            "amount_minor": decision.amount_minor,
            "currency": decision.currency,
            "payment_id": decision.decision_id,
            "payment": payment.status if payment else None,
            "needs_person": decision.needs_person,
        }


def dispute(identifier: str) -> LedgerEntry:
    """The dispute of that id, or the one dispute of that order.

    Raises:
        Failure: there is none, or the order has several.
    """
    entries = find(identifier)
    if not entries:
        unknown(identifier)
    if len(entries) > 1:
        ids = ", ".join(entry.dispute_id for entry in entries)
        refuse(f"{identifier!r} has {len(entries)} disputes", f"name one: {ids}")
    return entries[0]


def check_kept(entry: LedgerEntry, packs: PackRegistry) -> None:
    """Refuse where settlement has forgotten the order: nobody would ever answer.

    Raises:
        Failure: its time is over; says since when.
    """
    pack = pack_of(entry, packs)
    if pack is None or entry.needs_person:
        return
    kept = timedelta(days=pack.limits.max_order_age_days + pack.windows.retire_days)
    if entry.filed_at + kept < datetime.now(UTC):
        refuse(
            f"{entry.dispute_id} was closed and its order forgotten after {kept.days} days",
            "settle it outside, and keep a note of it there",
        )


def new_id() -> str:
    return f"r-{uuid.uuid4().hex[:16]}"


def about(entry: LedgerEntry, now: datetime) -> dict[str, Any]:
    """The fields that every review of the dispute has."""
    return {
        "at": now,
        "dispute_id": entry.dispute_id,
        "order_id": entry.order_id,
        "settles_under": entry.settles_under,
    }


def file(review: Review, within_s: float, since: datetime) -> Result:
    """Send the review, and wait until it was decided on and, where it pays, until the gateway answered.
    `since` is when it can have been sent first: its answer may be there already.

    Raises:
        Failure: it was taken, and no answer came in time.
        NotTaken: the broker did not take it.
    """
    listener = _Listener(review, since)
    try:
        sender = Sender()
        sender.send(REVIEWS.name, review.settles_under, review.to_bytes())
        sender.finish()
        return listener.wait(within_s)
    finally:
        listener.close()


class _Listener:
    """Reads decisions and payments from where the review's own can stand."""

    def __init__(self, review: Review, since: datetime) -> None:
        self._review = review
        self._key = review_key(review.dispute_id, review.review_id)
        places = [partition_for(topic, review.settles_under) for topic in (DECISIONS, PAYMENTS)]
        starts = {(span.topic, span.partition): span.end for span in spans(places)}
        starts |= {(s.topic, s.partition): s.start for s in spans(places, since - CLOCKS_DIFFER)}
        self._consumer = clients.consumer(f"refund-bench.review-{uuid.uuid4()}")
        self._consumer.assign(
            [TopicPartition(*place, starts.get(place, OFFSET_BEGINNING)) for place in places]
        )

    def close(self) -> None:
        self._consumer.close()

    def wait(self, within_s: float) -> Result:
        decision: Decision | None = None
        payment: Payment | None = None
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            for message in self._consumer.consume(1_000, 0.1):
                if message.error() is not None or self._key.encode() not in (
                    message.value() or b""
                ):
                    continue
                if message.topic() == DECISIONS.name:
                    made = Decision.from_bytes(message.value())
                    decision = made if made.decision_id == self._key else decision
                else:
                    answered = Payment.from_bytes(message.value())
                    payment = answered if answered.payment_id == self._key else payment
            if decision is not None and (not decision.amount_minor or payment is not None):
                return Result(decision, payment)
        if decision is not None:
            return Result(decision, None)
        raise Failure(
            f"the review {self._review.review_id} is recorded, and no answer came within {within_s:.0f} s",
            f"see `refund-bench status {self._review.dispute_id}`; it takes effect when the automatic part has "
            f"ended, once, and sending it again with --review-id {self._review.review_id} is safe",
            DEPENDENCY_DOWN,
            review_id=self._review.review_id,
        )
