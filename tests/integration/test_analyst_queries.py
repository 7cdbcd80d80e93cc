"""The canned queries on disputes in which something happened: repeats, late and failed rulings, people's decisions."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from clickhouse_connect.driver.client import Client

from schemas.base import Model
from schemas.ids import grievance_id, review_key, ruling_id, verdict_id
from schemas.settlement import Decision
from schemas.verdict import Verdict
from sinks import migrate, query
from sinks.clickhouse_sink import ClickHouseSink, stop_at_refused
from sinks.rows.row import Place
from sinks.writer import Writer
from tests.integration.test_sink import Log, consume, kafka_of, opener
from tests.support.clickhouse import clickhouse_process
from tests.unit.sinks.sample_events import FILED, DisputeEvents

DISPUTES = 10
QUALITY = 3
"""The grievance of the sample that is split: ESCALATE, ESCALATE, UPHELD; so it leans to UPHELD."""

PROMISED = {
    0: ("paid", FILED + timedelta(days=1)),
    1: ("paid", FILED - timedelta(days=1)),
    2: ("in_review", datetime(2020, 1, 1, tzinfo=UTC)),
    3: ("in_review", datetime(2200, 1, 1, tzinfo=UTC)),
}
"""Status and the moment by which it was to be resolved: kept, late, breached and open, open in time."""

DEAR = {
    "re_asks": 5, "tool_turns": 10, "retries": 15, "cache_read_tokens": 400, "cache_write_tokens": 100,
}  # fmt: skip
"""What two failed rulings took beside their calls."""


def at(number: int) -> DisputeEvents:
    return DisputeEvents(number, FILED + timedelta(seconds=number))


def decided_by_person(number: int, rule: str, amount: int) -> Decision:
    """A person's decision on the line that waited."""
    events = at(number)
    (line,) = (one for one in events.lines() if one.category == "QUALITY")
    disposition = "pay" if amount else "nothing"
    line = line.model_copy(update={"amount_minor": amount, "disposition": disposition})
    return events.decision().model_copy(
        update={
            "decision_id": review_key(events.dispute_id, "r1"), "review_id": "r1", "lines": (line,),
            "decision_rule": rule, "amount_minor": amount, "authorised_by": "person:asha",
        }
    )  # fmt: skip


def late(number: int) -> list[Verdict]:
    """The count closed with a seat missing, and its ruling came afterwards and would have changed it."""
    whole = at(number).verdict(QUALITY)
    early = whole.model_copy(
        update={"rulings": whole.rulings[1:], "votes": whole.votes.model_copy(update={"absent": 1})}
    )
    later = whole.model_copy(
        update={
            "revision": 2, "closed_by": "late", "ruling": "UPHELD",
            "verdict_id": verdict_id(whole.grievance_id, 2),
        }
    )  # fmt: skip
    return [early, later]


def what_happened() -> Log:
    log = kafka_of(DISPUTES)
    offset = 10_000

    def happened(topic: str, number: int, event: Model, partition: int | None = None) -> None:
        nonlocal offset
        offset += 1
        where = number % 12 if partition is None else partition
        log.append((Place(topic, where, offset), b"key", event.to_bytes()))

    for _ in range(2):
        happened("complaints", 3, at(3).complaint())
    happened("complaints", 4, at(4).complaint(), partition=9)
    happened("decisions", 1, decided_by_person(1, "review_approved", 6000))
    happened("decisions", 2, decided_by_person(2, "review_rejected", 0))
    happened("decisions", 3, decided_by_person(3, "review_refused:above_ceiling", 0))
    for verdict in late(5):
        happened("verdicts", 5, verdict)
    for number, promised in PROMISED.items():
        entry = at(number).ledger(9)
        told = {**entry.stages, "told": at(number).after(6)}
        changes = {"stages": told, "sequence": 10, "resolve_by": promised[1], "status": promised[0]}
        changes["acknowledge_by"] = at(number).after(3_600)
        happened("ledger", number, entry.model_copy(update=changes))
    for number in (6, 7):
        failed = at(number).ruling(1, 2, ruling="FAILED", failure="citation_missing", confidence=0)
        usage = failed.usage.model_copy(update=DEAR)
        happened("rulings", number, failed.model_copy(update={"usage": usage}))
    return log


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with clickhouse_process(tmp_path_factory.mktemp("analysts")) as server:
        open_client = opener(server, "default")
        sink = ClickHouseSink(Writer(open_client, migrate.migrate), stop_at_refused)
        for _ in range(2):
            consume(sink, what_happened(), checkpoint=10_000)
        with open_client() as mine:
            yield mine


def ask(client: Client, name: str, **how: Any) -> list[dict[str, Any]]:
    answer = query.run(name, client, FILED, FILED + timedelta(days=1), **how)
    return [dict(zip(answer["columns"], row, strict=True)) for row in answer["rows"]]


def test_a_repeat_is_counted_and_a_record_moved_to_its_partition_is_not(client: Client) -> None:
    (row,) = ask(client, "duplicates")
    assert (row["filed_complaints"], row["distinct_complaints"]) == (DISPUTES + 3, DISPUTES)
    assert (row["duplicates_refused"], row["disputes_repeated"]) == (2, 1)


def test_a_late_ruling_is_named_by_its_judge_and_whether_it_would_differ(client: Client) -> None:
    (row,) = ask(client, "late_rulings")
    assert (row["category"], row["model"], row["prompt_hash"]) == (
        "QUALITY", "offline-rules/rules-1", "sha256:p1",
    )  # fmt: skip
    assert (row["late_rulings"], row["would_differ"]) == (1, 1)


def test_an_officer_overturns_the_lean_of_the_bench(client: Client) -> None:
    rows = ask(client, "officer_overturns")
    assert {row["category"] for row in rows} == {"QUALITY"}
    (row,) = rows
    assert (row["decided_by_person"], row["with_a_lean"]) == (2, 2)
    assert (row["upheld_to_rejected"], row["rejected_to_upheld"]) == (1, 0)
    assert (row["overturn_rate"], row["approved_minor"], row["currency"]) == (0.5, 6000, "INR")
    assert row["models"] == [f"offline-rules/rules-{n}" for n in (1, 2, 3)]


def test_abstentions_citations_and_dissent_by_judge(client: Client) -> None:
    rows = {(row["category"], row["prompt_variant"]): row for row in ask(client, "judges")}
    late = rows["LATE_DELIVERY", "b"]
    assert (late["rulings"], late["abstained"], late["citation_failures"]) == (DISPUTES, 2, 2)
    assert late["citation_failure_rate"] == 0.2
    assert rows["LATE_DELIVERY", "a"]["abstained"] == 0
    assert rows["QUALITY", "c"]["dissent_rate"] == 1
    assert rows["QUALITY", "b"]["dissent_rate"] == 0
    assert sum(row["calls"] for row in rows.values()) == DISPUTES * 12


def test_what_was_asked_again_retried_and_read_from_a_cache_is_told_per_dispute(
    client: Client,
) -> None:
    (row,) = ask(client, "cost_per_dispute")
    assert row["disputes"] == DISPUTES
    assert {name: row[f"{name}_per_dispute"] * DISPUTES for name in DEAR} == {
        name: 2 * each for name, each in DEAR.items()
    }
    assert row["calls_per_dispute"] == 14


def test_escalation_rate_of_lines_and_of_disputes(client: Client) -> None:
    rows = {row["category"]: row for row in ask(client, "escalation_rate")}
    assert (rows["(dispute)"]["asked"], rows["(dispute)"]["escalation_rate"]) == (DISPUTES, 1)
    assert rows["QUALITY"]["escalation_rate"] == 1
    assert rows["MISSING_ITEM"]["escalation_rate"] == 0


def test_top_refunds_name_merchant_and_courier_from_the_evidence(client: Client) -> None:
    rows = ask(client, "top_refunds")
    found = {(row["kind"], row["id"]): row["amount_minor"] for row in rows}
    assert found["merchant", "m-1"] == found["courier", "k-7"] == 68900 * DISPUTES
    assert found["order", "1840"] == 68900
    assert {row["currency"] for row in rows} == {"INR"}


def test_deadlines_kept_late_breached_and_in_time(client: Client) -> None:
    rows = {row["deadline"]: row for row in ask(client, "deadlines")}
    parts = ("disputes", "kept", "kept_late", "breached_and_open", "at_risk", "open_in_time")
    assert [rows["resolve"][part] for part in parts] == [4, 1, 1, 1, 0, 1]
    assert [rows["acknowledge"][part] for part in parts] == [4, 4, 0, 0, 0, 0]
    assert rows["resolve"]["breach_rate"] == 0.5


def test_packs_say_which_models_and_prompts_worked_under_them(client: Client) -> None:
    (row,) = ask(client, "packs")
    assert (row["pack_version"], row["pack_hash"], row["disputes"]) == (1, "sha256:pack", DISPUTES)
    assert row["seats"] == [
        f"offline-rules/rules-{n} {'abc'[n - 1]} sha256:p{n}" for n in (1, 2, 3)
    ]
    assert row["extraction"] == ["offline-rules sha256:extract"]


def test_ids_used_here_are_the_pipelines(client: Client) -> None:
    grievance = grievance_id(at(6).dispute_id, 1)
    found = client.query(
        "SELECT ruling FROM v_judge_rulings WHERE ruling_id = {id:String}",
        parameters={"id": ruling_id(grievance, 2)},
    )
    assert found.result_rows == [("FAILED",)]
