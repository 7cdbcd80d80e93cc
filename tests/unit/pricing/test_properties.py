"""What must hold for every order and every complaint: hypothesis over orders, claims and rulings."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.grievance import Claim
from streams.pricing.holdings import NOTHING_HELD
from streams.pricing.shares import value_lines
from tests.unit.pricing.cases import allow, claim, holdings_after, price

GOODS = ("MISSING_ITEM", "WRONG_ITEM", "QUALITY", "PACKAGING")
FLAT = ("LATE_DELIVERY", "BILLING", "PARTNER_CONDUCT")
RULINGS = st.sampled_from(["UPHELD", "UPHELD", "UPHELD", "ESCALATE", "REJECTED"])
PRICES = st.sampled_from([0, 1, 99, 333, 2_500, 10_001, 38_147])
KG = st.sampled_from([0.5, 0.64, 0.9, 1.0, 1.2, 1.25, 2.0, 2.4])


@st.composite
def orders(draw: st.DrawFn) -> dict[str, Any]:
    lines = []
    for i in range(draw(st.integers(1, 3))):
        quantity, unit = draw(st.integers(1, 4)), draw(PRICES)
        line = {"line_id": f"L{i}", "name": draw(st.sampled_from("AB")), "quantity": quantity}
        line |= {"unit_price_minor": unit, "discount_minor": draw(st.integers(0, quantity * unit))}
        if draw(st.booleans()):
            line["tax_minor"] = draw(st.integers(0, min(700, quantity * unit)))
        if draw(st.integers(0, 5)) == 0:
            line |= {"sold_by": "weight", "ordered_kg": draw(KG), "packed_kg": draw(KG)}
        lines.append(line)
    gross = sum(x["quantity"] * x["unit_price_minor"] for x in lines)
    net = sum(x["quantity"] * x["unit_price_minor"] - x["discount_minor"] for x in lines)
    record = {
        "kind": "food-order", "order_id": "o", "customer_id": "c", "currency": "INR",
        "placed_at": "2026-09-18T20:00:00+05:30", "captured_at": "2026-09-18T22:05:00+05:30",
        "delivery_sla_minutes": draw(st.integers(5, 90)), "line_items": lines,
        "coupon_minor": draw(st.integers(0, net)), "tax_minor": draw(st.integers(0, min(3_000, gross))),
    }  # fmt: skip
    paid = record["paid_total_minor"] = draw(st.integers(0, net + 4_000))
    if draw(st.integers(0, 5)):
        record["delivered_at"] = "2026-09-18T21:20:00+05:30"
    else:
        record["order_status"] = draw(st.sampled_from(["cancelled_by_shop", "undelivered", "x"]))
    if draw(st.booleans()):
        record["packing_scan"] = [
            {
                "line_id": x["line_id"],
                "packed_quantity": draw(st.integers(0, x["quantity"])),
                "packed_name": draw(st.sampled_from(["A", "B", None])),
            }
            for x in lines
            if draw(st.integers(0, 4))
        ]
    if draw(st.booleans()):
        record |= {"pickup_weight_expected_kg": draw(KG), "pickup_weight_actual_kg": draw(KG)}
    if draw(st.booleans()):
        record["paid_total_minor_due"] = max(0, paid - draw(st.sampled_from([0, 500, 2_000])))
    back = []
    for i in range(draw(st.integers(0, 2))):
        amount = draw(st.integers(0, paid))
        paid -= amount
        refund: dict[str, Any] = {"refund_id": f"rf-{i}", "amount_minor": amount}
        if draw(st.booleans()):
            refund["line_id"] = draw(st.sampled_from(lines))["line_id"]
            refund["quantity"] = draw(st.sampled_from([None, 1, 2]))
        back.append(refund)
    return record | {"refunds": back}


@st.composite
def complaints(draw: st.DrawFn, record: dict[str, Any]) -> list[Claim]:
    out = []
    for i in range(1, draw(st.integers(0, 5)) + 1):
        category = draw(st.sampled_from(GOODS * 2 + FLAT))
        more: dict[str, Any] = {}
        if category in GOODS and draw(st.integers(0, 9)):
            more["line_id"] = draw(st.sampled_from(record["line_items"]))["line_id"]
            more["quantity"] = draw(st.sampled_from([1, 1, 2, 3, 5, None]))
        elif draw(st.booleans()):
            more["scope"] = "order"
        out.append(claim(i, category, **more))
    return out


@st.composite
def disputes(draw: st.DrawFn) -> tuple[dict[str, Any], list[Claim], list[str]]:
    record = draw(orders())
    claims = draw(complaints(record))
    return record, claims, draw(st.lists(RULINGS, min_size=len(claims), max_size=len(claims)))


def left_of(record: dict[str, Any]) -> int:
    return record["paid_total_minor"] - sum(r["amount_minor"] for r in record["refunds"])


@given(disputes())
@settings(max_examples=400, deadline=None)
def test_adds_up_and_stays_within_what_was_paid(dispute):
    record, claims, rulings = dispute
    priced = price(record, claims, rulings)
    assert [line.grievance_id for line in priced.lines] == [c.grievance_id for c in claims]
    assert priced.proposed_minor <= left_of(record)
    assert priced.amount_minor in (0, priced.proposed_minor)
    scopes = [s.scope for line in priced.lines if line.disposition == "pay" for s in line.scopes]
    assert len(scopes) == len(set(scopes))
    for line, ruling in zip(priced.lines, rulings, strict=True):
        assert line.basis
        if line.disposition == "pay":
            assert ruling == line.ruling == "UPHELD"
            assert line.amount_minor == sum(s.amount_minor for s in line.scopes) > 0
        if ruling != "UPHELD":
            assert line.amount_minor == 0
        if ruling == "REJECTED":
            assert line.disposition == "nothing"
            assert not line.scopes
        if ruling == "ESCALATE":
            assert line.disposition == "person"
    may = {s.scope: s for line in priced.lines if line.disposition == "person" for s in line.scopes}
    together = sum(max(s.amount_minor, s.ceiling_minor or 0) for s in may.values())
    assert together + priced.amount_minor <= max(left_of(record), 0)


@given(disputes(), st.randoms())
@settings(max_examples=200, deadline=None)
def test_the_order_in_which_things_arrive_changes_nothing(dispute, random):
    record, claims, rulings = dispute
    priced = price(record, claims, rulings)
    pairs = list(zip(claims, rulings, strict=True))
    random.shuffle(pairs)
    assert price(record, [c for c, _ in pairs], [r for _, r in pairs]) == priced


@given(disputes(), st.data())
@settings(max_examples=500, deadline=None)
def test_raising_a_claim_never_lowers_the_total_nor_raises_another(dispute, data):
    record, claims, rulings = dispute
    numbered = [i for i, c in enumerate(claims) if c.quantity is not None]
    if not numbered:
        return
    raised = data.draw(st.sampled_from(numbered))
    more = (claims[raised].quantity or 1) + data.draw(st.integers(1, 3))
    changed = list(claims)
    changed[raised] = claims[raised].model_copy(update={"quantity": more})
    before, after = price(record, claims, rulings), price(record, changed, rulings)
    assert after.proposed_minor >= before.proposed_minor
    for i, (old, new) in enumerate(zip(before.lines, after.lines, strict=True)):
        if i != raised:
            assert new.amount_minor <= old.amount_minor


@given(disputes())
@settings(max_examples=200, deadline=None)
def test_what_a_person_decides_takes_nothing_from_what_is_upheld(dispute):
    record, claims, rulings = dispute
    whole = price(record, claims, rulings)
    upheld = [c for c, ruling in zip(claims, rulings, strict=True) if ruling == "UPHELD"]
    alone = price(record, upheld)
    assert alone.proposed_minor == whole.proposed_minor
    amounts = {line.grievance_id: line.amount_minor for line in whole.lines}
    assert all(line.amount_minor == amounts[line.grievance_id] for line in alone.lines)


@given(orders(), st.data())
@settings(max_examples=200, deadline=None)
def test_disputes_on_one_order_never_pay_a_scope_twice_nor_more_than_was_paid(record, data):
    """In sequence, with what the operator records of our own payments in half of the cases."""
    held, paid, scopes = NOTHING_HELD, 0, []
    refunds = list(record["refunds"])
    for number in range(data.draw(st.integers(2, 4))):
        claims = data.draw(complaints(record))
        rulings = data.draw(st.lists(RULINGS, min_size=len(claims), max_size=len(claims)))
        key = f"d{number}:auto"
        priced = price({**record, "refunds": refunds}, claims, rulings, holdings=held)
        paid += priced.amount_minor
        pay = [line for line in priced.lines if line.disposition == "pay"]
        scopes += [s.scope for line in pay for s in line.scopes]
        held = holdings_after(priced, key, held)
        if priced.amount_minor and data.draw(st.booleans()):
            refunds.append({"refund_id": key, "amount_minor": priced.amount_minor})
    assert len(scopes) == len(set(scopes))
    assert paid <= max(0, left_of(record))


@given(orders())
@settings(max_examples=200, deadline=None)
def test_shares_sum_to_the_cent(record):
    lines = value_lines(record)
    goods = sum(line.gross - line.discount for line in lines)
    assert sum(line.coupon for line in lines) == (record["coupon_minor"] if goods else 0)
    for line in lines:
        shares = [line.unit_share(unit) for unit in range(1, line.quantity + 1)]
        assert sum(shares) == line.total
        assert shares == sorted(shares, reverse=True)
        assert min(shares) >= 0
    if all("tax_minor" not in x for x in record["line_items"]) and any(x.net for x in lines):
        assert sum(line.tax for line in lines) == record["tax_minor"]


@given(disputes(), st.integers(0, 300_000))
@settings(max_examples=200, deadline=None)
def test_the_allowance_pays_all_or_nothing_and_never_above_the_limit(dispute, ours):
    record, claims, rulings = dispute
    priced = price(record, claims, rulings)
    allowed = allow(priced, ours=ours)
    assert allowed.amount_minor in (0, priced.amount_minor)
    assert not allowed.amount_minor or allowed.amount_minor + ours <= 250_000
    if not allowed.amount_minor and priced.amount_minor:
        assert allowed.needs_person
        assert not any(line.disposition == "pay" for line in allowed.lines)
