"""What a person may pay where no line says what: bounded by what is left of the order, once per scope."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.docket import Docket
from schemas.settlement import Decision, Proposal
from streams.beyond_lines import CATEGORY, unrecorded_limit
from tests.unit.stages.events import (
    BANK,
    DISPUTE,
    FOOD,
    NOW,
    a_claim,
    a_docket,
    a_record,
    a_review,
    a_verdict,
    after,
    as_decided,
    as_paid,
    as_refused,
)
from tests.unit.stages.test_settlement import CLAIMS, RECORD, Order, verdicts

UNRECORDED = unrecorded_limit(FOOD.pack)
TRANSACTION = {
    "kind": "bank-transaction", "transaction_id": "order-1", "customer_id": "customer-1",
    "currency": "NGN", "amount_minor": 900_000, "initiated_at": NOW.isoformat(), "rail": "pos",
    "status": "SUCCESSFUL", "debit_posted": True, "reversal_posted": False,
    "captured_at": NOW.isoformat(),
}  # fmt: skip


def handed_over(docket: Docket, *more: Any) -> Order:
    """An order whose dispute the rules gave to a person."""
    order = Order()
    order.take(docket, *more)
    follow(order)
    return order


def follow(order: Order) -> Decision:
    """The last proposal through allowance and payout."""
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_paid(decision))
    return decision


def review(order: Order, action: str, number: int = 1, **changes: Any) -> Proposal:
    dispute = changes.pop("dispute_id", DISPUTE)
    order.take(a_review(action, f"r-{dispute}-{number}", dispute_id=dispute, **changes))
    follow(order)
    return order.proposals[-1]


def pay(order: Order, amount: int, number: int = 1, **changes: Any) -> Proposal:
    return review(order, "amount", number, amount_minor=amount, **changes)


@pytest.mark.parametrize("outcome", ["order_too_old", "extraction_failed", "evidence_invalid"])
def test_with_a_record_a_person_may_pay_what_is_left_of_the_order(outcome: str) -> None:
    order = handed_over(a_docket(outcome=outcome, evidence=a_record()))
    assert order.proposals[0].whole_ceiling_minor == 10_000
    assert pay(order, 10_001).decision_rule == "review_refused:above_ceiling"
    paid = pay(order, 7_000, 2)
    assert (paid.decision_rule, paid.amount_minor) == ("review_amount", 7_000)
    assert paid.proposal_id == f"{DISPUTE}:review:r-{DISPUTE}-2"
    [line] = paid.lines
    assert (line.category, line.scope, line.scopes[0].scope) == (CATEGORY, "whole", f"reviewed:{DISPUTE}")  # fmt: skip
    assert pay(order, 1_000, 3).decision_rule == "review_refused:nothing_pending", "once"


def test_refunds_of_others_leave_less() -> None:
    refunds = [{"refund_id": "theirs", "amount_minor": 4_000}]
    order = handed_over(a_docket(outcome="order_too_old", evidence=a_record(refunds=refunds)))
    assert order.proposals[0].whole_ceiling_minor == 6_000


@pytest.mark.parametrize("outcome", ["evidence_unavailable", "evidence_invalid"])
def test_without_a_record_the_packs_limit_bounds_it_over_all_disputes_of_the_order(
    outcome: str,
) -> None:
    order = handed_over(a_docket(outcome=outcome, evidence=None))
    assert pay(order, UNRECORDED + 1).decision_rule == "review_refused:above_ceiling"
    assert pay(order, UNRECORDED - 500, 2).decision_rule == "review_amount"
    order.take(a_docket(dispute="d-2", outcome=outcome, evidence=None))
    follow(order)
    assert order.proposals[-1].whole_ceiling_minor == 500
    assert pay(order, 501, dispute_id="d-2").decision_rule == "review_refused:above_ceiling"
    assert pay(order, 500, 2, dispute_id="d-2").amount_minor == 500


def test_a_pack_that_says_nothing_is_bounded_by_its_smallest_authority() -> None:
    limits = FOOD.pack.limits.model_copy(update={"unrecorded_limit_minor": None})
    silent = FOOD.pack.model_copy(update={"limits": limits})
    assert unrecorded_limit(silent) == 200_000
    assert unrecorded_limit(silent.model_copy(update={"roles": ()})) == 0


def test_approval_without_an_amount_asks_for_one_and_a_rejection_closes() -> None:
    order = handed_over(a_docket(outcome="evidence_unavailable", evidence=None))
    assert review(order, "approve").decision_rule == "review_refused:state_an_amount"
    assert review(order, "reject", 2).decision_rule == "review_rejected"
    assert not order.book.disputes[DISPUTE].needs_person


def test_the_authority_of_the_role_holds_here_too() -> None:
    record = a_record(paid_total_minor=500_000)
    order = handed_over(a_docket(outcome="order_too_old", evidence=record))
    assert pay(order, 200_001, role="officer").decision_rule == "review_refused:above_authority"
    assert pay(order, 200_001, 2, role="lead").decision_rule == "review_amount"


def test_a_refused_payment_of_it_waits_again_with_the_ceiling_there_is() -> None:
    order = handed_over(a_docket(outcome="order_too_old", evidence=a_record()))
    order.take(a_review("amount", amount_minor=3_000))
    decision = as_decided(order.proposals[-1])
    order.take(decision, as_refused(decision))
    again = pay(order, 10_000, 2)
    assert (again.decision_rule, [line.amount_minor for line in again.lines]) == ("review_amount", [10_000])  # fmt: skip


def test_what_a_person_paid_for_the_order_stands_in_the_way_of_the_rules_but_not_of_a_person() -> (
    None
):
    order = handed_over(a_docket(outcome="order_too_old", evidence=a_record()))
    pay(order, 3_000)
    late = a_claim(2, "d-2", category="LATE_DELIVERY", line_id=None, quantity=None, scope="order")
    record = a_record(delivered_at=after(minutes=-40).isoformat())
    order.take(
        a_docket(a_claim(1, "d-2"), late, dispute="d-2", evidence=record),
        *verdicts("UPHELD", "UPHELD", dispute="d-2"),
    )
    proposal = order.proposals[-1]
    assert (proposal.amount_minor, proposal.escalated) == (0, ("LATE_DELIVERY", "MISSING_ITEM"))
    follow(order)
    assert pay(order, 7_001, dispute_id="d-2").decision_rule == "review_refused:above_ceiling"
    assert pay(order, 7_000, 2, dispute_id="d-2").amount_minor == 7_000, "the order's ceiling"


def test_everything_rejected_in_a_tier_for_people_can_be_paid_by_one() -> None:
    claim = a_claim(1, category="failed_transfer", line_id=None, quantity=None)
    docket = a_docket(claim, evidence=TRANSACTION, tier=2, pack=BANK.ref)
    rejected = a_verdict(1, "REJECTED", category="failed_transfer", pack=BANK.ref)
    order = handed_over(docket, rejected)
    assert order.proposals[0].decision_rule == "tier_2_requires_human_approval"
    paid = pay(order, 900_000)
    assert paid.lines[0].scopes[0].scope == "tx:order-1", "a transaction has one scope"


def test_what_a_person_pays_without_a_record_has_the_tier_of_its_amount() -> None:
    docket = a_docket(outcome="order_too_old", evidence={**TRANSACTION, "amount_minor": 90_000_000}, pack=BANK.ref)  # fmt: skip
    order = handed_over(docket)
    first = pay(order, 60_000_000)
    assert (first.decision_rule, first.tier) == ("review_awaits_second_person", 3)
    assert pay(order, 60_000_000, 2).decision_rule == "review_refused:same_person_twice"
    assert pay(order, 60_000_000, 3, reviewer="bola").decision_rule == "review_amount"


def test_related_transactions_are_not_both_returned_by_a_person() -> None:
    order = handed_over(a_docket(outcome="evidence_unavailable", evidence=None, pack=BANK.ref))
    order.take(a_docket(dispute="d-2", order_id="order-2", outcome="evidence_unavailable", evidence=None, pack=BANK.ref))  # fmt: skip
    follow(order)
    assert pay(order, 1_000).decision_rule == "review_amount"
    assert pay(order, 1_000, dispute_id="d-2").decision_rule == "review_refused:scope_taken"


def test_an_appeal_opens_a_closed_dispute_for_another_person_and_judges_nothing() -> None:
    order = Order()
    decision = order.settle(*verdicts("ESCALATE", "REJECTED"))
    order.take(decision, as_paid(decision))
    assert review(order, "reject").decision_rule == "review_rejected"
    appealed = review(order, "appeal", 2, reviewer="customer-1", role="customer")
    assert (appealed.decision_rule, appealed.needs_person, appealed.amount_minor) == ("appealed", True, 0)  # fmt: skip
    assert appealed.whole_ceiling_minor == 10_000
    assert order.letters[-1].kind == "handed_over"
    assert order.letters[-1].complaint_text == "", "the words are gone by then"
    assert pay(order, 5_000, 3).decision_rule == "review_refused:decided_before_the_appeal"
    paid = pay(order, 5_000, 4, reviewer="bola")
    assert (paid.amount_minor, paid.proposal_id) == (5_000, f"{DISPUTE}:review:r-{DISPUTE}-4")
    assert len([p for p in order.proposals if p.review_id is None]) == 1, "priced once"
    told = order.letters[-1]
    assert (told.kind, told.paid_minor, told.lines[0].text) == ("review", 5_000, "the order as a whole")  # fmt: skip


def test_an_appeal_of_what_was_paid_gives_the_rest_of_the_order_at_most() -> None:
    order = Order()
    decision = order.settle(*verdicts("UPHELD", "UPHELD"))
    order.take(decision, as_paid(decision))
    review(order, "appeal", role="customer")
    assert pay(order, 101, 2).decision_rule == "review_refused:above_ceiling"
    assert pay(order, 100, 3).amount_minor == 100


def test_a_second_appeal_waits_its_turn_and_pays_no_scope_twice() -> None:
    order = Order()
    decision = order.settle(*verdicts("REJECTED", "REJECTED"))
    order.take(decision, as_paid(decision))
    review(order, "appeal", role="customer")
    letters = len(order.letters)
    again = review(order, "appeal", 2, role="customer")
    assert (again.decision_rule, again.needs_person) == ("review_refused:appealed_already", True)
    assert len(order.letters) == letters, "the customer was told once"
    assert pay(order, 2_000, 3).amount_minor == 2_000
    assert review(order, "appeal", 4, role="customer").decision_rule == "appealed"
    assert pay(order, 1_000, 5, reviewer="bola").decision_rule == "review_refused:scope_paid"
    assert review(order, "reject", 6, reviewer="bola").decision_rule == "review_rejected"


def test_an_appeal_of_a_dispute_in_review_adds_to_what_its_person_may_do() -> None:
    order = Order()
    docket = a_docket(*CLAIMS, evidence=a_record(paid_total_minor=20_000))
    decision = order.settle(*verdicts("ESCALATE", "REJECTED"), docket=docket)
    order.take(decision, as_paid(decision))
    assert pay(order, 5_001).decision_rule == "review_refused:above_ceiling"
    assert review(order, "appeal", 2, role="customer").decision_rule == "appealed"
    paid = pay(order, 12_000, 3)
    assert [line.amount_minor for line in paid.lines] == [5_000, 7_000], "the line first"


def test_an_appeal_before_the_end_of_the_automatic_part_waits_for_it() -> None:
    order = Order()
    order.take(a_review("appeal", role="customer"))
    decision = order.settle(*verdicts("REJECTED", "REJECTED"))
    assert [p.review_id for p in order.proposals] == [None]
    order.take(decision, as_paid(decision))
    assert order.proposals[-1].decision_rule == "appealed"


@pytest.mark.parametrize("role", ["officer", "customer"])
def test_what_comes_is_attached_and_changes_nothing(role: str) -> None:
    order = Order()
    decision = order.settle(*verdicts("ESCALATE", "REJECTED"))
    order.take(decision, as_paid(decision))
    asked = review(order, "more_evidence")
    assert (asked.decision_rule, asked.needs_person) == ("review_more_evidence", True)
    assert order.letters[-1].kind == "more_evidence"
    letters = len(order.letters)
    attachment = {"name": "photo.txt", "content_hash": "sha256:f", "size_bytes": 5, "text": "words of mine"}  # fmt: skip
    came = review(order, "attach", 2, role=role, attachment=attachment)
    assert (came.decision_rule, came.lines, came.needs_person) == ("review_attached", (), True)
    assert len(order.letters) == letters
    assert review(order, "approve", 3).amount_minor == 5_000
    closed = review(order, "attach", 4, role=role, attachment=attachment)
    assert closed.decision_rule == "review_refused:nothing_pending"


def test_an_early_attachment_keeps_nobodys_words_in_the_state() -> None:
    order = Order()
    attachment = {"name": "a.txt", "content_hash": "sha256:f", "size_bytes": 5, "text": "words of mine"}  # fmt: skip
    order.take(a_review("attach", note="words of yours", attachment=attachment))
    assert "words of" not in order.book.model_dump_json()


def test_a_stranger_attaches_nothing() -> None:
    order = handed_over(a_docket(outcome="evidence_unavailable", evidence=None))
    attachment = {"name": "a.txt", "content_hash": "sha256:f", "size_bytes": 5}
    refused = review(order, "attach", role="stranger", attachment=attachment)
    assert refused.decision_rule == "review_refused:role_may_not_decide"


steps = st.lists(
    st.tuples(
        st.sampled_from(["appeal", "approve", "reject", "amount", "more_evidence"]),
        st.sampled_from([DISPUTE, "d-2", "d-3"]),
        st.sampled_from(["asha", "bola", "chidi"]),
        st.integers(0, 12_000),
        st.booleans(),
    ),
    max_size=14,
)


@given(steps, st.permutations([DISPUTE, "d-2", "d-3"]))
def test_whatever_people_do_the_order_keeps_its_ceiling_and_no_scope_is_paid_twice(
    reviews: list[Any], opened: list[str]
) -> None:
    """Three disputes on one order of 100.00: priced and part escalated, without a record, and too old."""
    dockets = {
        DISPUTE: [a_docket(*CLAIMS, evidence=RECORD), *verdicts("ESCALATE", "UPHELD")],
        "d-2": [a_docket(dispute="d-2", outcome="evidence_unavailable", evidence=None)],
        "d-3": [a_docket(dispute="d-3", outcome="order_too_old", evidence=a_record())],
    }
    order = Order()
    for dispute in opened:
        order.take(*dockets[dispute])
        follow(order)
    paid: list[Proposal] = [p for p in order.proposals if p.amount_minor]
    for number, (action, dispute, person, amount, goes_through) in enumerate(reviews):
        stated = {"amount_minor": amount} if action == "amount" else {}
        order.take(a_review(action, f"r-{number}", person, dispute_id=dispute, **stated))
        proposal = order.proposals[-1]
        decision = as_decided(proposal)
        order.take(decision, as_paid(decision) if goes_through else as_refused(decision))
        if goes_through and proposal.amount_minor:
            paid.append(proposal)
    assert sum(proposal.amount_minor for proposal in paid) <= 10_000
    scopes = [
        share.scope
        for proposal in paid
        for line in proposal.lines
        if line.disposition == "pay"
        for share in line.scopes
    ]
    assert len(set(scopes)) == len(scopes)
