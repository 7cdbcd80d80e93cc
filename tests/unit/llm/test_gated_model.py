"""A model behind the gate, asked by the stages: what a spend limit does to a dispute."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.docket import Usage
from schemas.grievance import Grievance
from streams.extraction import extract
from streams.judging import judge
from streams.letters import write
from streams.llm.gate import Gate
from streams.llm.gate_estimate import Tariff
from streams.llm.gate_model import GatedModel
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.port import ExtractionTask, ProviderDown, Reply, RulingDraft
from tests.unit.async_stage.test_call_runner import Bench, echo, entries
from tests.unit.llm.simulated import simulate
from tests.unit.llm.support import gate
from tests.unit.reading.support import FOOD, Scripted, dispute, failed, now
from tests.unit.reading.test_judging import grievance, upheld
from tests.unit.reading.test_letters import request
from topologies.async_stage.circuit_breaker import BreakerState
from topologies.async_stage.errors import ProviderDown as StageProviderDown
from topologies.async_stage.message import Message, Output

TARIFF = Tariff(input_micros=3_000_000, output_micros=15_000_000)
COMPLAINT = "It came an hour and a half late and one of the three khichdis was missing."


def gated(model: Any, through: Gate) -> GatedModel:
    return GatedModel(model, through, TARIFF)


class Costly:
    """Answers nothing that can be used, and is paid for it."""

    provider, model, simulated = "costly", "costly-1", False

    def __init__(self, micros: int) -> None:
        self.micros, self.spent, self.calls = micros, 0, 0

    async def _said(self, task: Any) -> Reply[Any]:
        self.calls += 1
        self.spent += self.micros
        reply = failed("schema")
        return Reply(**{**vars(reply), "usage": Usage(calls=1, cost_micros=self.micros)})

    extract = judge = write_letter = _said


def test_it_is_the_model_it_wraps_in_all_but_when_it_is_asked() -> None:
    async def main(model: Any) -> Any:
        return await extract(dispute(COMPLAINT), FOOD, model, now)

    plain, behind = OfflineRules(), gated(OfflineRules(), gate())
    assert (behind.provider, behind.model, behind.simulated) == ("offline-rules", "rules-1", True)
    assert simulate(main(behind)) == simulate(main(plain))


def test_a_seat_whose_part_of_the_disputes_limit_is_spent_fails_its_ruling() -> None:
    model = Scripted(upheld("packing_scan"))
    ruling = simulate(
        judge(grievance(), 1, FOOD, gated(model, gate(spend_per_dispute_usd="0.01")), now)
    )
    assert ruling is not None
    assert (ruling.ruling, ruling.failure) == ("FAILED", "spend_limit")
    assert ruling.usage.calls == ruling.attempts == 0
    assert "$0.01" in ruling.reason
    assert model.judgings == []


def test_a_re_ask_that_could_overrun_is_not_made_and_the_first_ask_is_counted() -> None:
    first = Reply(**{**vars(failed("schema")), "usage": Usage(calls=1, cost_micros=40_000)})
    model = Scripted(first, upheld("packing_scan"))
    through = gate(spend_per_dispute_usd="0.40")  # the seat's part is 0.0933
    ruling = simulate(judge(grievance(), 1, FOOD, gated(model, through), now))
    assert ruling is not None
    assert (ruling.failure, ruling.usage.calls, ruling.usage.cost_micros) == (
        "spend_limit", 1, 40_000,
    )  # fmt: skip
    assert len(model.judgings) == 1


def test_an_extraction_that_could_overrun_goes_to_a_person_and_a_letter_is_the_templates() -> None:
    model = Scripted()
    poor = {"spend_per_dispute_usd": "0.01"}
    docket, grievances = simulate(
        extract(dispute(COMPLAINT), FOOD, gated(model, gate(**poor)), now)
    )
    assert (docket.outcome, grievances) == ("extraction_failed", [])
    assert "spend limit per dispute" in (docket.problem or "")
    letter = simulate(write(request(), FOOD, gated(model, gate(**poor)), now))
    assert letter.written_by == "template"
    assert len(letter.rejected_drafts) == 1
    assert model.extractions == model.letters == []


def test_whatever_a_model_does_a_dispute_cannot_cost_more_than_its_limit() -> None:
    """Every stage asked again and again, each behind a gate of its own, as in processes of their own."""

    async def main(limit_usd: str, micros: int) -> tuple[int, int]:
        model = Costly(micros)
        stages = [gated(model, gate(spend_per_dispute_usd=limit_usd)) for _ in range(5)]
        for _ in range(6):
            await extract(dispute(COMPLAINT), FOOD, stages[0], now)
            await write(request(), FOOD, stages[1], now)
            for index in range(4):
                each = Grievance(
                    **{
                        **vars(grievance()),
                        "grievance_id": f"d-1.g{index}",
                        "of": 4,
                    }
                )
                for seat in (1, 2, 3):
                    await judge(each, seat, FOOD, stages[1 + seat], now)
        return model.spent, model.calls

    spent, calls = simulate(main("5", 60_000))
    assert calls > 20
    assert spent <= 5_000_000


def test_a_spent_day_hands_over_what_is_in_hand_at_once() -> None:
    poor = {"spend_per_day_usd": "0.01"}
    ruling = simulate(judge(grievance(), 1, FOOD, gated(Scripted(), gate(**poor)), now))
    assert ruling is not None
    assert (ruling.ruling, ruling.failure) == ("FAILED", "spend_limit")
    letter = simulate(write(request(), FOOD, gated(Scripted(), gate(**poor)), now))
    assert letter.written_by == "template"


def test_a_spent_day_pauses_new_disputes_until_it_turns_and_loses_none() -> None:
    """Ten minutes to midnight, a deadline of two for each: nothing is exhausted, all go on the next day."""

    async def main() -> tuple[Bench, list[datetime]]:
        loop = asyncio.get_running_loop()
        begun = loop.time()
        asked: list[datetime] = []

        def clock() -> datetime:
            start = datetime(2026, 10, 2, 23, 50, tzinfo=UTC)
            return start + timedelta(seconds=loop.time() - begun)

        class Dear(OfflineRules):
            async def extract(self, task: ExtractionTask) -> Reply[Any]:
                asked.append(clock())
                reply = await super().extract(task)
                cost = Usage(calls=1, cost_micros=100_000)
                return Reply(**{**vars(reply), "usage": cost})

        model = gated(Dear(), gate(now=clock, spend_per_day_usd=2))

        async def handler(message: Message) -> list[Output]:
            subject = dispute(COMPLAINT, dispute_id=f"d-{message.offset}")
            try:
                await extract(subject, FOOD, model, now)
            except ProviderDown as down:
                raise StageProviderDown(str(down)) from down
            return echo(message)

        bench = Bench(handler, slots=4, deadline_s=120.0)
        await bench.run(entries(30))
        return bench, asked

    bench, asked = simulate(main())
    assert bench.metrics.exhausted == 0
    assert not bench.metrics.dead_letters
    assert bench.breaker.state is BreakerState.CLOSED
    days = [at.day for at in asked]
    assert len(asked) == 30
    assert 15 <= days.count(2) <= 19, (
        "the day's two dollars, less what is kept for disputes in hand"
    )
    turned = [at for at in asked if at.day == 3]
    assert min(turned) < datetime(2026, 10, 3, 0, 0, 3, tzinfo=UTC)


def test_a_draft_that_was_had_is_passed_on_untouched() -> None:
    draft = RulingDraft(ruling="ESCALATE", confidence=0.4)
    ruling = simulate(judge(grievance(), 1, FOOD, gated(Scripted(draft), gate()), now))
    assert ruling is not None
    assert (ruling.ruling, ruling.raw_reply, ruling.attempts) == ("ESCALATE", "raw", 1)
