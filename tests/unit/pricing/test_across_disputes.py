"""Several disputes on one order: a scope is paid once, ever; what a person has stays with that dispute."""

import pytest

from streams.pricing.engine import Priced
from streams.pricing.holdings import NOTHING_HELD, HeldScope, Holdings
from tests.unit.pricing.cases import BANK, FOOD, allow, claim, holdings_after, order, price

FOOD_CAP = FOOD.limits.auto_approve_cap_minor or 0
LATE = "2026-09-18T21:20:00+05:30"
SCAN = [{"line_id": "L1", "packed_quantity": 0}, {"line_id": "L2", "packed_quantity": 1}]


def held(scope: str, amount: int, state: str = "paid", key: str = "d0:auto") -> Holdings:
    automatic = amount if state != "proposed" else 0
    return Holdings((HeldScope(scope, amount, state, key),), automatic)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("category", "record", "once"),
    [
        ("LATE_DELIVERY", order(delivered_at=LATE), 4_900),
        ("BILLING", order(paid_total_minor_due=28_000), 2_000),
    ],
)
def test_a_flat_claim_reworded_ten_times_pays_once(category, record, once):
    holdings, paid = NOTHING_HELD, []
    for number in range(10):
        priced = price(record, [claim(1, category)], holdings=holdings)
        paid.append(priced.amount_minor)
        assert priced.decision_rule == "auto_resolve_within_cap"
        holdings = holdings_after(priced, f"d{number}:auto", holdings)
    assert paid == [once, *[0] * 9]


@pytest.mark.parametrize("state", ["paid", "held", "proposed"])
def test_a_unit_another_dispute_has_is_not_available(state):
    record = order(packing_scan=SCAN)
    priced = price(
        record,
        [claim(1, "MISSING_ITEM", line_id="L1", quantity=2)],
        holdings=held("L1#1", 5_000, state),
    )
    (line,) = priced.lines
    assert (line.amount_minor, [s.scope for s in line.scopes]) == (5_000, ["L1#2"])


def test_units_no_record_can_tell_apart_go_to_a_person():
    """One naan was missing and paid; one naan is missing again, and nothing counts them."""
    priced = price(
        order(),
        [claim(1, "MISSING_ITEM", line_id="L1", quantity=1)],
        holdings=held("L1#1", 5_000),
    )
    assert (priced.amount_minor, priced.decision_rule) == (0, "all_grievances_escalated")
    assert "no record tells its units" in str(priced.lines[0].person_reason)
    assert priced.lines[0].ceiling_minor == 5_000


def test_the_only_unit_paid_before_leaves_nothing_and_needs_nobody():
    priced = price(
        order(),
        [claim(1, "PACKAGING", line_id="L2", quantity=1)],
        holdings=held("L2#1", 20_000),
    )
    assert (priced.amount_minor, priced.needs_person) == (0, False)


def test_the_whole_order_takes_what_is_left_and_leaves_nothing():
    record = order(order_status="cancelled_by_restaurant", delivered_at=...)
    everything = [claim(1, "MISSING_ITEM", scope="order")]
    first = price(record, everything, holdings=held("L1#1", 5_000))
    assert first.amount_minor == 25_000
    pending = price(record, everything, holdings=held("L1#1", 5_000, "proposed"))
    assert pending.amount_minor == 25_000
    after = price(
        record,
        [claim(1, "LATE_DELIVERY"), claim(2, "MISSING_ITEM", line_id="L2", quantity=1)],
        holdings=holdings_after(first, "d1:auto", NOTHING_HELD),
    )
    assert [line.amount_minor for line in after.lines] == [0, 0]
    assert all("was paid in another dispute" in line.basis for line in after.lines)


def test_the_cap_counts_earlier_automatic_payments_on_the_order():
    record = order(packing_scan=[{"line_id": "L2", "packed_quantity": 0}])
    claims = [claim(1, "MISSING_ITEM", line_id="L2", quantity=1)]
    at = price(record, claims, holdings=Holdings((), FOOD_CAP - 20_000))
    above = price(record, claims, holdings=Holdings((), FOOD_CAP - 19_999))
    assert (at.decision_rule, at.amount_minor) == ("auto_resolve_within_cap", 20_000)
    assert (above.decision_rule, above.amount_minor) == ("amount_above_auto_approve_cap", 0)
    assert above.proposed_minor == 20_000


def two(first: str, second: str) -> tuple[Priced, Priced]:
    """Two complaints about one order, the second settled on what the first left."""
    record = order(order_status="cancelled_by_restaurant", delivered_at=..., packing_scan=SCAN)
    claims = {
        "whole": [claim(1, "MISSING_ITEM", scope="order")],
        "naans": [claim(1, "MISSING_ITEM", line_id="L1", quantity=2), claim(2, "LATE_DELIVERY")],
    }
    one = price(record, claims[first])
    return one, price(record, claims[second], holdings=holdings_after(one, "d1:auto", NOTHING_HELD))


@pytest.mark.parametrize("pair", [("whole", "naans"), ("naans", "whole"), ("naans", "naans")])
def test_two_complaints_together_stay_within_what_was_paid_whichever_comes_first(pair):
    one, other = two(*pair)
    assert one.amount_minor + other.amount_minor <= 30_000
    if "whole" in pair:
        assert one.amount_minor + other.amount_minor == 30_000


def test_ten_orders_of_one_customer_stay_within_the_limit():
    record = order(packing_scan=[{"line_id": "L2", "packed_quantity": 0}])
    spent = 0
    for _ in range(20):
        priced = price(record, [claim(1, "MISSING_ITEM", line_id="L2", quantity=1)])
        allowed = allow(priced, ours=spent)
        spent += allowed.amount_minor
        if not allowed.amount_minor:
            assert allowed.decision_rule == "customer_window_total_above_limit"
    assert spent == 240_000


@pytest.mark.parametrize(
    ("refund", "left"),
    [
        ({"refund_id": "d0:auto", "amount_minor": 5_000, "line_id": "L1", "quantity": 1}, 1),
        ({"refund_id": "other", "amount_minor": 5_000, "line_id": "L1", "quantity": 1}, 0),
    ],
)
def test_our_own_payment_in_the_record_is_not_counted_twice(refund, left):
    priced = price(
        order(packing_scan=SCAN, refunds=[refund]),
        [claim(1, "MISSING_ITEM", line_id="L1", quantity=2)],
        holdings=held("L1#1", 5_000),
    )
    assert priced.amount_minor == left * 5_000


def test_our_payment_that_the_record_names_stands_for_no_other_refund():
    """Ours is in the record by its key; the refund without a reference beside it is the other unit's."""
    named = {"refund_id": "d0:auto", "amount_minor": 5_000, "line_id": "L1", "quantity": 1}
    other = {"amount_minor": 5_000, "line_id": "L1", "quantity": 1}
    claims = [claim(1, "MISSING_ITEM", line_id="L1", quantity=2)]
    for refunds, left in (([named, other], 0), ([named], 5_000), ([other], 5_000)):
        record = order(packing_scan=SCAN, refunds=refunds)
        priced = price(record, claims, holdings=held("L1#1", 5_000))
        assert priced.amount_minor == left


def test_a_refund_that_names_neither_line_nor_reference_is_not_taken_for_ours():
    """A goodwill payment of the operator's beside our late credit: both are gone."""
    record = order(
        order_status="cancelled_by_restaurant", delivered_at=..., refunds=[{"amount_minor": 4_900}]
    )
    everything = [claim(1, "MISSING_ITEM", scope="order")]
    priced = price(record, everything, holdings=held("LATE", 4_900))
    assert (priced.amount_minor, priced.order_ceiling_minor) == (30_000 - 2 * 4_900, 25_100)


def transfer(own: str, *related: str) -> dict:
    return {
        "kind": "bank-transaction", "transaction_id": own, "customer_id": "a", "currency": "NGN",
        "amount_minor": 420_000, "initiated_at": "2026-09-14T10:00:00+01:00", "rail": "bill",
        "status": "SETTLED", "captured_at": "2026-09-16T09:30:00+01:00",
        "related": [
            {"transaction_id": r, "amount_minor": 420_000, "same_reference": True} for r in related
        ],
    }  # fmt: skip


def bank(record: dict, category: str, holdings: Holdings = NOTHING_HELD) -> Priced:
    return price(record, [claim(1, category)], pack=BANK, holdings=holdings)


def test_a_duplicate_told_from_both_sides_returns_one_of_two():
    one = bank(transfer("B-1", "B-2"), "duplicate_debit")
    assert [s.scope for s in one.lines[0].scopes] == ["tx:B-2"]
    other = bank(
        transfer("B-2", "B-1"), "duplicate_debit", holdings_after(one, "d1:auto", NOTHING_HELD)
    )
    assert (one.amount_minor, other.amount_minor) == (420_000, 0)


def test_three_debits_told_from_every_side_return_two():
    holdings, paid = NOTHING_HELD, 0
    for own, others in (("B-1", ("B-2", "B-3")), ("B-2", ("B-1", "B-3")), ("B-3", ("B-1", "B-2"))):
        priced = bank(transfer(own, *others), "duplicate_debit", holdings)
        paid += priced.amount_minor
        holdings = holdings_after(priced, f"{own}:auto", holdings)
    assert paid == 2 * 420_000


def test_a_transaction_returned_under_one_category_is_not_returned_under_another():
    record = {**transfer("B-1"), "due_minor": 400_000, "status": "FAILED"}
    one = bank(record, "failed_bill_payment")
    other = bank(record, "excess_charge", holdings_after(one, "d1:auto", NOTHING_HELD))
    assert (one.amount_minor, other.amount_minor) == (420_000, 0)


def test_a_fraud_claim_before_a_person_holds_its_transaction():
    one = bank(transfer("B-1"), "unauthorised")
    assert one.lines[0].ceiling_minor == 420_000
    other = bank(
        transfer("B-1"), "failed_bill_payment", holdings_after(one, "d1:auto", NOTHING_HELD)
    )
    assert other.amount_minor == 0
