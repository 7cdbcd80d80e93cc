"""Settlement gives the same result whatever order its events come in, prices once, and follows the money to its end."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.docket import Docket
from schemas.ids import auto_key
from schemas.letter import LetterRequest
from schemas.payment import Payment
from schemas.review import Review
from schemas.settlement import Decision, Proposal
from schemas.timer import Deadline
from schemas.verdict import Verdict
from streams.emit import Emit
from streams.order_book import OrderBook
from streams.recomputed import Recomputed
from streams.settlement import Settlement
from tests.unit.stages.events import (
    BANK,
    DISPUTE,
    NOW,
    PACKS,
    a_claim,
    a_docket,
    a_record,
    a_review,
    a_verdict,
    about,
    after,
    as_decided,
    as_paid,
    as_refused,
    cancelled,
    on,
    rung,
)

SETTLEMENT = Settlement(PACKS)
STEPS = {
    Docket: SETTLEMENT.on_docket,
    Verdict: SETTLEMENT.on_verdict,
    Review: SETTLEMENT.on_review,
    Decision: SETTLEMENT.on_decision,
    Payment: SETTLEMENT.on_payment,
    Deadline: SETTLEMENT.on_deadline,
}
# Two naans at 50.00, one late by 45 minutes at least: 49.00.
LATE = a_claim(2, category="LATE_DELIVERY", line_id=None, quantity=None, scope="order")
CLAIMS = (a_claim(1), LATE)
RECORD = a_record(delivered_at=after(minutes=-40).isoformat())
DOCKET = a_docket(*CLAIMS, evidence=RECORD)


class Order:
    """One order's settlement, fed event by event."""

    def __init__(self) -> None:
        self.book = OrderBook()
        self.emits: list[Emit] = []

    def take(self, *events: Any) -> list[Emit]:
        """Feed the events; what they made settlement produce."""
        made: list[Emit] = []
        for event in events:
            book, emits = STEPS[type(event)](self.book, event, NOW)
            assert book is not None
            # Through its bytes, as the state store keeps it.
            self.book = OrderBook.model_validate_json(book.model_dump_json(exclude_defaults=True))
            made += emits
        self.emits += made
        return made

    @property
    def proposals(self) -> list[Proposal]:
        return on("proposals", self.emits)

    @property
    def letters(self) -> list[LetterRequest]:
        return on("letter-requests", self.emits)

    def settle(self, *verdicts: Verdict, docket: Docket = DOCKET) -> Decision:
        """Up to a decision that lets the proposal through, not yet fed back."""
        self.take(docket, *verdicts)
        return as_decided(self.proposals[-1])


def verdicts(*rulings: str, dispute: str = DISPUTE) -> list[Verdict]:
    categories = ("MISSING_ITEM", "LATE_DELIVERY")
    return [
        a_verdict(i, ruling, dispute, category=categories[i - 1])
        for i, ruling in enumerate(rulings, 1)
    ]


def test_priced_when_the_last_verdict_is_in_and_not_before() -> None:
    order = Order()
    first, second = verdicts("UPHELD", "UPHELD")
    made = order.take(DOCKET, first)
    assert order.proposals == []
    [window] = [t for t in on("timers", made) if t and t.kind == "docket_window"]
    made = order.take(second)
    [proposal] = order.proposals
    assert proposal.amount_minor == 9_900, "a naan at 50.00 and 49.00 for the delay"
    assert proposal.decision_rule == "auto_resolve_within_cap"
    assert proposal.proposal_id == auto_key(DISPUTE)
    assert cancelled(made) == [window.timer_id]


def test_verdicts_before_their_docket_wait() -> None:
    order = Order()
    made = order.take(*verdicts("UPHELD", "UPHELD"))
    assert [t.kind for t in on("timers", made)] == ["retire"]
    assert order.proposals == []
    made = order.take(DOCKET)
    assert [p.amount_minor for p in order.proposals] == [9_900]
    assert [t.kind for t in on("timers", made)] == ["retire"], "no window where nothing is awaited"


def test_verdicts_whose_docket_never_comes_are_forgotten_in_time() -> None:
    order = Order()
    [retire] = on("timers", order.take(*verdicts("UPHELD", "UPHELD")))
    assert SETTLEMENT.on_deadline(order.book, rung(retire), retire.due_at) == (None, [])


def test_a_complaint_is_acknowledged_once_before_anything_is_judged() -> None:
    order = Order()
    docket = a_docket(a_claim(1, category="other"), evidence=None, pack=BANK.ref, acknowledge_by=NOW, resolve_by=NOW)  # fmt: skip
    order.take(docket, docket)
    assert [letter.letter_id for letter in order.letters] == [f"{DISPUTE}:acknowledgement:letter"]


def test_a_docket_with_nothing_to_ask_is_settled_at_once() -> None:
    order = Order()
    order.take(a_docket(evidence=a_record()))
    assert [p.decision_rule for p in order.proposals] == ["no_checkable_grievance"]


@pytest.mark.parametrize(
    "outcome", ["evidence_unavailable", "evidence_invalid", "order_too_old", "extraction_failed"]
)
def test_an_outcome_before_pricing_goes_to_a_person(outcome: str) -> None:
    order = Order()
    order.take(a_docket(outcome=outcome, evidence=None))
    [proposal] = order.proposals
    assert (proposal.decision_rule, proposal.needs_person, proposal.amount_minor) == (
        outcome,
        True,
        0,
    )


def test_the_docket_window_settles_with_what_is_there() -> None:
    order = Order()
    made = order.take(DOCKET, verdicts("UPHELD")[0])
    [window] = [t for t in on("timers", made) if t and t.kind == "docket_window"]
    order.take(rung(window))
    [proposal] = order.proposals
    assert proposal.amount_minor == 5_000
    assert proposal.escalated == ("LATE_DELIVERY",), "a verdict that never came is a person's"
    order.take(verdicts("UPHELD", "UPHELD")[1], rung(window))
    assert len(order.proposals) == 1, "neither the verdict after it nor the window again"


def test_a_deadline_with_no_state_finds_nothing() -> None:
    order = Order()
    made = Order().take(DOCKET)
    [window] = [t for t in on("timers", made) if t and t.kind == "docket_window"]
    assert order.take(rung(window)) == []
    assert order.book == OrderBook()


def test_a_docket_or_verdict_that_comes_again_changes_nothing() -> None:
    order = Order()
    order.settle(*verdicts("UPHELD", "UPHELD"))
    book = order.book
    assert (
        order.take(DOCKET, *verdicts("UPHELD", "UPHELD"), *verdicts("REJECTED", "REJECTED")) == []
    )
    assert order.book == book


def test_a_late_revision_decides_nothing() -> None:
    order = Order()
    order.take(DOCKET, a_verdict(1, "REJECTED", revision=2), a_verdict(2, "REJECTED", revision=3))
    assert order.proposals == []


def test_the_letter_is_asked_for_when_the_money_has_moved_and_once() -> None:
    order = Order()
    decision = order.settle(*verdicts("UPHELD", "UPHELD"))
    order.take(decision)
    assert order.letters == []
    order.take(as_paid(decision))
    [letter] = order.letters
    assert (letter.kind, letter.paid_minor) == ("outcome", 9_900)
    assert order.take(decision, as_paid(decision)) == []


def test_a_decision_that_comes_again_with_other_content_is_refused() -> None:
    """The stage makes a dead letter of it; what was decided first stands."""
    order = Order()
    decision = order.settle(*verdicts("UPHELD", "UPHELD"))
    order.take(decision)
    book = order.book
    with pytest.raises(Recomputed):
        order.take(decision.model_copy(update={"amount_minor": 1}))
    assert order.book == book


def test_a_payment_before_its_decision_is_the_same() -> None:
    straight, crossed = Order(), Order()
    decision = straight.settle(*verdicts("UPHELD", "ESCALATE"))
    straight.take(decision, as_paid(decision))
    crossed.settle(*verdicts("UPHELD", "ESCALATE"))
    crossed.take(as_paid(decision), decision)
    assert crossed.book == straight.book
    assert crossed.letters == straight.letters


def test_a_refused_payment_frees_its_scopes_for_a_person_to_give() -> None:
    order = Order()
    decision = order.settle(*verdicts("UPHELD", "UPHELD"))
    order.take(decision, as_refused(decision))
    [letter] = order.letters
    assert (letter.kind, letter.paid_minor) == ("handed_over", 0)
    book = order.book.disputes[DISPUTE]
    assert [line.disposition for line in book.lines] == ["person", "person"]
    assert {line.person_reason for line in book.lines} == {"payment_refused"}
    order.take(a_review("approve"))
    review = order.proposals[-1]
    assert (review.proposal_id, review.amount_minor) == (f"{DISPUTE}:review:r-1", 9_900)


def another(*claims: Any) -> Docket:
    return a_docket(*claims, dispute="d-2", evidence=RECORD)


def test_a_unit_paid_in_one_dispute_is_not_paid_in_the_next() -> None:
    order = Order()
    decision = order.settle(*verdicts("UPHELD", "UPHELD"))
    order.take(decision, as_paid(decision))
    late_again = a_claim(
        1, "d-2", category="LATE_DELIVERY", line_id=None, quantity=None, scope="order"
    )
    order.take(another(late_again), a_verdict(1, "UPHELD", "d-2", category="LATE_DELIVERY"))
    assert order.proposals[-1].dispute_id == "d-2"
    assert order.proposals[-1].amount_minor == 0


def test_a_unit_in_flight_or_before_a_person_stays_with_its_dispute() -> None:
    both = a_claim(1, "d-2", quantity=2)
    for first in ("UPHELD", "ESCALATE"):
        order = Order()
        order.settle(*verdicts(first, "REJECTED"))
        order.take(another(both), a_verdict(1, "UPHELD", "d-2"))
        assert order.proposals[-1].amount_minor <= 5_000, "the other naan at most"


def test_a_second_dispute_may_have_what_the_first_was_refused_by_a_person() -> None:
    order = Order()
    decision = order.settle(*verdicts("ESCALATE", "REJECTED"))
    order.take(decision, as_paid(decision), a_review("reject"))
    order.take(another(a_claim(1, "d-2", quantity=2)), a_verdict(1, "UPHELD", "d-2"))
    assert order.proposals[-1].amount_minor == 10_000


def part_paid() -> tuple[Order, Decision]:
    order = Order()
    decision = order.settle(*verdicts("ESCALATE", "UPHELD"))
    order.take(decision, as_paid(decision))
    return order, decision


def test_a_part_is_paid_and_a_part_waits_for_a_person() -> None:
    order, decision = part_paid()
    assert (decision.amount_minor, decision.escalated) == (4_900, ("MISSING_ITEM",))
    [waiting] = [line for line in decision.lines if line.disposition == "person"]
    assert waiting.amount_if_upheld_minor == 5_000
    assert [line.state for line in order.letters[0].lines] == ["with_a_person", "resolved"]


def test_a_review_takes_effect_once() -> None:
    order, _ = part_paid()
    order.take(a_review("approve"))
    [_, proposal] = order.proposals
    assert (proposal.amount_minor, proposal.authorised_by) == (5_000, "person:asha")
    assert order.take(a_review("approve")) == []
    order.take(a_review("approve", "r-2", "bola"))
    refused = order.proposals[-1]
    assert (refused.decision_rule, refused.amount_minor) == ("review_refused:nothing_pending", 0)


def test_a_review_that_comes_before_the_automatic_part_has_ended_waits_for_it() -> None:
    order, decision = part_paid()
    early = Order()
    early.take(a_review("approve"))
    early.settle(*verdicts("ESCALATE", "UPHELD"))
    assert [p.review_id for p in early.proposals] == [None]
    early.take(as_paid(decision), decision)
    order.take(a_review("approve"))
    assert early.proposals == order.proposals
    assert early.book == order.book


def test_the_letter_after_a_review_follows_its_payment() -> None:
    order, _ = part_paid()
    order.take(a_review("approve"))
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_paid(decision))
    assert [(letter.kind, letter.paid_minor) for letter in order.letters] == [
        ("outcome", 4_900),
        ("review", 5_000),
    ]


def test_a_refused_review_is_recorded_and_the_customer_is_not_told() -> None:
    order, _ = part_paid()
    order.take(a_review("approve", role="customer"))
    decision = as_decided(order.proposals[-1])
    assert decision.decision_rule == "review_refused:role_may_not_decide"
    order.take(decision, as_paid(decision))
    assert len(order.letters) == 1
    assert order.book.disputes[DISPUTE].needs_person, "and it still waits"


def test_more_than_the_order_has_left_is_refused_to_a_person_too() -> None:
    """Of 100.00 paid, 49.00 went for the delay, so 50.00 more is in; the record says 80.00 was paid."""
    order = Order()
    docket = a_docket(*CLAIMS, evidence={**RECORD, "paid_total_minor": 8_000})
    decision = order.settle(*verdicts("ESCALATE", "UPHELD"), docket=docket)
    order.take(decision, as_paid(decision))
    left = 8_000 - decision.amount_minor
    order.take(a_review("amount", amount_minor=left + 1))
    assert order.proposals[-1].decision_rule == "review_refused:above_ceiling"
    order.take(a_review("amount", "r-2", amount_minor=left))
    assert order.proposals[-1].amount_minor == left


def test_two_different_people_approve_tier_three() -> None:
    record = {
        "kind": "bank-transaction", "transaction_id": "order-1", "customer_id": "customer-1",
        "currency": "NGN", "amount_minor": 60_000_000, "initiated_at": NOW.isoformat(),
        "rail": "nip", "status": "FAILED", "debit_posted": True, "credit_posted": False,
        "captured_at": NOW.isoformat(),
    }  # fmt: skip
    claim = a_claim(1, category="failed_transfer", line_id=None, quantity=None)
    docket = a_docket(claim, evidence=record, tier=3, pack=BANK.ref)
    verdict = a_verdict(1, "UPHELD", category="failed_transfer", **{"pack": BANK.ref})
    order = Order()
    decision = order.settle(verdict, docket=docket)
    assert decision.decision_rule == "tier_3_requires_human_approval"
    order.take(decision, as_paid(decision))
    for review, reviewer, rule in (
        ("r-1", "asha", "review_awaits_second_person"),
        ("r-2", "asha", "review_refused:same_person_twice"),
        ("r-3", "bola", "review_approved"),
    ):
        order.take(a_review("approve", review, reviewer))
        assert order.proposals[-1].decision_rule == rule
    assert order.proposals[-1].amount_minor == 60_000_000


def test_the_customers_words_stay_until_no_person_needs_them() -> None:
    order, _ = part_paid()
    assert "not in the bag" in order.book.model_dump_json()
    order.take(a_review("reject"))
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_paid(decision))
    kept = order.book.model_dump_json()
    assert "not in the bag" not in kept
    assert "one naan missing" not in kept


def test_an_order_is_forgotten_when_its_time_has_come_unless_a_person_still_decides() -> None:
    order, _ = part_paid()
    [retire] = [t for t in on("timers", order.emits) if t and t.kind == "retire"]
    made = order.take(rung(retire))
    assert [t.kind for t in on("timers", made)] == ["retire"], "looked at again later"
    order.take(a_review("reject"))
    [again] = on("timers", made)
    assert SETTLEMENT.on_deadline(order.book, rung(again), again.due_at) == (None, [])


def story() -> list[Any]:
    """Everything that happens to a part-paid dispute that a person then pays."""
    order, decision = part_paid()
    order.take(review := a_review("approve"))
    reviewed = as_decided(order.proposals[-1])
    return [
        DOCKET, *verdicts("ESCALATE", "UPHELD"), decision, as_paid(decision), review, reviewed,
        as_paid(reviewed),
    ]  # fmt: skip


STORY = story()


def orders() -> st.SearchStrategy[list[Any]]:
    """Any order across topics; within a topic the order it was made in."""

    def keep(shuffled: list[Any]) -> list[Any]:
        queues = {kind: [e for e in STORY if type(e) is kind] for kind in STEPS}
        return [queues[type(e)].pop(0) for e in shuffled]

    return st.permutations(STORY).map(keep)


@settings(max_examples=150, deadline=None)
@given(orders(), st.data())
def test_the_order_of_the_events_does_not_matter(events: list[Any], data: st.DataObject) -> None:
    """A decision before its proposal cannot be, so those orders are left out; a redelivery can."""
    position = {id(e): i for i, e in enumerate(events)}
    made_from = {
        id(STORY[3]): STORY[:3],
        id(STORY[4]): STORY[:3],
        id(STORY[6]): STORY[:6],
        id(STORY[7]): STORY[:6],
    }
    for late, needed in made_from.items():
        if any(position[late] < position[id(n)] for n in needed):
            return
    again = data.draw(st.lists(st.sampled_from(events), max_size=4))
    straight, crossed = Order(), Order()
    straight.take(*STORY)
    crossed.take(*events, *again)
    assert crossed.book == straight.book
    assert crossed.proposals == straight.proposals
    assert sorted(letter.letter_id for letter in crossed.letters) == sorted(
        letter.letter_id for letter in straight.letters
    )


def test_one_simulated_verdict_marks_the_proposal() -> None:
    order = Order()
    first, second = verdicts("UPHELD", "UPHELD")
    order.take(DOCKET, first, second.model_copy(update={"simulated": True}))
    assert order.proposals[0].simulated


def test_about_is_the_same_for_every_event_of_the_story() -> None:
    assert {e.dispute_id for e in STORY} == {about()["dispute_id"]}
