"""Derived facts, conditions over them, clocks and tiers."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from schemas.pack import Clock, Condition, Predicate
from streams.clocks import due
from streams.conditions import holds, matches
from streams.facts import facts
from streams.tiers import tier_at_intake, tier_at_settlement
from tests.unit.pricing.cases import BANK, FOOD, claim, order


def food(line: str | None = None, **more: Any) -> dict[str, Any]:
    return facts(order(**more), line, FOOD.whole_order)


@pytest.mark.parametrize(
    ("more", "minutes"),
    [
        ({"delivered_at": "2026-09-18T20:54:59+05:30"}, 14),
        ({"delivered_at": "2026-09-18T15:25:00+00:00"}, 15),
        ({"delivered_at": "2026-09-18T20:10:30+05:30"}, -30),
        ({"delivered_at": None, "cancelled_at": "2026-09-18T21:00:00+05:30"}, 20),
        ({"delivered_at": None}, 85),
    ],
)
def test_late_minutes_are_floored(more, minutes):
    assert food(**more)["late_minutes"] == minutes


@pytest.mark.parametrize(
    ("more", "undelivered"),
    [
        ({"order_status": "cancelled_by_restaurant"}, True),
        ({"order_status": "UNDELIVERED"}, True),
        ({"order_status": "delivered"}, False),
        ({"handover_otp_verified": False, "gps": 501}, True),
        ({"handover_otp_verified": False, "gps": 500}, False),
        ({"handover_otp_verified": True, "gps": 9_000}, False),
        ({"gps": 9_000}, False),
        ({"handover_otp_verified": False}, False),
    ],
)
def test_undelivered_by_status_or_by_no_code_and_a_far_last_position(more, undelivered):
    if distance := more.pop("gps", None):
        more["gps_trail"] = [
            {"at": "2026-09-18T20:35:00+05:30", "distance_to_customer_m": distance},
            {"at": "2026-09-18T20:05:00+05:30", "distance_to_customer_m": 3},
        ]
    found = food(**more)
    assert found["undelivered"] is undelivered
    assert found["delivered"] is not undelivered


@pytest.mark.parametrize(
    ("more", "missing"),
    [
        ({"packing_scan": [{"line_id": "L1", "packed_quantity": 1}]}, 1),
        ({"packing_scan": [{"line_id": "L1", "packed_quantity": 9}]}, 0),
        ({"packing_scan": [{"line_id": "L2", "packed_quantity": 1}]}, None),
        ({"pickup_weight_expected_kg": 1.0, "pickup_weight_actual_kg": 0.5}, 1),
        ({"pickup_weight_expected_kg": 2.4, "pickup_weight_actual_kg": 1.3}, 0),
        ({"pickup_weight_expected_kg": 0, "pickup_weight_actual_kg": 0}, None),
        ({"pickup_weight_expected_kg": 1.0}, None),
        ({}, None),
    ],
)
def test_recorded_missing_units(more, missing):
    assert food("L1", **more).get("line_recorded_missing") == missing


def test_weights_are_decimals():
    ten = [{"line_id": "L1", "name": "Roll", "quantity": 10, "unit_price_minor": 1}]
    found = food("L1", line_items=ten, pickup_weight_expected_kg=1.0, pickup_weight_actual_kg=0.9)
    assert found["line_recorded_missing"] == 1


def test_a_line_sold_by_weight_is_short_by_kilograms_and_not_by_units():
    sold = {"sold_by": "weight", "ordered_kg": 1.0, "packed_kg": 0.64}
    lines = [{"line_id": "L1", "name": "Mutton", "quantity": 1, "unit_price_minor": 1, **sold}]
    found = food("L1", line_items=lines, packing_scan=[{"line_id": "L1", "packed_quantity": 1}])
    assert found["line_short_kg"] == Decimal("0.36")
    assert "line_recorded_missing" not in found


@pytest.mark.parametrize("junk", [None, "x", 3, [], {}, [1, "a", {"line_id": 3}], True])
def test_facts_are_total(junk):
    """No field, whatever is in it, makes a derivation fail."""
    for field in [*order(), "packing_scan", "gps_trail", "refunds", "related", "order_status"]:
        facts({**order(), field: junk}, "L1", FOOD.whole_order)
        facts({field: junk}, "L1", FOOD.whole_order)


@pytest.mark.parametrize(
    ("left", "op", "right", "expected"),
    [
        (5, "eq", 5, True), (5, "ne", 4, True), (5, "lt", 6, True), (5, "le", 5, True),
        (5, "gt", 5, False), (5, "ge", 5, True), ("NIP", "eq", "nip", True),
        ("Cancelled by X", "startswith", "cancelled", True), (5, "startswith", "5", False),
        (True, "eq", 1, False), (False, "eq", False, True), ("a", "lt", 5, False),
        (0.1, "eq", Decimal("0.1"), True), (None, "ne", 5, False), (None, "absent", None, True),
        (None, "present", None, False), (0, "present", None, True), (0, "eq", None, False),
    ],
)  # fmt: skip
def test_conditions(left, op, right, expected):
    condition = Condition(left="field", op=op, right=right)
    assert holds(condition, {"field": left}) is expected


def test_a_condition_may_compare_two_fields_and_a_predicate_wants_all():
    one = Condition(left="a", op="ge", right_field="b")
    assert holds(one, {"a": 2, "b": 2})
    assert not holds(one, {"a": 2})
    other = Condition(left="b", op="eq", right=3)
    assert not matches(Predicate(name="p", when=(one, other)), {"a": 2, "b": 2})
    assert matches(Predicate(name="p", when=(one, other)), {"a": 3, "b": 3})
    assert not matches(Predicate(name="p", when=()), {})


FILED = datetime(2026, 9, 16, 8, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("record", "hours"),
    [
        ({"rail": "nip"}, 24), ({"rail": "NIP"}, 24), ({"rail": "pos"}, 72), ({"rail": "web"}, 72),
        ({"rail": "card"}, 72), ({"rail": "atm", "on_us": True}, 24),
        ({"rail": "atm", "on_us": False}, 48), ({"rail": "atm"}, 24), ({"rail": "bill"}, 24),
        ({"rail": "airtime"}, 24), ({"rail": "cheque"}, 336), ({}, 336),
    ],
)  # fmt: skip
def test_the_shorter_of_the_rail_clock_and_14_days(record, hours):
    assert due(FILED, BANK.resolve_clocks, record) == FILED + timedelta(hours=hours)
    assert due(FILED, BANK.acknowledge_clocks, record) == FILED + timedelta(days=3)


def test_no_clock_is_no_deadline():
    assert due(FILED, (), {}) is None
    one = Clock(hours=1, when=(Condition(left="x", op="present"),))
    assert due(FILED, (one,), {}) is None


@pytest.mark.parametrize(
    ("amount", "tier"),
    [(0, 1), (4_999_999, 1), (5_000_000, 2), (50_000_000, 2), (50_000_001, 3), (None, 1)],
)
def test_tier_by_the_amount(amount, tier):
    assert tier_at_intake(BANK, {"amount_minor": amount}) == tier
    assert tier_at_intake(FOOD, {"amount_minor": amount}) == 1


def test_a_tier_is_raised_never_lowered():
    assert tier_at_settlement(BANK, 1, [], [2_500_000, 2_500_000]) == 2
    assert tier_at_settlement(BANK, 1, [], [2_499_999, 2_500_000]) == 1
    assert tier_at_settlement(BANK, 3, [], [1]) == 3
    assert tier_at_settlement(BANK, 1, [claim(1, "unauthorised")], []) == 3
    assert tier_at_settlement(FOOD, 1, [claim(1, "QUALITY")], [10**12]) == 1
