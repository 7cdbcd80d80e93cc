"""A third domain is a folder: hotel bookings in dinar, judged, priced and tiered without a line of code."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from streams.dry_run import price_case
from streams.policies.loader import PackRegistry, check_pack

PACK = """
policy = "hotel-bookings-kw"
version = 1
title = "Hotel bookings, Kuwait"
currency = "KWD"
evidence_kind = "hotel-booking"
evidence_required = ["order_id", "booked_at", "paid_total_minor"]
order_placed_field = "booked_at"
tier_amount_field = "paid_total_minor"
tiers = [{ tier = 1, max_minor = 100000 }, { tier = 2, max_minor = 500000 }, { tier = 3 }]
rules = [
  "evidence_unavailable", "evidence_invalid", "order_too_old", "extraction_failed",
  "screening_flag_requires_human", "no_checkable_grievance", "safety_requires_human",
  "tier_3_requires_human_approval", "tier_2_requires_human_approval",
  "customer_window_total_above_limit", "amount_above_auto_approve_cap",
  "injury_requires_lawyer", "no_grievance_upheld", "all_grievances_escalated",
  "tier_1_auto_resolve",
]
safety_words = ["bedbugs"]
resolve_clocks = [
  { hours = 72 },
  { hours = 4, when = [{ left = "guest_in_house", op = "eq", right = true }] },
]

[limits]
auto_approve_cap_minor = 40000
payout_ceiling_minor = 4000000
customer_limit_minor = 60000
max_order_age_days = 90

[promises]
refund = "The refund arrives within 5 working days."

[bench]
seats = [
  { seat = 1, prompt_variant = "plain" },
  { seat = 2, prompt_variant = "plain" },
  { seat = 3, prompt_variant = "plain" },
]

[[roles]]
role = "lead"

[[categories]]
name = "room_downgraded"
description = "A cheaper room than the one booked was given."
evidence_fields = ["room_rate_minor", "given_rate_minor"]
citations = ["room_rate_minor", "given_rate_minor"]
[[categories.contradicts_upheld]]
name = "upgrade"
when = [{ left = "given_rate_minor", op = "ge", right_field = "room_rate_minor" }]
[categories.pricing]
kind = "formula"
plus = ["room_rate_minor"]
minus = ["given_rate_minor", "goodwill_minor"]
optional = ["goodwill_minor"]

[[categories]]
name = "minibar_wrong"
description = "The minibar was charged and not used."
evidence_fields = ["minibar_charged_minor", "minibar_used_minor"]
citations = ["minibar_charged_minor", "minibar_used_minor"]
[categories.pricing]
kind = "formula"
plus = ["minibar_charged_minor"]
minus = ["minibar_used_minor"]

[[categories]]
name = "overcharged"
description = "The bill is above what was agreed."
evidence_fields = ["paid_total_minor", "paid_total_minor_due"]
citations = ["paid_total_minor", "paid_total_minor_due"]
[categories.pricing]
kind = "fee_difference"

[[categories]]
name = "booked_twice"
description = "The same stay was paid for twice."
evidence_fields = ["paid_total_minor"]
citations = ["paid_total_minor"]
[categories.pricing]
kind = "formula"
plus = ["paid_total_minor"]

[[categories]]
name = "injury"
description = "A guest was hurt."
evidence_fields = ["incident_report"]
citations = ["incident_report"]
automatic = false
claimed_tier = 1
stops_with = "injury_requires_lawyer"
[categories.pricing]
kind = "nothing"
"""


@pytest.fixture
def registry(tmp_path: Path) -> PackRegistry:
    folder = tmp_path / "hotel-bookings-kw" / "v1"
    (folder / "prompts").mkdir(parents=True)
    (folder / "pack.toml").write_text(PACK, "utf-8")
    for name in ("extraction", "judge-plain", "letter"):
        (folder / "prompts" / f"{name}.md").write_text(name, "utf-8")
    assert check_pack(folder) == []
    return PackRegistry.load(tmp_path)


def case(*grievances: tuple[str, str], text: str = "Not what I booked.", **record: Any) -> dict:
    evidence = {
        "kind": "hotel-booking", "order_id": "b-1", "customer_id": "g-1", "currency": "KWD",
        "booked_at": "2026-09-01T10:00:00+03:00", "paid_total_minor": 90_000,
        "room_rate_minor": 45_000, "given_rate_minor": 30_500, "minibar_charged_minor": 4_250,
        "minibar_used_minor": 1_000, "captured_at": "2026-09-18T12:00:00+03:00", **record,
    }  # fmt: skip
    return {
        "policy": "hotel-bookings-kw",
        "complaint": {
            "order_id": "b-1",
            "customer_id": "g-1",
            "filed_at": "2026-09-18T12:00:00+03:00",
            "text": text,
        },
        "evidence": {key: value for key, value in evidence.items() if value is not None},
        "expect": {"grievances": [{"category": c, "truth": t} for c, t in grievances]},
    }


def run(registry: PackRegistry, one: dict) -> dict[str, Any]:
    return price_case(one, registry, datetime(2026, 9, 18, tzinfo=UTC))


def test_two_claims_on_different_figures_are_both_paid_in_three_digits(registry):
    found = run(registry, case(("room_downgraded", "UPHELD"), ("minibar_wrong", "UPHELD")))
    assert (found["decision_rule"], found["amount_minor"]) == ("tier_1_auto_resolve", 17_750)
    assert found["lines"][0]["basis"] == "room rate KWD 45.000 − given rate KWD 30.500 − goodwill KWD 0.000 = KWD 14.500"  # fmt: skip
    assert found["resolve_by"] == "2026-09-21T12:00:00+03:00"


def test_two_claims_on_one_figure_are_paid_once(registry):
    found = run(registry, case(("room_downgraded", "UPHELD"), ("room_downgraded", "UPHELD")))
    assert found["amount_minor"] == 14_500


def test_everything_and_a_part_of_it_is_no_more_than_everything(registry):
    one = case(("booked_twice", "UPHELD"), ("minibar_wrong", "UPHELD"), paid_total_minor=40_000)
    assert run(registry, one)["amount_minor"] == 40_000


@pytest.mark.parametrize(
    ("one", "rule", "amount", "tier"),
    [
        (case(("room_downgraded", "REJECTED")), "no_grievance_upheld", 0, 1),
        (case(), "no_checkable_grievance", 0, 1),
        (case(("room_downgraded", "UPHELD"), given_rate_minor=None), "all_grievances_escalated", 0, 1),
        (case(("room_downgraded", "UPHELD"), given_rate_minor=45_000), "all_grievances_escalated", 0, 1),
        (case(("room_downgraded", "UPHELD"), goodwill_minor=14_000), "tier_1_auto_resolve", 500, 1),
        (case(("overcharged", "UPHELD"), paid_total_minor_due=49_999), "amount_above_auto_approve_cap", 0, 1),
        (case(("overcharged", "UPHELD"), paid_total_minor=100_001), "tier_2_requires_human_approval", 0, 2),
        (case(("minibar_wrong", "UPHELD"), ("injury", "UPHELD")), "injury_requires_lawyer", 0, 1),
        (case(("minibar_wrong", "UPHELD"), text="There were bedbugs."), "safety_requires_human", 0, 1),
        (case(("minibar_wrong", "UPHELD"), currency="INR"), "evidence_invalid", 0, 1),
        (case(("minibar_wrong", "UPHELD"), booked_at="2026-01-01T10:00:00+03:00"), "order_too_old", 0, 1),
        (case(("minibar_wrong", "UPHELD"), customer_history={"refunded_30d_minor": 59_000}), "customer_window_total_above_limit", 0, 1),
    ],
)  # fmt: skip
def test_its_rules_tiers_and_limits_are_its_own(registry, one, rule, amount, tier):
    found = run(registry, one)
    assert (found["decision_rule"], found["amount_minor"], found["tier"]) == (rule, amount, tier)


def test_its_clock_depends_on_its_own_field(registry):
    found = run(registry, case(("minibar_wrong", "UPHELD"), guest_in_house=True))
    assert found["resolve_by"] == "2026-09-18T16:00:00+03:00"
