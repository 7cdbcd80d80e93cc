"""Related transactions whose records disagree settle apart; their customer's allowance pays each once."""

from typing import Any

from schemas.settlement import Decision, Proposal, ScopeShare
from tests.unit.stages.events import (
    BANK,
    CUSTOMER,
    NOW,
    a_claim,
    a_docket,
    a_line,
    a_proposal,
    a_review,
    a_verdict,
    about,
    after,
    as_paid,
    on,
)
from tests.unit.stages.test_allowance import ALLOWANCE, Customer
from tests.unit.stages.test_settlement import Order


def returning(dispute: str, under: str, *transactions: str, **changes: Any) -> Proposal:
    """A proposal to return these transactions, 50.00 each, in the book of `under`."""
    shares = tuple(ScopeShare(scope=f"tx:{t}", amount_minor=5_000) for t in transactions)
    line = a_line(
        1, dispute, category="duplicate_debit", amount_minor=5_000 * len(shares), scopes=shares
    )
    place = {**about(dispute, under, BANK), "currency": "NGN", "tier": 1}
    rule = {"decision_rule": "tier_1_auto_resolve"}
    return a_proposal(line, dispute=dispute, **{**place, **rule, **changes})


def test_the_second_book_that_would_return_a_transaction_asks_a_person() -> None:
    customer = Customer()
    first = customer.take(returning("d-1", "T-1", "T-2"))
    second = customer.take(returning("d-2", "T-2", "T-2", "T-3"))
    assert first is not None
    assert second is not None
    assert (first.amount_minor, second.amount_minor) == (5_000, 0)
    assert (second.decision_rule, second.needs_person) == ("evidence_invalid", True)
    assert second.escalated == ("duplicate_debit",)
    [line] = second.lines
    assert [share.scope for share in line.scopes] == ["tx:T-3"], "a person may return the other"
    assert (line.disposition, line.ceiling_minor) == ("person", 5_000)
    assert "tx:T-2 was decided in a dispute that settles apart" in line.basis


def test_a_person_does_not_return_it_either_and_the_dispute_still_waits() -> None:
    customer = Customer()
    customer.take(returning("d-1", "T-1", "T-2"))
    by_person = {"proposal_id": "d-2:review:r-1", "review_id": "r-1"}
    refused = customer.take(
        returning("d-2", "T-2", "T-2", **by_person, decision_rule="review_approved")
    )
    assert refused is not None
    assert (refused.amount_minor, refused.needs_person) == (0, True)
    assert refused.decision_rule == "review_refused:transaction_taken"
    assert refused.lines[0].disposition == "person"


def test_within_one_book_the_book_decides() -> None:
    """A refused payment is a person's there, and settles the same transaction under another key."""
    customer = Customer()
    customer.take(returning("d-1", "T-1", "T-2"))
    by_person = {"proposal_id": "d-1:review:r-1", "review_id": "r-1"}
    again = customer.take(returning("d-1", "T-1", "T-2", **by_person))
    assert again is not None
    assert again.amount_minor == 5_000


def test_it_is_remembered_as_long_as_the_order() -> None:
    customer = Customer()
    customer.take(returning("d-1", "T-1", "T-2"))
    later = customer.take(returning("d-2", "T-2", "T-2"), after(days=629))
    assert later is not None
    assert later.amount_minor == 0


def test_the_customer_is_not_forgotten_before() -> None:
    _, emits = ALLOWANCE.on_proposal(Customer().state, returning("d-1", "T-1", "T-2"), NOW)
    [timer] = on("timers", emits)
    assert timer.due_at >= after(days=630)


def test_what_settlement_took_for_decided_waits_again() -> None:
    """Money for a fraud claim on T-2, which a dispute under T-1 returned: approved by two people, and refused."""
    record = {
        "kind": "bank-transaction", "transaction_id": "T-2", "customer_id": CUSTOMER, "currency": "NGN",
        "amount_minor": 5_000, "initiated_at": NOW.isoformat(), "rail": "pos", "status": "SUCCESSFUL",
        "captured_at": NOW.isoformat(),
    }  # fmt: skip
    claim = a_claim(1, "d-2", category="unauthorised", line_id=None, quantity=None)
    place = about("d-2", "T-2", BANK)
    here = {"dispute_id": "d-2", "order_id": "T-2", "settles_under": "T-2"}
    customer, order = Customer(), Order()
    customer.take(returning("d-1", "T-1", "T-2"))

    def decided() -> Decision:
        decision = customer.take(order.proposals[-1])
        assert decision is not None
        order.take(decision, as_paid(decision))
        return decision

    order.take(a_docket(claim, dispute="d-2", evidence=record).model_copy(update=place))
    order.take(
        a_verdict(1, "UPHELD", "d-2", category="unauthorised").model_copy(
            update={k: v for k, v in place.items() if k != "at"}
        )
    )
    assert decided().needs_person
    for number, reviewer in enumerate(("asha", "bola"), 1):
        order.take(a_review("amount", f"r-{number}", reviewer, amount_minor=5_000, **here))
        last = decided()
    assert last.decision_rule == "review_refused:transaction_taken"
    assert order.book.disputes["d-2"].needs_person
    order.take(a_review("reject", "r-3", "chidi", **here))
    assert decided().decision_rule == "review_rejected"
    assert not order.book.disputes["d-2"].needs_person
    assert [d.amount_minor for d in customer.decisions] == [5_000, 0, 0, 0, 0]
