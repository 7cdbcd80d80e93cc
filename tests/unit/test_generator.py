"""The generator keeps its documented promises, and its evidence bears out its truths."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import datetime, timedelta
from functools import cache

from tests.generator import FILED, WORDS, answer, bare, disputes

N = 2000
FOOD = "food-delivery"


@cache
def many() -> list[dict]:
    return disputes(N, seed=11)


@cache
def retold() -> list[dict]:
    return disputes(600, seed=5, shared_orders=0.4)


def share(matches) -> float:
    return sum(map(bool, matches)) / N


def test_a_seed_is_a_seed():
    assert disputes(40, 3) == disputes(40, 3) == disputes(80, 3)[:40]
    assert disputes(40, 3) != disputes(40, 4)
    assert disputes(60, 3, shared_orders=0.3) == disputes(60, 3, shared_orders=0.3)


def test_ids_are_unique():
    for field in ("order_id", "customer_id"):
        assert len({c["complaint"][field] for c in many()}) == N
    assert len({c["id"] for c in many()}) == N


def test_the_shares_are_those_documented():
    rules = Counter(c["expect"]["decision_rule"] for c in many())
    assert 0.82 < share(c["policy"] == FOOD for c in many()) < 0.88
    assert share(c["expect"]["amount_minor"] > 0 for c in many()) >= 0.70
    assert 0.02 < share(c["screening_tripped"] for c in many()) < 0.04
    assert 0.01 < rules["safety_requires_human"] / N < 0.03
    assert 0.005 < rules["evidence_unavailable"] / N < 0.016
    empty = share(
        not c["expect"]["grievances"] and c["evidence"].get("captured_at") for c in many()
    )
    assert 0.02 < empty < 0.04
    assert {c["expect"]["tier"] for c in many()} == {None, 1, 2, 3}
    assert {len(c["expect"]["grievances"]) for c in many()} == {0, 1, 2, 3, 4}


def test_every_stop_and_every_category_occurs():
    rules = {c["expect"]["decision_rule"] for c in many()}
    assert rules >= {
        "amount_above_auto_approve_cap",
        "customer_window_total_above_limit",
        "no_grievance_upheld",
        "all_grievances_escalated",
        "recall_requires_human",
        "tier_2_requires_human_approval",
        "tier_3_requires_human_approval",
    }
    categories = {g["category"] for c in many() for g in c["expect"]["grievances"]}
    assert len(categories) == 7 + 13


def test_there_are_many_wordings():
    assert all(len(text.splitlines()) >= 6 for text in WORDS.values())
    assert len({bare(c) for c in many()}) > 0.9 * N


def test_every_case_is_priced_by_the_oracle():
    for case in [*many(), *retold()]:
        got, expect = answer(case), case["expect"]
        assert all(got[k] == expect[k] for k in ("amount_minor", "decision_rule", "escalated"))


def test_the_times_hang_on_filed_at():
    later = FILED + timedelta(days=400)
    for now, then in zip(disputes(100, 2), disputes(100, 2, filed_at=later), strict=True):
        assert now["expect"]["amount_minor"] == then["expect"]["amount_minor"]
        for name in ("placed_at", "initiated_at", "delivered_at", "captured_at"):
            if name in now["evidence"]:
                moved = when(then["evidence"][name]) - when(now["evidence"][name])
                assert moved == timedelta(days=400)


def test_the_evidence_bears_out_the_truths():
    seen = Counter()
    for case in many():
        for g in case["expect"]["grievances"] if case["evidence"].get("captured_at") else []:
            truth = borne_out(g, case["evidence"])
            assert truth in (None, g["truth"]), (case["id"], g)
            seen[truth] += 1
    assert min(seen["UPHELD"], seen["REJECTED"], seen["ESCALATE"]) > 50


def test_only_what_is_meant_for_a_person_goes_to_one():
    """No unit refunded in part, no line missing, no field lacking by accident."""
    for case in many():
        if case["expect"]["decision_rule"] in ("auto_resolve_within_cap", "tier_1_auto_resolve"):
            meant = {
                g["category"]
                for g in case["expect"]["grievances"]
                if g["truth"] == "ESCALATE"
                or (g["truth"] == "UPHELD" and g["category"] == "PARTNER_CONDUCT")
            }
            assert set(case["expect"]["escalated"]) == meant, case["id"]


def test_no_scope_is_paid_twice_when_orders_are_told_again():
    orders = defaultdict(list)
    for case in retold():
        orders[case["complaint"]["order_id"]].append(case)
    assert 0.25 < 1 - len(orders) / len(retold()) < 0.5
    for told in orders.values():
        assert len({bare(c) for c in told}) == len(told)
        paid = [
            (tuple(scope), amount)
            for case in told
            if case["expect"]["amount_minor"]
            for line in answer(case)["lines"]
            if line["ruling"] == "UPHELD"
            for scope, amount in line["scopes"]
            if amount
        ]
        assert len({scope for scope, _ in paid}) == len(paid)
        assert sum(amount for _, amount in paid) == sum(c["expect"]["amount_minor"] for c in told)
        if told[0]["policy"] == FOOD and paid:
            assert sum(a for _, a in paid) <= told[0]["evidence"]["paid_total_minor"]


# --- what the records say, read a third time ----------------------------------------------


def when(text: str) -> datetime:
    return datetime.fromisoformat(text)


def borne_out(g: dict, e: dict) -> str | None:
    """The ruling the records call for; None for what this does not read."""
    category = g["category"]
    if category == "LATE_DELIVERY":
        end = e.get("delivered_at") or e.get("cancelled_at")
        if not end:
            return "ESCALATE"
        past = when(end) - when(e["placed_at"])
        return upheld(past > timedelta(minutes=e["delivery_sla_minutes"]))
    if category in ("MISSING_ITEM", "WRONG_ITEM") and g.get("line_id") and "packing_scan" in e:
        item = next(i for i in e["line_items"] if i["line_id"] == g["line_id"])
        scan = [s for s in e["packing_scan"] if s["line_id"] == g["line_id"]]
        packed = sum(s["packed_quantity"] for s in scan)
        if category == "MISSING_ITEM":
            return upheld(packed < item["quantity"])
        return upheld(any(s.get("packed_name", item["name"]) != item["name"] for s in scan))
    if category in ("MISSING_ITEM", "WRONG_ITEM") and g.get("line_id"):
        weighed = "pickup_weight_actual_kg" in e or "packed_kg" in e["line_items"][0]
        return "UPHELD" if weighed else "ESCALATE"
    if category == "BILLING" and "cancelled_at" not in e:
        if "paid_total_minor_due" not in e:
            return "ESCALATE"
        return upheld(e["paid_total_minor"] > e["paid_total_minor_due"])
    if category == "PACKAGING":
        if not e["packaging_condition_recorded"]:
            return "ESCALATE"
        return upheld("leaking" in e["packaging_condition"])
    if category == "QUALITY" and not g.get("safety"):
        said = [s["statement"] for s in e.get("sources", []) if s["line_id"] == g["line_id"]]
        return upheld("bad" in said[0]) if said else "ESCALATE"
    return None


def upheld(true: bool) -> str:
    return "UPHELD" if true else "REJECTED"
