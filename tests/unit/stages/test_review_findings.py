"""Faults that a hostile review found on the path of money and state, each as the case that showed it."""

from typing import Any

import pytest

from streams.allowance import Allowance, CustomerState
from streams.order_book import OrderBook
from streams.payout import KEY_CONFLICT
from streams.reviewing import review_outcome
from tests.unit.stages.events import (
    BANK,
    DISPUTE,
    FOOD,
    NOW,
    ORDER,
    SEAL,
    a_claim,
    a_complaint,
    a_docket,
    a_line,
    a_pending_line,
    a_proposal,
    a_record,
    a_review,
    a_verdict,
    about,
    after,
    as_decided,
    as_paid,
    as_refused,
    on,
    rung,
)
from tests.unit.stages.test_intake import RECORDS, a_transaction, at_the_end_of_the_grace
from tests.unit.stages.test_intake import Order as IntakeOrder
from tests.unit.stages.test_settlement import (
    CLAIMS,
    DOCKET,
    RECORD,
    SETTLEMENT,
    Order,
    part_paid,
    verdicts,
)

LONG_ID = "o" * 200


# A dispute that nobody would ever decide.


def test_a_record_that_pricing_stumbles_over_is_a_persons() -> None:
    line = {"line_id": "L" * 200, "name": "Naan", "quantity": 2, "unit_price_minor": 5_000}
    order = Order()
    docket = a_docket(a_claim(1, line_id="L" * 200), evidence=a_record(line_items=[line]))
    order.take(docket, a_verdict(1, "UPHELD"))
    [proposal] = order.proposals
    assert (proposal.decision_rule, proposal.amount_minor) == ("evidence_invalid", 0)
    assert (proposal.needs_person, proposal.escalated) == (True, ("MISSING_ITEM",))


def test_a_sum_above_what_money_can_be_is_a_persons() -> None:
    most = 9_000_000_000_000_000
    record = a_transaction(ORDER, "TX-8", "TX-9")
    record["related"] = [{**other, "amount_minor": most} for other in record["related"]]
    claim = a_claim(1, category="duplicate_debit", line_id=None, quantity=None)
    order = Order()
    order.take(
        a_docket(claim, evidence=record, pack=BANK.ref),
        a_verdict(1, "UPHELD", category="duplicate_debit", pack=BANK.ref),
    )
    assert [p.decision_rule for p in order.proposals] == ["evidence_invalid"]


def test_the_longest_order_id_has_its_timers() -> None:
    intake = IntakeOrder()
    intake.take(a_record(order_id=LONG_ID))
    intake.take(a_complaint(order_id=LONG_ID))
    [dispute] = intake.disputes
    order = Order()
    order.take(a_docket(evidence=a_record(), order_id=LONG_ID, settles_under=dispute.settles_under))
    [retire] = on("timers", order.emits)
    assert (retire.waiting_key, len(retire.timer_id) <= 200) == (LONG_ID, True)
    assert len(order.proposals) == 1


def test_a_review_whose_letter_could_have_no_id_is_refused_before_the_money_moves() -> None:
    order, _ = part_paid()
    with pytest.raises(ValueError, match="review_id"):
        order.take(a_review("approve", "r" * 190))
    order.take(a_review("approve", "r" * 150))
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_paid(decision))
    assert order.letters[-1].paid_minor == decision.amount_minor


def test_two_officers_who_disagreed_can_come_to_agree() -> None:
    line = a_pending_line(1, 6_000)
    first = review_outcome(
        a_review("amount", amount_minor=4_000), [line], (), 3, FOOD.pack, waits=True
    )
    second = review_outcome(
        a_review("approve", "r-2", "bola"), [line], first.approvals, 3, FOOD.pack, waits=True
    )
    assert second.rule == "review_awaits_second_person"
    third = review_outcome(
        a_review("approve", "r-3", "asha"), [line], second.approvals, 3, FOOD.pack, waits=True
    )
    assert third.rule == "review_approved"


def test_who_changed_their_mind_no_longer_stands_for_the_first_amount() -> None:
    line = a_pending_line(1, 6_000)
    approvals: tuple[Any, ...] = ()
    for review, amount in (("r-1", 4_000), ("r-2", 5_000)):
        said = a_review("amount", review, "asha", amount_minor=amount)
        approvals = review_outcome(said, [line], approvals, 3, FOOD.pack, waits=True).approvals
    late = a_review("amount", "r-3", "bola", amount_minor=4_000)
    outcome = review_outcome(late, [line], approvals, 3, FOOD.pack, waits=True)
    assert outcome.rule == "review_awaits_second_person"


# Money that would move wrongly, or twice.


def test_records_captured_in_the_future_pay_no_late_credit_and_shadow_no_true_ones() -> None:
    ahead = a_record(captured_at=after(days=400).isoformat(), delivered_at=None)
    dispute = at_the_end_of_the_grace(a_complaint(), ahead)
    assert dispute.outcome == "evidence_invalid"
    assert dispute.evidence_problems == ("captured_at lies in the future",)
    order = IntakeOrder()
    order.take(ahead)
    order.take(a_record())
    order.take(a_complaint())
    assert order.disputes[0].evidence == a_record()
    inline = at_the_end_of_the_grace(a_complaint(evidence=ahead, source=RECORDS))
    assert inline.outcome == "evidence_invalid"


def test_a_transaction_whose_family_is_found_later_is_not_paid_under_two_books() -> None:
    order = IntakeOrder()
    order.take(a_transaction("TX-2"))
    order.take(a_complaint(order_id="TX-2", policy="bank-disputes-ng", text="It failed."))
    order.take({**a_transaction("TX-2", "TX-1"), "captured_at": after(seconds=9).isoformat()})
    order.take(a_complaint(order_id="TX-2", policy="bank-disputes-ng", text="It failed again."))
    first, second = order.disputes
    assert (first.settles_under, first.outcome) == ("TX-2", None)
    assert (second.settles_under, second.outcome) == ("TX-2", "evidence_invalid")
    assert "TX-2" in second.evidence_problems[0]


def test_a_dispute_that_could_not_be_priced_ties_no_later_one_to_its_book() -> None:
    order = IntakeOrder()
    order.take(a_complaint(order_id="TX-2", policy="bank-disputes-ng", text="It failed."))
    order.take(rung(order.grace), order.grace.due_at)
    order.take(a_transaction("TX-2", "TX-1"))
    order.take(a_complaint(order_id="TX-2", policy="bank-disputes-ng", text="It failed again."))
    assert (order.disputes[1].settles_under, order.disputes[1].outcome) == ("TX-1", None)


def test_a_key_the_gateway_holds_with_another_amount_frees_nothing() -> None:
    """Money did move under it, so that neither a person nor another dispute may pay it once more."""
    order = Order()
    decision = order.settle(*verdicts("UPHELD", "UPHELD"))
    order.take(decision, as_refused(decision).model_copy(update={"refusal": KEY_CONFLICT}))
    assert order.book.disputes[DISPUTE].needs_person
    order.take(a_review("approve"))
    assert order.proposals[-1].decision_rule == "review_refused:nothing_to_approve"
    again = a_docket(a_claim(1, "d-2"), dispute="d-2", evidence=RECORD)
    order.take(again, a_verdict(1, "UPHELD", "d-2"))
    assert order.proposals[-1].dispute_id == "d-2"
    assert order.proposals[-1].amount_minor <= 5_000, "the other naan at most"


def test_what_was_refunded_since_is_not_approved_once_more() -> None:
    """D-1's naan waits; meanwhile the shop refunds all but 10.00, as the records of d-2 say."""
    order, _ = part_paid()
    refund = {"refund_id": "shop-1", "amount_minor": 4_100, "line_id": "L1"}
    later = a_docket(a_claim(1, "d-2"), dispute="d-2", evidence={**RECORD, "refunds": [refund]})
    order.take(later, a_verdict(1, "REJECTED", "d-2"))
    order.take(a_review("approve"))
    assert order.proposals[-1].decision_rule == "review_refused:above_ceiling"


def test_what_a_person_approves_on_simulated_rulings_is_simulated() -> None:
    order = Order()
    first, second = verdicts("ESCALATE", "UPHELD")
    decision = order.settle(first.model_copy(update={"simulated": True}), second)
    assert decision.simulated
    order.take(decision, as_paid(decision), a_review("approve"))
    assert order.proposals[-1].simulated, "or a real gateway would take it"


def test_a_pack_with_a_short_window_does_not_empty_another_packs() -> None:
    weekly = FOOD.pack.model_copy(
        update={
            "policy": "weekly",
            "limits": FOOD.pack.limits.model_copy(update={"customer_window_days": 7}),
        }
    )

    class Registry:
        def __iter__(self) -> Any:
            return iter((FOOD,))

        def get(self, policy: str, version: int) -> Any:
            return type("P", (), {"pack": weekly if policy == "weekly" else FOOD.pack})()

    allowance = Allowance(Registry(), SEAL)  # type: ignore[arg-type]
    state: CustomerState | None = CustomerState()
    ref = FOOD.ref
    for day, dispute, pack in (
        (0, "d-1", ref),
        (20, "d-2", ref.model_copy(update={"policy": "weekly"})),
        (21, "d-3", ref),
    ):
        line = a_line(1, dispute, amount_minor=99_000)
        state, emits = allowance.on_proposal(
            state or CustomerState(), a_proposal(line, dispute=dispute, pack=pack), after(days=day)
        )
    [decision] = on("decisions", emits)
    assert decision.decision_rule == "customer_window_total_above_limit"


# Words that a customer should not read, or that should not stay.


def test_the_letter_after_a_review_still_has_the_words_it_speaks_of() -> None:
    order, _ = part_paid()
    order.take(a_review("approve"))
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_paid(decision))
    letter = order.letters[-1]
    assert (letter.kind, letter.complaint_text) == ("review", DOCKET.text)
    assert [line.text for line in letter.lines] == ["one naan missing"]
    assert "naan was not" not in order.book.model_dump_json(), "and then they go"


def test_what_a_person_turned_down_is_not_told_as_resolved() -> None:
    order = Order()
    flagged = DOCKET.model_copy(update={"safety_words": True})
    decision = order.settle(*verdicts("UPHELD", "UPHELD"), docket=flagged)
    order.take(decision, as_paid(decision), a_review("reject"))
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_paid(decision))
    assert order.letters[-1].kind == "review"
    assert order.letters[-1].lines == ()


def test_a_problem_that_quotes_the_complaint_goes_with_it() -> None:
    order = Order()
    docket = a_docket(
        outcome="extraction_failed", problem="the quote 'my naan' is not in the complaint"
    )
    decision = order.settle(docket=docket)
    order.take(decision, as_paid(decision), a_review("reject"))
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_paid(decision))
    assert "my naan" not in order.book.model_dump_json()


def test_a_review_of_a_dispute_that_never_was_is_forgotten() -> None:
    order = Order()
    order.take(a_review("approve", note="the customer told me on the phone"))
    [retire] = on("timers", order.emits)
    assert SETTLEMENT.on_deadline(order.book, rung(retire), retire.due_at) == (None, [])


# Events that were dropped, or waited for in vain.


def test_records_that_come_with_a_repeated_complaint_are_not_dropped() -> None:
    order = IntakeOrder()
    order.take(a_complaint())
    order.take(a_complaint(evidence=a_record(), source=RECORDS))
    [dispute] = order.disputes
    assert dispute.evidence == a_record()
    order = IntakeOrder()
    order.take(a_complaint())
    order.take(a_complaint(evidence=a_record()))
    assert order.disputes == [], "a customer's are none"


def test_a_unit_is_not_paid_beside_goods_that_a_person_gave_without_naming_a_line() -> None:
    """D-1 names no line, and a person pays for it; d-2 names the naan, which may be the same one."""
    order = Order()
    decision = order.settle(
        a_verdict(1, "UPHELD"), docket=a_docket(a_claim(1, line_id=None), evidence=RECORD)
    )
    order.take(decision, as_paid(decision), a_review("amount", amount_minor=5_000))
    decision = as_decided(order.proposals[-1])
    assert decision.amount_minor == 5_000
    order.take(decision, as_paid(decision))
    again = a_docket(a_claim(1, "d-2"), dispute="d-2", evidence=RECORD)
    order.take(again, a_verdict(1, "UPHELD", "d-2"))
    last = order.proposals[-1]
    assert (last.amount_minor, last.escalated) == (0, ("MISSING_ITEM",))


def test_a_fee_is_not_paid_again_when_another_comes_before_it_in_the_record() -> None:
    packaging = {"name": "packaging", "amount_minor": 3_000, "due_minor": 1_000}
    surge = {"name": "surge", "amount_minor": 1_500, "due_minor": 1_500}
    order = Order()
    for dispute, fees in ((DISPUTE, [packaging]), ("d-2", [surge, packaging])):
        billing = a_claim(1, dispute, category="BILLING", line_id=None, quantity=None)
        order.take(
            a_docket(billing, dispute=dispute, evidence=a_record(fee_lines=fees)),
            a_verdict(1, "UPHELD", dispute, category="BILLING"),
        )
    first, second = order.proposals
    assert (first.amount_minor, second.amount_minor) == (2_000, 0)
    assert second.escalated == ("BILLING",)
    assert second.lines[0].ceiling_minor == 8_000, "a person may still give for the other"


# State that was lost, and state that stays too long.


def test_an_order_whose_state_was_lost_is_rebuilt_from_its_decisions() -> None:
    """Keys and tier with it: a refused review frees its own lines, and tier 3 still takes two people."""
    whole, _ = part_paid()
    whole.take(a_review("approve"))
    decisions = [as_decided(proposal, tier=3) for proposal in whole.proposals]
    rebuilt = Order()
    for decision in decisions:
        rebuilt.take(decision, as_refused(decision) if decision.review_id else as_paid(decision))
    rebuilt.take(DOCKET)
    book = rebuilt.book.disputes[DISPUTE]
    assert (book.tier, rebuilt.proposals) == (3, [])
    assert [(line.disposition, line.person_reason) for line in book.lines] == [
        ("person", "payment_refused"),
        ("pay", None),
    ]
    rebuilt.take(a_review("approve", "r-9", "bola"))
    assert rebuilt.proposals[-1].decision_rule == "review_awaits_second_person"


def test_what_a_person_decided_before_the_state_was_lost_is_decided() -> None:
    """Decisions come again first, the payments of all of them later, the review itself at any time."""
    whole, _ = part_paid()
    whole.take(a_review("approve"))
    decisions = [as_decided(proposal) for proposal in whole.proposals]
    assert [d.needs_person for d in decisions] == [True, False]
    rebuilt = Order()
    rebuilt.take(a_review("approve"), *decisions, *map(as_paid, decisions), DOCKET)
    rebuilt.take(a_review("approve"))
    book = rebuilt.book.disputes[DISPUTE]
    assert (book.needs_person, book.early, rebuilt.proposals) == (False, (), [])
    rebuilt.take(a_review("amount", "r-9", "bola", amount_minor=100))
    assert rebuilt.proposals[-1].decision_rule == "review_refused:nothing_pending"


@pytest.mark.parametrize("docket_first", [False, True])
def test_a_rebuilt_order_is_bounded_by_its_record_again(docket_first: bool) -> None:
    """All of the order was paid; an appeal finds nothing left, and not what the pack allows without a record."""
    decision = as_decided(a_proposal(a_line(1), a_line(2)))
    first, then = (DOCKET, decision) if docket_first else (decision, DOCKET)
    rebuilt = Order()
    rebuilt.take(first, then, as_paid(decision), a_review("appeal", "r-1"))
    rebuilt.take(a_review("amount", "r-2", "bola", amount_minor=100))
    assert rebuilt.proposals[-1].decision_rule == "review_refused:nothing_left"


@pytest.mark.parametrize("docket_first", [False, True])
def test_a_rebuilt_order_knows_that_its_rulings_were_simulated_and_its_charge(
    docket_first: bool,
) -> None:
    """Only the verdicts were simulated, and they are not heard again; a person's part stays off real gateways."""
    decision = as_decided(a_proposal(a_line(1), a_pending_line(2), simulated=True))
    docket = a_docket(*CLAIMS, evidence={**RECORD, "payment_reference": "ch_1"})
    assert not docket.simulated
    first, then = (docket, decision) if docket_first else (decision, docket)
    rebuilt = Order()
    rebuilt.take(first, then, as_paid(decision), a_review("approve"))
    proposal = rebuilt.proposals[-1]
    assert (proposal.amount_minor, proposal.simulated, proposal.charge) == (5_000, True, "ch_1")


def test_a_rebuilt_order_is_remembered_as_long_as_any_other() -> None:
    """Else a transaction could be disputed, and paid, again after 30 days."""
    proposal = a_proposal(a_line(1), **about(pack=BANK))
    book, emits = SETTLEMENT.on_decision(OrderBook(), as_decided(proposal), NOW)
    limits, windows = BANK.pack.limits, BANK.pack.windows
    assert book is not None
    assert book.retire_at == after(days=limits.max_order_age_days + windows.retire_days)
    assert [timer.due_at for timer in on("timers", emits)] == [book.retire_at]


def test_a_closed_dispute_that_was_rebuilt_keeps_no_record_either() -> None:
    order = Order()
    decision = as_decided(a_proposal(a_line(1)))
    order.take(decision, as_paid(decision), DOCKET)
    assert "Butter Naan" not in order.book.model_dump_json()


def test_records_are_kept_no_longer_than_their_topic_keeps_them() -> None:
    """A bank's order is remembered for 630 days, and its records may quote a customer."""
    order = IntakeOrder()
    order.take({**a_transaction("TX-1"), "call_recording_summary": "he said his mother is ill"})
    order.take(a_complaint(order_id="TX-1", policy="bank-disputes-ng"))
    timers = [t for t in on("timers", order.emits) if t and t.payload]
    assert [t.due_at for t in timers] == [after(days=30)]
    order.take({**a_transaction("TX-1"), "captured_at": after(days=5).isoformat()}, after(days=5))
    [_, later] = [t for t in on("timers", order.emits) if t and t.payload]
    order.take(rung(timers[0]), timers[0].due_at)
    assert order.state is not None
    assert order.state.snapshots, "put off by the newer ones"
    order.take(rung(later), later.due_at)
    assert order.state.snapshots == ()
    assert order.state.opened, "and the repeat is still known"
    order.take({**a_transaction("TX-1"), "captured_at": after(days=50).isoformat()}, after(days=50))
    last = on("timers", order.emits)[-1]
    order.take(rung(last), last.due_at)
    assert order.state.snapshots == ()
