"""The canned queries on the worked example, filed many times, and the ways to ask them wrongly."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from clickhouse_connect.driver.client import Client

from sinks import migrate, query
from sinks.clickhouse_sink import ClickHouseSink, stop_at_refused
from sinks.writer import Writer
from tests.integration.test_sink import consume, expected, kafka_of, opener
from tests.support.clickhouse import clickhouse_process
from tests.unit.sinks.sample_events import FILED

DISPUTES = 10
DAY_AFTER = FILED + timedelta(days=1)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Ten disputes, each written twice."""
    with clickhouse_process(tmp_path_factory.mktemp("queries")) as server:
        open_client = opener(server, "default")
        sink = ClickHouseSink(Writer(open_client, migrate.migrate), stop_at_refused)
        for _ in range(2):
            consume(sink, kafka_of(DISPUTES), checkpoint=10_000)
        with open_client() as mine:
            yield mine


def ask(client: Client, name: str, **how: Any) -> list[dict[str, Any]]:
    answer = query.run(name, client, FILED - timedelta(days=1), DAY_AFTER, **how)
    assert json.loads(json.dumps(answer)) == answer
    return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]


def test_split_rate(client: Client) -> None:
    rows = {row["category"]: row for row in ask(client, "split_rate", time_zone="Asia/Kolkata")}
    assert rows["LATE_DELIVERY"]["unanimous"] == DISPUTES
    assert rows["LATE_DELIVERY"]["split_rate"] == 0
    assert rows["QUALITY"]["two_ways"] == DISPUTES
    assert rows["QUALITY"]["split_rate"] == 1
    assert {row["day"] for row in rows.values()} == {"2026-11-30"}


def test_a_day_is_the_time_zones(client: Client) -> None:
    auckland = ask(client, "split_rate", time_zone="Pacific/Auckland")
    assert {row["day"] for row in auckland} == {"2026-12-01"}


def test_payouts_add_up_to_what_the_gateway_confirmed(client: Client) -> None:
    rows = {row["category"]: row for row in ask(client, "payouts", clock="settled")}
    assert {name: row["amount_minor"] for name, row in rows.items()} == {
        "LATE_DELIVERY": 4900 * DISPUTES,
        "MISSING_ITEM": 64000 * DISPUTES,
    }
    assert {row["currency"] for row in rows.values()} == {"INR"}
    assert {row["automatic_minor"] - row["amount_minor"] for row in rows.values()} == {0}


def test_escalation_reasons(client: Client) -> None:
    (row,) = ask(client, "escalation_reasons")
    assert (row["category"], row["reason"], row["disputes"]) == ("QUALITY", "bench_escalated", 10)
    assert row["amount_if_upheld_minor"] == 6000 * DISPUTES


def test_decision_rules(client: Client) -> None:
    (row,) = ask(client, "decision_rules")
    assert (row["decision_rule"], row["disputes"], row["share"]) == (
        "auto_resolve_within_cap", 10, 1.0,
    )  # fmt: skip


def test_judge_agreement(client: Client) -> None:
    rows = ask(client, "judge_agreement")
    quality = {
        (row["prompt_variant_a"], row["prompt_variant_b"]): row["agreement"]
        for row in rows
        if row["category"] == "QUALITY"
    }
    assert quality == {("a", "b"): 1, ("a", "c"): 0, ("b", "c"): 0}
    assert {row["agreement"] for row in rows if row["category"] == "LATE_DELIVERY"} == {1}


def test_cost_per_dispute(client: Client) -> None:
    (row,) = ask(client, "cost_per_dispute")
    assert row["calls_per_dispute"] == 14
    assert row["cost_micros_per_dispute"] == 14 * 1500
    assert row["judging_cost_micros"] == DISPUTES * 12 * 1500
    assert row["models"] == ["offline-rules", *(f"offline-rules/rules-{n}" for n in (1, 2, 3))]


def test_stage_latency_and_end_to_end(client: Client) -> None:
    stages = {row["stage"]: row for row in ask(client, "stage_latency", time_zone="Asia/Kolkata")}
    assert stages["docketed"]["p50_s"] == 1.8
    assert stages["docketed"]["hour"] == "2026-11-30T22:00"
    (row,) = ask(client, "end_to_end")
    assert (row["settled"], row["p50_s"], row["within_30_s"]) == (DISPUTES, 3.9, 1.0)
    assert row["promise_held"]


def test_counts_are_kafkas(client: Client) -> None:
    answer = query.run("counts", client, None, None)
    found = {row[1]: row[2] for row in answer["rows"]}
    assert found == expected(DISPUTES)


def test_disputes_show_each_source_beside_the_others(client: Client) -> None:
    rows = ask(client, "disputes")
    assert len(rows) == DISPUTES
    for row in rows:
        assert row["paid_minor"] == row["decided_minor"] == row["ledger_paid_minor"] == 68900
        assert (row["decisions"], row["payments"], row["currencies"]) == (1, 1, 1)
        assert row["status"] == "part_paid_in_review"


@pytest.mark.parametrize("name", query.names())
def test_an_empty_period_still_names_its_columns(client: Client, name: str) -> None:
    answer = query.run(name, client, DAY_AFTER, DAY_AFTER + timedelta(days=3_650))
    assert answer["rows"] == []
    assert answer["columns"]
    assert query.about(name)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"name": "split_rates"}, "did you mean 'split_rate'"),
        ({"name": "../migrate"}, "there is no query"),
        ({"since": DAY_AFTER, "until": FILED}, "before it begins"),
        ({"since": datetime(2026, 1, 1)}, "need a time zone"),  # noqa: DTZ001
        ({"time_zone": "UTC'); DROP TABLE payments; --"}, "no time zone"),
        ({"clock": "wall"}, "'filed' or 'settled'"),
    ],
)
def test_a_bad_question_is_answered_with_a_good_one(
    client: Client, wrong: dict[str, Any], words: str
) -> None:
    asked = {"name": "counts", "since": None, "until": None, **wrong}
    with pytest.raises(query.BadQuestion, match=words):
        query.run(client=client, **asked)


def test_moments_beyond_what_can_be_asked_about_are_cut(client: Client) -> None:
    # The first and the last there are, in zones where UTC has no such moment.
    first = datetime(1, 1, 1, tzinfo=ZoneInfo("Asia/Kolkata"))
    last = datetime(9999, 12, 31, 23, 59, tzinfo=ZoneInfo("America/New_York"))
    ages = query.run("counts", client, first, last)
    assert {row[1] for row in ages["rows"]} == set(expected(1))
