"""What a decision says: the rule, the categories, each line's words, and what a person may approve."""

import pytest

from streams.pricing.people import approvable, ceiling, hand_to_person
from streams.pricing.rules import NO_RULE, RULES, ending_of
from tests.unit.pricing.cases import BANK, FOOD, allow, claim, order, price

LATE = "2026-09-18T21:20:00+05:30"


def test_the_basis_states_unit_quantity_discount_coupon_tax_and_clamp():
    record = order(
        line_items=[
            {
                "line_id": "L1",
                "name": "Naan",
                "quantity": 3,
                "unit_price_minor": 5_000,
                "discount_minor": 1_000,
            }
        ],
        coupon_minor=2_000,
        tax_minor=600,
        paid_total_minor=12_600,
        packing_scan=[{"line_id": "L1", "packed_quantity": 1}],
    )
    priced = price(record, [claim(1, "MISSING_ITEM", line_id="L1", quantity=5)])
    assert priced.lines[0].basis == (
        "claimed 5, ordered 3, recorded missing 2 → 2 units of ₹42.00 = ₹84.00 "
        "(3 × Naan: ₹150.00, less item discount ₹10.00, less its share of the coupon ₹20.00, "
        "plus tax ₹6.00 = ₹126.00)"
    )
    assert priced.lines[0].quantity == 2


def test_the_late_credit_gives_way_first_and_says_so():
    record = order(
        delivered_at=LATE,
        packing_scan=[{"line_id": "L2", "packed_quantity": 0}],
        refunds=[{"refund_id": "r", "amount_minor": 9_000}],
    )
    claims = [claim(1, "LATE_DELIVERY"), claim(2, "MISSING_ITEM", line_id="L2", quantity=1)]
    late, missing = price(record, claims).lines
    assert (late.amount_minor, missing.amount_minor) == (1_000, 20_000)
    assert late.basis.endswith("₹39.00 less: no more than paid − refunded is left → ₹10.00")


def test_no_late_credit_on_top_of_the_whole_order():
    record = order(order_status="CANCELLED by shop", delivered_at=...)
    whole, late = price(record, [claim(1, "BILLING"), claim(2, "LATE_DELIVERY")]).lines
    assert (whole.amount_minor, whole.scope, late.amount_minor) == (30_000, "whole", 0)
    assert "no late credit on top of the whole order" in late.basis


def test_a_cancellation_fee_that_is_due_stays_paid():
    record = order(order_status="cancelled", delivered_at=..., paid_total_minor_due=4_000)
    assert price(record, [claim(1, "BILLING")]).amount_minor == 26_000


def test_fees_are_priced_each_where_the_record_says_what_is_due_of_each():
    fees = [
        {"name": "delivery", "amount_minor": 4_000, "due_minor": 3_000},
        {"name": "packaging", "amount_minor": 2_000, "due_minor": 0},
    ]
    (line,) = price(order(fee_lines=fees), [claim(1, "BILLING")]).lines
    assert [(s.scope, s.amount_minor) for s in line.scopes] == [("fee:1", 1_000), ("fee:2", 2_000)]


@pytest.mark.parametrize("status", ["unpaid", "UNPAID", " Unpaid "])
def test_an_unpaid_order_pays_nothing_back(status):
    record = order(payment_status=status, delivered_at=LATE)
    priced = price(record, [claim(1, "LATE_DELIVERY")])
    assert (priced.decision_rule, priced.amount_minor) == ("auto_resolve_within_cap", 0)


STOPS = [
    ("screening_flag_requires_human", {"screening_tripped": True}),
    ("safety_requires_human", {"safety_words": True}),
    ("amount_above_auto_approve_cap", {}),
]


@pytest.mark.parametrize(("rule", "more"), STOPS)
def test_a_stop_hands_every_upheld_and_escalated_category_over_with_the_proposal(rule, more):
    dear = [{"line_id": "L1", "name": "Feast", "quantity": 1, "unit_price_minor": 120_000}]
    record = order(line_items=dear, paid_total_minor=120_000, delivered_at=LATE)
    claims = [
        claim(1, "PACKAGING", line_id="L1", quantity=1),
        claim(2, "LATE_DELIVERY"),
        claim(3, "QUALITY", line_id="L1", quantity=1),
        claim(4, "BILLING"),
    ]
    priced = price(record, claims, ["UPHELD", "REJECTED", "ESCALATE", "REJECTED"], **more)
    assert (priced.decision_rule, priced.amount_minor) == (rule, 0)
    assert priced.proposed_minor == 120_000
    assert priced.escalated == ("PACKAGING", "QUALITY")
    assert [line.disposition for line in priced.lines] == ["person", "nothing", "person", "nothing"]
    assert priced.lines[0].person_reason == rule
    assert priced.lines[0].amount_if_upheld_minor == 120_000


def test_a_safety_word_alone_never_closes_with_a_letter():
    """README puts no_checkable_grievance first; but the word list is not lowered by the extraction."""
    assert price(order(), [], safety_words=True).decision_rule == "safety_requires_human"
    assert price(order(), []).decision_rule == "no_checkable_grievance"


def test_a_safety_grievance_is_never_priced_the_others_beside_it_are():
    record = order(delivered_at=LATE)
    claims = [
        claim(1, "QUALITY", line_id="L2", quantity=1, safety=True),
        claim(2, "LATE_DELIVERY"),
    ]
    priced = price(record, claims)
    assert (priced.decision_rule, priced.proposed_minor) == ("safety_requires_human", 4_900)
    assert (priced.lines[0].amount_if_upheld_minor, priced.lines[0].ceiling_minor) == (0, 20_000)


def test_the_screening_raises_the_tier_where_the_pack_says_so():
    assert price(order(), [], screening_tripped=True).tier == 1
    record = {
        "kind": "bank-transaction", "transaction_id": "T", "customer_id": "a", "currency": "NGN",
        "amount_minor": 100_000, "initiated_at": "2026-09-14T10:00:00+01:00", "rail": "nip",
        "status": "X", "captured_at": "2026-09-16T09:30:00+01:00",
    }  # fmt: skip
    assert price(record, [], screening_tripped=True, pack=BANK).tier == 3
    assert price(record, [claim(1, "failed_transfer")], tier=2, pack=BANK).tier == 2
    fraud = price(record, [claim(1, "authorised_scam")], ["REJECTED"], pack=BANK)
    assert (fraud.tier, fraud.decision_rule) == (3, "tier_3_requires_human_approval")


def test_what_a_person_may_approve_is_once_per_scope_and_within_the_order():
    claims = [
        claim(1, "PACKAGING", line_id="L2", quantity=1),
        claim(2, "QUALITY", line_id="L2", quantity=1),
        claim(3, "QUALITY"),
    ]
    lines = price(order(), claims, ["ESCALATE"] * 3).lines
    assert [line.amount_if_upheld_minor for line in lines] == [20_000, 10_000, 0]
    assert {s.scope: s.amount_minor for s in approvable(lines)} == {
        "L2#1": 20_000,
        "order:QUALITY": 0,
    }
    assert ceiling(lines) == 30_000
    assert ceiling(lines, room_minor=500) == 500


def test_an_upheld_claim_has_the_scope_an_escalated_one_asks_for():
    claims = [
        claim(1, "PACKAGING", line_id="L2", quantity=1),
        claim(2, "QUALITY", line_id="L2", quantity=1),
    ]
    big, small = price(order(), claims, ["ESCALATE", "UPHELD"]).lines
    assert (small.amount_minor, big.amount_if_upheld_minor, big.scopes) == (10_000, 0, ())


def test_the_allowance_stops_only_what_no_earlier_rule_decided():
    record = order(delivered_at=LATE)
    late = price(record, [claim(1, "LATE_DELIVERY")])
    assert allow(late, ours=245_100).decision_rule == "auto_resolve_within_cap"
    stopped = allow(late, ours=245_101)
    assert stopped.decision_rule == "customer_window_total_above_limit"
    assert (stopped.amount_minor, stopped.escalated) == (0, ("LATE_DELIVERY",))
    assert stopped.lines == hand_to_person(late.lines, stopped.decision_rule)
    safety = price(record, [claim(1, "LATE_DELIVERY")], safety_words=True)
    assert allow(safety, ours=245_101).decision_rule == "safety_requires_human"
    nothing = price(record, [claim(1, "LATE_DELIVERY")], ["REJECTED"])
    assert allow(nothing, ours=250_000).decision_rule == "no_grievance_upheld"
    over = allow(nothing, ours=250_001)
    assert (over.decision_rule, over.amount_minor, over.needs_person) == (
        "customer_window_total_above_limit",
        0,
        True,
    )


def test_every_rule_of_both_packs_is_known_and_a_gap_ends_with_a_person():
    stops = {c.stops_with for c in BANK.categories} - {None}
    assert {*FOOD.rules, *BANK.rules} - stops <= set(RULES)
    assert ending_of(BANK, "recall_requires_human") == "person"
    gap = FOOD.model_copy(update={"rules": ("evidence_invalid",)})
    priced = price(order(), [claim(1, "LATE_DELIVERY")], pack=gap)
    assert (priced.decision_rule, priced.needs_person, priced.amount_minor) == (NO_RULE, True, 0)


def test_the_late_credit_gives_way_to_a_fee_too():
    record = order(
        delivered_at=LATE,
        paid_total_minor=3_000,
        paid_total_minor_due=1_000,
        order_status="delivered",
    )
    late, fee = price(record, [claim(1, "LATE_DELIVERY"), claim(2, "BILLING")]).lines
    assert (fee.amount_minor, late.amount_minor) == (2_000, 1_000)


def test_a_missing_and_a_bad_unit_are_two_even_where_nothing_was_counted():
    claims = [
        claim(1, "QUALITY", line_id="L1", quantity=1),
        claim(2, "MISSING_ITEM", line_id="L1", quantity=1),
    ]
    bad, missing = price(order(), claims).lines
    assert [s.scope for s in (*missing.scopes, *bad.scopes)] == ["L1#1", "L1#2"]
    assert (missing.amount_minor, bad.amount_minor) == (5_000, 2_500)


def test_one_more_missing_unit_does_not_raise_a_wrong_one_by_a_cent():
    """Three units of 33.34, 33.33 and 33.33; two are wrong, and one or two are missing."""
    lines = [{"line_id": "L1", "name": "Roll", "quantity": 1, "unit_price_minor": 10_000}]
    lines[0] |= {"quantity": 3, "unit_price_minor": 3_334, "discount_minor": 2}
    record = order(line_items=lines)
    wrong = claim(1, "WRONG_ITEM", line_id="L1", quantity=2)
    amounts = [
        price(record, [wrong, claim(2, "MISSING_ITEM", line_id="L1", quantity=n)])
        .lines[0]
        .amount_minor
        for n in (1, 2, 3)
    ]
    assert amounts == [6_666, 6_666, 6_666]


def test_of_two_grievances_with_one_id_the_first_counts():
    two = [claim(1, "MISSING_ITEM", line_id="L1", quantity=n) for n in (1, 2)]
    assert price(order(), two, ["UPHELD", "UPHELD"]).amount_minor == 5_000


def test_a_formula_never_asks_for_more_than_is_not_reversed():
    record = {
        "kind": "bank-transaction", "transaction_id": "T", "customer_id": "a", "currency": "NGN",
        "amount_minor": 100_000, "initiated_at": "2026-09-14T10:00:00+01:00", "rail": "nip",
        "status": "X", "captured_at": "2026-09-16T09:30:00+01:00", "credited_minor": 0,
        "reversed_minor": 60_000,
    }  # fmt: skip
    (line,) = price(record, [claim(1, "deposit_not_credited")], ["ESCALATE"], pack=BANK).lines
    assert (line.amount_if_upheld_minor, line.ceiling_minor) == (40_000, 40_000)


def test_what_is_paid_is_not_there_to_be_approved():
    claims = [
        claim(1, "MISSING_ITEM", line_id="L1", quantity=1),
        claim(2, "QUALITY", line_id="L2", quantity=1),
    ]
    lines = price(order(), claims, ["UPHELD", "ESCALATE"]).lines
    assert [share.scope for share in approvable(lines)] == ["L2#1"]
    assert ceiling(lines) == 20_000


def test_a_missing_unit_does_not_say_which_a_claim_without_a_number_means():
    """Of two naans either may be the cold one; that the other claim has one of them does not decide it."""
    cold = claim(1, "QUALITY", line_id="L1", quantity=None)
    for missing in (1, 2):
        one, _ = price(
            order(), [cold, claim(2, "MISSING_ITEM", line_id="L1", quantity=missing)]
        ).lines
        assert one.amount_minor == 0
    scan = [{"line_id": "L1", "packed_quantity": 1}, {"line_id": "L2", "packed_quantity": 1}]
    one, _ = price(
        order(packing_scan=scan), [cold, claim(2, "MISSING_ITEM", line_id="L1", quantity=1)]
    ).lines
    assert one.amount_minor == 2_500, "the record says that only one was delivered"
