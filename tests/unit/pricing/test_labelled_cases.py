"""Every labelled case under scripted right rulings, through `price`, and the table of money cases."""

import csv
import time
from datetime import UTC, datetime

import pytest

from ops.cases import labelled
from streams.dry_run import CaseError, price_case
from streams.policies.loader import UnknownPackError
from tests import oracle
from tests.support import money_table
from tests.unit.pricing.cases import ANSWERS, REGISTRY, answer, load, settle

NOW = datetime(2026, 9, 18, tzinfo=UTC)
LABELLED = labelled("food-delivery") + labelled("bank-disputes-ng")
REWORDED = load("reworded")
MONEY = load("money")


def name(case):
    return case["id"]


def test_the_38_are_all_there():
    assert len(LABELLED) == 38
    assert len(MONEY) >= 60


@pytest.mark.parametrize("case", LABELLED + REWORDED, ids=name)
def test_price_gives_the_label(case):
    found = price_case(case, REGISTRY, NOW)
    assert {key: found[key] for key in ANSWERS} == {key: case["expect"][key] for key in ANSWERS}
    for deadline, at in case["expect"].get("deadlines", {}).items():
        assert found[deadline] == at


@pytest.mark.parametrize("case", MONEY, ids=name)
def test_money_table(case):
    priced, allowed = settle(case)
    expect = case["expect"]
    assert answer(priced, allowed) == {key: expect[key] for key in ANSWERS}
    if "tier" in expect and case["policy"] == "bank-disputes-ng":
        assert priced.tier == (expect["tier"] or 1)
    if "lines" in expect:
        shown = [
            {"category": x.category, "line_id": x.line_id, "amount_minor": x.amount_minor}
            for x in priced.lines
            if x.ruling == "UPHELD" and x.person_reason in (None, priced.decision_rule)
        ]
        assert shown == expect["lines"]


def test_the_spreadsheet_of_the_money_cases_says_what_the_rules_do():
    """`tests/data/money.csv`, for those who do not read JSON; `python -m tests.support.money_table`."""
    with money_table.TABLE.open(encoding="utf-8", newline="") as file:
        written = {row["case"]: row for row in csv.DictReader(file)}
    assert list(written) == [case["id"] for case in MONEY]
    for case in MONEY:
        assert written[case["id"]] == money_table.row(case, answer(*settle(case)))


@pytest.mark.parametrize("case", LABELLED + MONEY, ids=name)
def test_agrees_with_the_oracle_whatever_the_bench_rules(case):
    """The oracle imports nothing of ours. It is given the rulings after the pack's predicates."""
    count = len(case["expect"]["grievances"])
    for ruling in ("UPHELD", "ESCALATE", "REJECTED"):
        priced, allowed = settle(case, [ruling] * count)
        ruled = [line.ruling for line in priced.lines] or [ruling] * count
        rule = case["expect"]["decision_rule"]
        expected = oracle.price(
            case,
            ruled,
            screening_tripped=rule == "screening_flag_requires_human",
            safety=rule == "safety_requires_human",
            order_state=case.get("order_state"),
        )
        above = expected["decision_rule"] == "customer_window_total_above_limit"
        if above and not expected["proposed_minor"]:
            continue  # Reading: a proposal of 0 takes nothing from the customer's limit.
        assert answer(priced, allowed) == {key: expected[key] for key in ANSWERS}


def test_price_is_quick():
    slowest = max(LABELLED, key=lambda case: len(str(case)))
    start = time.perf_counter()
    for _ in range(20):
        price_case(slowest, REGISTRY, NOW)
    assert (time.perf_counter() - start) / 20 < 0.2


def test_given_rulings_replace_the_truths():
    worked = LABELLED[0]
    rejected = price_case({**worked, "rulings": ["REJECTED"] * 4}, REGISTRY, NOW)
    assert (rejected["decision_rule"], rejected["amount_minor"]) == ("no_grievance_upheld", 0)
    upheld = price_case({**worked, "rulings": ["UPHELD"] * 4}, REGISTRY, NOW)
    assert (upheld["amount_minor"], upheld["escalated"]) == (74_900, ["PARTNER_CONDUCT"])


def test_every_line_says_how_its_amount_came_about():
    for case in LABELLED + MONEY:
        if case.get("order_state"):
            continue
        for line in price_case(case, REGISTRY, NOW)["lines"]:
            assert line["basis"]
            assert line["amount_minor"] == 0 or any(char.isdigit() for char in line["basis"])


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"policy": None}, "policy"),
        ({"complaint": None}, "complaint"),
        ({"complaint": {"order_id": "o"}}, "customer_id"),
        ({"evidence": "a text"}, "evidence"),
        ({"expect": {"grievances": "none"}}, "grievances"),
        ({"rulings": ["UPHELD"]}, "rulings"),
        ({"rulings": ["UPHELD"] * 3 + ["MAYBE"]}, "rulings.4"),
        ({"expect": {"grievances": [{"category": "QUALITY", "truth": "UPHELD", "quantity": -1}]}}, "quantity"),
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused_by_field(change, field):
    with pytest.raises(CaseError, match=field):
        price_case({**LABELLED[0], **change}, REGISTRY, NOW)


def test_an_unknown_policy_names_what_is_loaded():
    with pytest.raises(UnknownPackError, match="food-delivery v1"):
        price_case({**LABELLED[0], "policy": "hotels"}, REGISTRY, NOW)
