"""One customer's orders meet here: together they stay under the limit, whatever the order they come in."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settlement import Decision, Proposal
from streams.allowance import Allowance, CustomerState, remembered
from streams.recomputed import Recomputed
from tests.unit.stages.events import (
    BANK,
    FOOD,
    NOW,
    PACKS,
    SEAL,
    a_line,
    a_pending_line,
    a_proposal,
    after,
    on,
    rung,
)

ALLOWANCE = Allowance(PACKS, SEAL)
LIMIT = FOOD.pack.limits.customer_limit_minor or 0
RULE = "customer_window_total_above_limit"


class Customer:
    """One customer's allowance, fed proposal by proposal."""

    def __init__(self) -> None:
        self.state = CustomerState()
        self.decisions: list[Decision] = []

    def take(self, proposal: Proposal, now: datetime = NOW) -> Decision | None:
        state, emits = ALLOWANCE.on_proposal(self.state, proposal, now)
        assert state is not None
        self.state = CustomerState.model_validate_json(state.model_dump_json(exclude_defaults=True))
        made = on("decisions", emits)
        self.decisions += made
        return made[0] if made else None

    @property
    def automatic(self) -> int:
        return sum(d.amount_minor for d in self.decisions if d.review_id is None)


def proposal(number: int, amount: int = 90_000, **changes: Any) -> Proposal:
    dispute = f"d-{number}"
    return a_proposal(a_line(1, dispute, amount_minor=amount), dispute=dispute, **changes)


def test_under_the_limit_it_is_decided_as_proposed() -> None:
    made = Customer().take(proposal(1))
    assert made is not None
    assert (made.amount_minor, made.decision_rule) == (90_000, "auto_resolve_within_cap")
    assert made.decision_id == "d-1:auto", "also the payment's key"


def test_ten_orders_in_one_second_are_not_each_under_the_limit() -> None:
    customer = Customer()
    for number in range(10):
        customer.take(proposal(number), after(seconds=number / 10))
    paid = [d for d in customer.decisions if d.amount_minor]
    assert customer.automatic == 180_000 <= LIMIT
    assert len(paid) == 2
    stopped = customer.decisions[2:]
    assert {d.decision_rule for d in stopped} == {RULE}
    assert all(d.needs_person and d.escalated == ("MISSING_ITEM",) for d in stopped)
    assert all(d.proposed_minor == 90_000 for d in stopped), "the priced proposal stays beside it"
    assert {line.disposition for d in stopped for line in d.lines} == {"person"}


def test_what_was_stopped_does_not_count_so_that_a_smaller_one_may_still_pass() -> None:
    customer = Customer()
    for number, amount in enumerate([90_000, 90_000, 90_000, 70_000]):
        customer.take(proposal(number, amount))
    assert [d.amount_minor for d in customer.decisions] == [90_000, 90_000, 0, 70_000]


def test_a_proposal_that_comes_again_decides_nothing_twice() -> None:
    customer = Customer()
    customer.take(proposal(1))
    state = customer.state
    again = proposal(1).model_copy(update={"at": after(days=3)})
    assert customer.take(again, after(days=3)) is None
    assert customer.state == state


@pytest.mark.parametrize(
    "change",
    [
        {"amount_minor": 1},
        {"proposed_minor": 1},
        {"decision_rule": "safety_requires_human"},
        {"lines": (a_line(2, "d-1", amount_minor=90_000),)},
        {"lines": (a_line(1, "d-1", amount_minor=90_000, disposition="person"),)},
        {"needs_person": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_recomputation_that_differs_is_refused_and_the_first_stands(
    change: dict[str, Any],
) -> None:
    """The stage makes a dead letter of it, so it is recorded, and nothing is decided."""
    customer = Customer()
    customer.take(proposal(1))
    state = customer.state
    with pytest.raises(Recomputed, match="d-1:auto was decided before"):
        customer.take(proposal(1).model_copy(update=change))
    assert (customer.state, len(customer.decisions)) == (state, 1)


@pytest.mark.parametrize(("days", "amount"), [(29.9, 0), (30.1, 90_000)])
def test_the_window_rolls(days: float, amount: int) -> None:
    customer = Customer()
    for number in range(2):
        customer.take(proposal(number))
    made = customer.take(proposal(9), NOW + timedelta(days=days))
    assert made is not None
    assert made.amount_minor == amount


def test_what_only_the_records_know_of_counts_too() -> None:
    made = Customer().take(proposal(1, history_minor=LIMIT - 89_999))
    assert made is not None
    assert made.decision_rule == RULE
    made = Customer().take(proposal(1, history_minor=LIMIT - 90_000))
    assert made is not None
    assert made.amount_minor == 90_000


def test_a_persons_proposal_passes_through_and_does_not_count() -> None:
    customer = Customer()
    for number in range(5):
        review = proposal(
            number, review_id=f"r-{number}", proposal_id=f"d-{number}:review:r-{number}",
            decision_rule="review_approved", authorised_by="person:asha",
        )  # fmt: skip
        made = customer.take(review)
        assert made is not None
        assert (made.amount_minor, made.decision_rule) == (90_000, "review_approved")
    made = customer.take(proposal(9))
    assert made is not None
    assert made.amount_minor == 90_000


def test_escalated_lines_count_nowhere() -> None:
    waits = a_proposal(a_line(1, amount_minor=90_000), a_pending_line(2, 200_000))
    customer = Customer()
    made = customer.take(waits)
    assert made is not None
    assert made.amount_minor == 90_000
    assert customer.automatic == 90_000


def test_another_currency_is_another_purse() -> None:
    customer = Customer()
    customer.take(
        proposal(1, 4_000_000, pack=BANK.ref, currency="NGN", decision_rule="tier_1_auto_resolve")
    )
    made = customer.take(proposal(2))
    assert made is not None
    assert made.amount_minor == 90_000, "kobo are not paise"


def test_an_earlier_rule_is_not_overwritten() -> None:
    stopped = proposal(
        1,
        history_minor=LIMIT,
        decision_rule="safety_requires_human",
        needs_person=True,
        amount_minor=0,
    )
    made = Customer().take(stopped)
    assert made is not None
    assert made.decision_rule == "safety_requires_human"


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(1, 100_000), st.integers(0, 40)), max_size=25
    )
)
def test_no_thirty_days_hold_more_than_the_limit(orders: list[tuple[int, int, int]]) -> None:
    customer = Customer()
    days, told = 0, dict[int, int]()
    for number, amount, wait in orders:
        days += wait // 10
        # One that comes again says the same.
        customer.take(proposal(number, told.setdefault(number, amount)), after(days=days))
    window = timedelta(days=FOOD.pack.limits.customer_window_days)
    for first in customer.decisions:
        inside = [d for d in customer.decisions if first.at <= d.at < first.at + window]
        assert sum(d.amount_minor for d in inside) <= LIMIT


def test_a_customer_is_forgotten_when_nothing_decided_for_them_counts_any_more() -> None:
    state, emits = ALLOWANCE.on_proposal(CustomerState(), proposal(1), NOW)
    [first] = on("timers", emits)
    assert state is not None
    longest = max(remembered(loaded.pack) for loaded in PACKS)
    assert first.due_at >= NOW + longest
    state, emits = ALLOWANCE.on_proposal(state, proposal(2), after(hours=5))
    assert on("timers", emits) == [], "put off once a day at most"
    assert state is not None
    state, emits = ALLOWANCE.on_proposal(state, proposal(3), after(days=9))
    [later] = on("timers", emits)
    assert state is not None
    assert ALLOWANCE.on_deadline(state, rung(first), first.due_at) == (state, [])
    assert ALLOWANCE.on_deadline(state, rung(later), later.due_at) == (None, [])
