"""Whatever upstream sends: a person with the reason, never an exception, never a payment."""

from typing import Any

import pytest

from streams.pricing.holdings import HeldScope, Holdings
from tests.unit.pricing.cases import BANK, FOOD, claim, order, price

EVERYTHING = [
    claim(1, "LATE_DELIVERY"),
    claim(2, "MISSING_ITEM", line_id="L1", quantity=2),
    claim(3, "WRONG_ITEM", line_id="L2", quantity=1),
    claim(4, "QUALITY", line_id="L2", quantity=1),
    claim(5, "BILLING"),
]


def naan(**more: Any) -> dict[str, Any]:
    line = {"line_id": "L1", "name": "Naan", "quantity": 2, "unit_price_minor": 5_000}
    return order(line_items=[{**line, **more}], paid_total_minor=30_000)


UNUSABLE: dict[str, dict[str, Any]] = {
    "unknown currency": order(currency="XXX"),
    "another currency": order(currency="USD"),
    "no currency": order(currency=...),
    "another kind": order(kind="bank-transaction"),
    "no kind": order(kind=...),
    "zero quantity": naan(quantity=0),
    "negative quantity": naan(quantity=-2),
    "absurd quantity": naan(quantity=10**12),
    "quantity as text": naan(quantity="2"),
    "negative price": naan(unit_price_minor=-1),
    "absurd price": naan(unit_price_minor=10**30),
    "price as float": naan(unit_price_minor=50.0),
    "price as flag": naan(unit_price_minor=True),
    "discount above the line": naan(discount_minor=10_001),
    "negative discount": naan(discount_minor=-1),
    "coupon above the order": order(coupon_minor=30_001),
    "negative coupon": order(coupon_minor=-1),
    "negative tax": order(tax_minor=-1),
    "tax of a line above its price": naan(tax_minor=10_001),
    "tax on a line that costs nothing": naan(unit_price_minor=0, tax_minor=1),
    "tax above the order": order(tax_minor=30_001),
    "no paid total": order(paid_total_minor=...),
    "null paid total": order(paid_total_minor=None),
    "negative paid total": order(paid_total_minor=-1),
    "refunds above paid": order(refunds=[{"refund_id": "r", "amount_minor": 30_001}]),
    "negative refund": order(refunds=[{"refund_id": "r", "amount_minor": -1}]),
    "one refund told twice": order(
        refunds=[{"refund_id": "r", "amount_minor": 9_000, "line_id": "L1", "quantity": 1}] * 2
    ),
    "refund of an unknown line": order(
        refunds=[{"refund_id": "r", "amount_minor": 1, "line_id": "L9"}]
    ),
    "refunds not a list": order(refunds="none"),
    "a line twice": order(line_items=[order()["line_items"][0]] * 2),
    "a line id that reads as a transaction": naan(line_id="tx:L1"),
    "a line id that reads as a fee": naan(line_id="fee:L1"),
    "no lines": order(line_items=[]),
    "lines not a list": order(line_items={"L1": 2}),
    "a line that is a text": order(line_items=["Naan"]),
    "a time without a zone": order(placed_at="2026-09-18T20:00:00"),
    "a fee whose due is a text": order(
        fee_lines=[{"name": "delivery", "amount_minor": 3_000, "due_minor": "1000"}]
    ),
    "a fee of which less than nothing is due": order(
        fee_lines=[{"name": "delivery", "amount_minor": 3_000, "due_minor": -1}]
    ),
    "a time in seconds": order(delivered_at=1_758_205_800),
    "a time in seconds, as text": order(delivered_at="1758205800"),
    "a flag as text": order(handover_otp_verified="no"),
    "a time that is none": order(delivered_at="half past eight"),
    "scan of an unknown line": order(packing_scan=[{"line_id": "L9", "packed_quantity": 1}]),
    "a line in another currency": order(
        line_items=[{**order()["line_items"][0], "currency": "USD"}, order()["line_items"][1]]
    ),
    "a refund in another currency": order(
        refunds=[{"refund_id": "r", "amount_minor": 100, "currency": "USD"}]
    ),
    "a fee in another currency": order(
        fee_lines=[{"name": "packaging", "amount_minor": 2_000, "currency": "USD"}]
    ),
    "negative weight": order(pickup_weight_expected_kg=-1.0, pickup_weight_actual_kg=1.0),
    "a weight that is not a number": order(pickup_weight_expected_kg="heavy"),
    "an expected weight that is a flag": order(
        pickup_weight_expected_kg=True, pickup_weight_actual_kg=1.0
    ),
    "an actual weight that is a flag": order(
        pickup_weight_expected_kg=1.0, pickup_weight_actual_kg=False
    ),
    "an order that should weigh nothing": order(
        pickup_weight_expected_kg=0, pickup_weight_actual_kg=1.0
    ),
}


@pytest.mark.parametrize("record", UNUSABLE.values(), ids=UNUSABLE.keys())
def test_an_unusable_record_pays_nothing_and_says_why(record):
    priced = price(record, EVERYTHING)
    assert (priced.amount_minor, priced.proposed_minor) == (0, 0)
    assert (priced.decision_rule, priced.needs_person) == ("evidence_invalid", True)
    assert priced.problem
    assert set(priced.escalated) == {c.category for c in EVERYTHING}


FOR_A_PERSON: dict[str, tuple[dict[str, Any], Any]] = {
    "no line": (order(), claim(1, "MISSING_ITEM", quantity=1)),
    "an unknown line": (order(), claim(1, "QUALITY", line_id="L7", quantity=1)),
    "the whole order, delivered": (order(), claim(1, "MISSING_ITEM", scope="order")),
    "no number of several": (order(), claim(1, "MISSING_ITEM", line_id="L1")),
    "more units than a claim may have": (
        naan(quantity=9_000, unit_price_minor=1),
        claim(1, "MISSING_ITEM", line_id="L1", quantity=9_000),
    ),
    "by weight without weights": (
        naan(sold_by="weight", ordered_kg=1.0),
        claim(1, "MISSING_ITEM", line_id="L1", quantity=2),
    ),
    "by weight of nothing": (
        naan(sold_by="weight", ordered_kg=0.0, packed_kg=0.0),
        claim(1, "MISSING_ITEM", line_id="L1", quantity=2),
    ),
    "a unit refunded in part": (
        order(refunds=[{"refund_id": "r", "amount_minor": 2_000, "line_id": "L1"}]),
        claim(1, "MISSING_ITEM", line_id="L1", quantity=1),
    ),
    "a unit refunded in part, by number": (
        order(refunds=[{"refund_id": "r", "amount_minor": 9_000, "line_id": "L2", "quantity": 1}]),
        claim(1, "WRONG_ITEM", line_id="L2", quantity=1),
    ),
    "no delivery on record": (
        order(delivered_at=...),
        claim(1, "PACKAGING", line_id="L2", quantity=1),
    ),
    "a unit above all that was paid": (
        naan(unit_price_minor=30_001),
        claim(1, "MISSING_ITEM", line_id="L1", quantity=1),
    ),
    "a fee above all that was paid": (
        order(fee_lines=[{"name": "delivery", "amount_minor": 30_001, "due_minor": 0}]),
        claim(1, "BILLING"),
    ),
    "delivered after the record was taken": (
        order(delivered_at="9999-12-31T23:59:59Z"),
        claim(1, "LATE_DELIVERY"),
    ),
    "nothing says what was due": (order(), claim(1, "BILLING")),
    "contradicted: on time": (order(), claim(1, "LATE_DELIVERY")),
    "contradicted: packed": (
        order(packing_scan=[{"line_id": "L1", "packed_quantity": 2}]),
        claim(1, "MISSING_ITEM", line_id="L1", quantity=1),
    ),
    "contradicted: paid what is due": (
        order(paid_total_minor_due=30_000),
        claim(1, "BILLING"),
    ),
    "contradicted: the dish ordered": (
        order(packing_scan=[{"line_id": "L2", "packed_quantity": 1, "packed_name": " dal"}]),
        claim(1, "WRONG_ITEM", line_id="L2", quantity=1),
    ),
    "a category of another pack": (order(), claim(1, "failed_transfer")),
}


@pytest.mark.parametrize(("record", "one"), FOR_A_PERSON.values(), ids=FOR_A_PERSON.keys())
def test_a_claim_code_cannot_price_goes_to_a_person_with_the_reason(record, one):
    priced = price(record, [one])
    (line,) = priced.lines
    assert (priced.amount_minor, priced.proposed_minor) == (0, 0)
    assert priced.decision_rule == "all_grievances_escalated"
    assert priced.escalated == (one.category,)
    assert line.disposition == "person"
    assert line.person_reason
    assert (
        not any(share.amount_minor for share in line.scopes) or "contradicts" in line.person_reason
    )


def test_no_evidence_at_all_is_unavailable():
    priced = price(None, EVERYTHING)
    assert (priced.decision_rule, priced.amount_minor) == ("evidence_unavailable", 0)


@pytest.mark.parametrize(
    "outcome", ["evidence_unavailable", "evidence_invalid", "order_too_old", "extraction_failed"]
)
def test_an_outcome_before_pricing_prices_nothing(outcome):
    priced = price(order(paid_total_minor_due=28_000), [claim(1, "BILLING")], outcome=outcome)
    assert (priced.decision_rule, priced.proposed_minor) == (outcome, 0)
    assert priced.needs_person


def test_too_many_grievances_are_a_failed_extraction():
    claims = [claim(i, "LATE_DELIVERY") for i in range(1, FOOD.limits.max_grievances + 2)]
    assert price(order(), claims).decision_rule == "extraction_failed"


def test_one_grievance_twice_is_one_grievance():
    one = claim(1, "MISSING_ITEM", line_id="L2", quantity=1)
    assert price(order(), [one, one], ["UPHELD", "UPHELD"]).amount_minor == 20_000


def test_a_missing_ruling_is_for_a_person():
    priced = price(order(paid_total_minor_due=28_000), [claim(1, "BILLING")], ["ESCALATE"])
    assert priced.amount_minor == 0
    assert priced.lines[0].amount_if_upheld_minor == 2_000


def test_holdings_of_another_world_do_no_harm():
    strange = Holdings(tuple(HeldScope(s, 5, "paid", "k") for s in ("#", "L9#x", "L1#0", "é#1")))
    priced = price(order(), [claim(1, "MISSING_ITEM", line_id="L2", quantity=1)], holdings=strange)
    assert priced.amount_minor == 20_000


@pytest.mark.parametrize(
    ("category", "more"),
    [
        ("wrong_amount", {}),
        ("wrong_amount", {"due_minor": -5}),
        ("atm_dispense_error", {}),
        ("atm_dispense_error", {"cash_dispensed": True}),
        ("atm_dispense_error", {"cash_dispensed": True, "dispensed_minor": 0}),
        ("deposit_not_credited", {"credit_posted": True}),
        ("deposit_not_credited", {"credited_minor": 0, "reversal_posted": True}),
        ("duplicate_debit", {}),
        ("duplicate_debit", {"related": []}),
        ("duplicate_debit", {"related": [{"transaction_id": "T", "amount_minor": 5}]}),
        ("failed_transfer", {"credit_posted": True}),
        ("failed_transfer", {"debit_posted": False}),
        ("failed_bill_payment", {"token_issued": True}),
        ("failed_card_payment", {"terminal_result": "approved"}),
        ("other", {}),
    ],
)
def test_a_bank_claim_the_record_does_not_carry_goes_to_a_person(category, more):
    record = {
        "kind": "bank-transaction", "transaction_id": "T", "customer_id": "a", "currency": "NGN",
        "amount_minor": 100_000, "initiated_at": "2026-09-14T10:00:00+01:00", "rail": "nip",
        "status": "X", "captured_at": "2026-09-16T09:30:00+01:00", **more,
    }  # fmt: skip
    priced = price(record, [claim(1, category)], pack=BANK)
    assert priced.amount_minor == 0
    assert priced.needs_person
    assert priced.decision_rule in ("all_grievances_escalated", "evidence_invalid")


LARGEST = 2**53 - 1


def giant(*prices: int, quantity: int = 1, **more: Any) -> dict[str, Any]:
    lines = [
        {"line_id": f"L{i}", "name": "Gold", "quantity": quantity, "unit_price_minor": price}
        for i, price in enumerate(prices, 1)
    ]
    missing = [{"line_id": line["line_id"], "packed_quantity": 0} for line in lines]
    return order(line_items=lines, paid_total_minor=LARGEST, packing_scan=missing, **more)


GIANTS = {
    "one unit": giant(LARGEST),
    "two units": giant(LARGEST, quantity=2),
    "two lines": giant(LARGEST, LARGEST),
    "with as much tax": giant(LARGEST, tax_minor=LARGEST),
    "many units": giant(LARGEST // 10_000, quantity=10_000),
    "one more than fits": giant(LARGEST + 1),
    "nothing delivered": giant(
        LARGEST, LARGEST, order_status="cancelled_by_shop", delivered_at=...
    ),
}


@pytest.mark.parametrize("ruling", ["UPHELD", "ESCALATE"])
@pytest.mark.parametrize("record", GIANTS.values(), ids=GIANTS.keys())
def test_amounts_at_the_edge_of_what_can_be_told_exactly_go_to_a_person(record, ruling):
    claims = [
        claim(i, "MISSING_ITEM", line_id=line["line_id"], quantity=line["quantity"])
        for i, line in enumerate(record["line_items"], 1)
    ]
    claims.append(claim(9, "MISSING_ITEM", scope="order"))
    priced = price(record, claims, [ruling] * len(claims))
    assert (priced.amount_minor, priced.needs_person) == (0, True)
    assert priced.proposed_minor <= LARGEST


@pytest.mark.parametrize("related", [1, 3])
def test_transactions_that_add_up_to_more_than_can_be_told_go_to_a_person(related):
    record = {
        "kind": "bank-transaction", "transaction_id": "T", "customer_id": "a", "currency": "NGN",
        "amount_minor": LARGEST, "initiated_at": "2026-09-14T10:00:00+01:00", "rail": "bill",
        "status": "FAILED", "captured_at": "2026-09-16T09:30:00+01:00",
        "related": [
            {"transaction_id": f"T{i}", "amount_minor": LARGEST, "same_reference": True}
            for i in range(related)
        ],
    }  # fmt: skip
    claims = [claim(1, "duplicate_debit"), claim(2, "failed_bill_payment")]
    priced = price(record, claims, pack=BANK)
    assert (priced.amount_minor, priced.needs_person) == (0, True)
    assert priced.decision_rule == "evidence_invalid"
    assert "add up to more" in str(priced.problem)


def test_a_related_transaction_in_another_currency_is_not_added_up():
    record = {
        "kind": "bank-transaction", "transaction_id": "T", "customer_id": "a", "currency": "NGN",
        "amount_minor": 5_000, "initiated_at": "2026-09-14T10:00:00+01:00", "rail": "bill",
        "status": "SETTLED", "captured_at": "2026-09-16T09:30:00+01:00",
        "related": [
            {"transaction_id": "T2", "amount_minor": 5_000, "same_reference": True, "currency": "USD"}
        ],
    }  # fmt: skip
    priced = price(record, [claim(1, "duplicate_debit")], pack=BANK)
    assert (priced.amount_minor, priced.decision_rule) == (0, "evidence_invalid")
    assert priced.problem == "related.0 is in 'USD', the record in NGN"


@pytest.mark.parametrize(
    ("currency", "naans", "late"), [("JPY", "¥9,925", "¥4,900"), ("KWD", "KWD 9.925", "KWD 4.900")]
)
def test_a_currency_without_or_with_three_digits_is_priced_in_its_own(currency, naans, late):
    """Only what is shown depends on the digits: amounts are whole minor units, shares sum to them."""
    record = order(
        currency=currency,
        coupon_minor=1_001,
        tax_minor=777,
        packing_scan=[{"line_id": "L1", "packed_quantity": 0}],
        delivered_at="2026-09-18T21:20:00+05:30",
    )
    claims = [claim(1, "MISSING_ITEM", line_id="L1", quantity=2), claim(2, "LATE_DELIVERY")]
    priced = price(record, claims, pack=FOOD.model_copy(update={"currency": currency}))
    assert [line.amount_minor for line in priced.lines] == [9_925, 4_900]
    assert naans in priced.lines[0].basis
    assert late in priced.lines[1].basis


def transaction(**more: Any) -> dict[str, Any]:
    """A failed transfer of 5,000.00 that was debited."""
    return {
        "kind": "bank-transaction", "transaction_id": "T", "customer_id": "a", "currency": "NGN",
        "amount_minor": 500_000, "initiated_at": "2026-09-14T10:00:00+01:00", "rail": "nip",
        "status": "FAILED", "debit_posted": True, "captured_at": "2026-09-16T09:30:00+01:00",
    } | more  # fmt: skip


@pytest.mark.parametrize("flag", ["true", "yes", 1, 0, "false"])
def test_a_reversal_that_is_neither_yes_nor_no_is_not_taken_for_none(flag):
    priced = price(transaction(reversal_posted=flag), [claim(1, "failed_transfer")], pack=BANK)
    assert (priced.amount_minor, priced.decision_rule) == (0, "evidence_invalid")
    assert "reversal_posted" in (priced.problem or "")


def test_a_reversal_that_has_a_date_and_no_amount_is_for_a_person():
    record = transaction(reversal_posted_at="2026-09-15T10:00:00+01:00")
    priced = price(record, [claim(1, "failed_transfer")], pack=BANK)
    assert (priced.amount_minor, priced.escalated) == (0, ("failed_transfer",))
    record["reversed_minor"] = 200_000
    assert price(record, [claim(1, "failed_transfer")], pack=BANK).amount_minor == 300_000


@pytest.mark.parametrize(
    "others",
    [
        [{"debit_posted": False}],
        [{}, {"amount_minor": 900_000}],
        [{"reversal_posted_at": "2026-09-15T10:00:00+01:00"}],
        [{"status": "REVERSED"}],
    ],
    ids=["never debited", "told twice", "reversed, of how much is not said", "reversed by status"],
)
def test_a_related_transaction_that_may_owe_nothing_is_for_a_person(others):
    related = [
        {"transaction_id": "T2", "amount_minor": 500_000, "same_reference": True, **other}
        for other in others
    ]
    priced = price(transaction(related=related), [claim(1, "duplicate_debit")], pack=BANK)
    assert (priced.amount_minor, priced.escalated) == (0, ("duplicate_debit",))


@pytest.mark.parametrize("status", ["REVERSED", "Reversed", " reversal_pending"])
def test_a_status_that_tells_of_a_reversal_without_its_amount_is_for_a_person(status):
    priced = price(transaction(status=status), [claim(1, "failed_transfer")], pack=BANK)
    assert (priced.amount_minor, priced.escalated) == (0, ("failed_transfer",))
    said = transaction(status=status, reversed_minor=200_000)
    assert price(said, [claim(1, "failed_transfer")], pack=BANK).amount_minor == 300_000


@pytest.mark.parametrize(
    "category",
    [
        "failed_transfer", "failed_card_payment", "failed_bill_payment", "atm_dispense_error",
        "duplicate_debit", "wrong_amount", "excess_charge",
    ],
)  # fmt: skip
def test_what_never_left_the_account_does_not_go_back_to_it(category):
    more = {
        "due_minor": 100_000,
        "dispensed_minor": 0,
        "related": [{"transaction_id": "T2", "amount_minor": 500_000, "same_reference": True}],
    }
    claims = [claim(1, category)]
    assert price(transaction(**more), claims, pack=BANK).amount_minor
    priced = price(transaction(**more, debit_posted=False), claims, pack=BANK)
    assert (priced.amount_minor, priced.escalated) == (0, (category,))


@pytest.mark.parametrize("category", ["merchant_refund_missing", "deposit_not_credited"])
def test_a_credit_that_is_posted_and_of_nothing_is_for_a_person(category):
    claims = [claim(1, category)]
    priced = price(transaction(credit_posted=True, credited_minor=0), claims, pack=BANK)
    assert (priced.amount_minor, priced.escalated) == (0, (category,))
    partly = transaction(credit_posted=True, credited_minor=100_000)
    assert price(partly, claims, pack=BANK).amount_minor == 400_000
