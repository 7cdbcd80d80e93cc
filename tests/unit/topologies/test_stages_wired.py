"""The real stages on Quix: bad input costs one record, and a deadline of another stage is not theirs."""

import importlib
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from schemas.dead_letter import DeadLetter
from schemas.dispute import Dispute
from schemas.timer import Deadline
from schemas.verdict import Verdict
from tests.unit.stages.events import (
    CUSTOMER,
    DISPUTE,
    ORDER,
    SEAL,
    a_complaint,
    a_line,
    a_proposal,
    a_record,
    a_ruling,
    a_verdict,
    as_decided,
)
from tests.unit.topologies.broker_free import NOW, Bench, Produced
from topologies.settings import Settings

Start = Callable[[str], Bench]


@pytest.fixture
def start(settings: Settings, tmp_path: Path) -> Iterator[Start]:
    running: list[Bench] = []

    def make(name: str) -> Bench:
        stage = importlib.import_module(f"topologies.{name}").stage(settings)
        running.append(Bench(stage, tmp_path))
        return running[-1]

    yield make
    for bench in running:
        bench.close()


def error_of(produced: list[Produced]) -> str:
    [record] = produced
    assert record.topic == "dead-letters"
    assert record.value is not None
    return DeadLetter.from_bytes(record.value).error


def test_a_complaint_and_its_records_become_a_dispute(start: Start) -> None:
    intake = start("intake")
    intake.send("evidence", ORDER.encode(), orjson.dumps(a_record()))
    made = intake.send_event("complaints", ORDER, a_complaint())
    [dispute] = [Dispute.from_bytes(p.value or b"") for p in made if p.topic == "disputes"]
    assert dispute.received_at == NOW
    assert dispute.evidence == a_record()


COMPLAINT: dict[str, Any] = orjson.loads(a_complaint().to_bytes())
BAD = {
    "filed tomorrow": ({"filed_at": (NOW + timedelta(days=2)).isoformat()}, "filed_at"),
    "filed in 1970": ({"filed_at": "1970-01-01T00:00:00Z"}, "filed_at"),
    "unknown policy": ({"policy": "no-such"}, "policy: is not loaded"),
    "no text": ({"text": " "}, "text"),
    "200 KB": ({"text": "x" * 200_000}, "text"),
    "no zone": ({"filed_at": "2026-09-18T17:00:00"}, "filed_at"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_complaint_is_a_dead_letter_and_the_next_is_taken(start: Start, name: str) -> None:
    changes, field = BAD[name]
    intake = start("intake")
    bad = orjson.dumps({**COMPLAINT, **changes})
    assert field in error_of(intake.send("complaints", ORDER.encode(), bad))
    made = intake.send_event("complaints", ORDER, a_complaint())
    assert {p.topic for p in made} == {"timers", "ledger"}


@pytest.mark.parametrize("body", [{}, {"order_id": 7}, {"order_id": "two words"}, [], "text"])
def test_evidence_about_nothing_is_a_dead_letter(start: Start, body: object) -> None:
    error_of(start("intake").send("evidence", b"x", orjson.dumps(body)))


def test_inline_evidence_nested_without_end_costs_one_record(start: Start) -> None:
    intake = start("intake")
    deep: Any = {}
    for _ in range(400):
        deep = {"a": deep}
    bad = {
        **COMPLAINT,
        "source": {"role": "records"},
        "evidence": {"order_id": ORDER, "deep": deep},
    }
    text = str(bad).replace("'", '"').encode()
    assert [p.topic for p in intake.send("complaints", ORDER.encode(), text)] == ["dead-letters"]
    assert {p.topic for p in intake.send_event("complaints", ORDER, a_complaint())} == {
        "timers",
        "ledger",
    }


@pytest.mark.parametrize("name", ["intake", "tally", "settlement"])
def test_a_deadline_of_another_stage_is_not_theirs(start: Start, name: str) -> None:
    deadline = Deadline(
        at=NOW, timer_id="t", stage="elsewhere", kind="retire", waiting_key=ORDER, due_at=NOW
    )
    bench = start(name)
    assert bench.send_event("deadlines", ORDER, deadline) == []
    assert bench.state(ORDER) is None


def test_a_verdict_before_its_docket_waits_in_state(start: Start) -> None:
    settlement = start("settlement")
    [retire] = settlement.send_event("verdicts", ORDER, a_verdict(1))
    assert (retire.topic, retire.key) == ("timers", f"settlement:retire:{ORDER}".encode())
    assert settlement.state(ORDER) is not None


def test_three_rulings_are_a_verdict(start: Start) -> None:
    tally = start("tally")
    grievance = f"{DISPUTE}.g1"
    made = [p for seat in (1, 2, 3) for p in tally.send_event("rulings", grievance, a_ruling(seat))]
    [verdict] = [Verdict.from_bytes(p.value or b"") for p in made if p.topic == "verdicts"]
    assert (verdict.ruling, verdict.settles_under) == ("UPHELD", ORDER)
    assert [p.value is None for p in made if p.topic == "timers"] == [False, True]


@pytest.mark.parametrize("name", ["settlement", "ledger"])
def test_a_decision_that_our_allowance_did_not_make_changes_nothing(
    start: Start, name: str
) -> None:
    bench = start(name)
    forged = as_decided(a_proposal(a_line()))
    assert "decision_not_sealed" in error_of(bench.send_event("decisions", ORDER, forged))
    assert bench.state(ORDER) is None


def test_the_allowance_seals_what_it_decides(start: Start) -> None:
    made, retire = start("allowance").send_event("proposals", CUSTOMER, a_proposal(a_line()))
    assert (retire.topic, retire.key) == ("timers", f"allowance:retire:{CUSTOMER}".encode())
    assert SEAL.read(made.value or b"").amount_minor == 5_000
