"""A model behind the gate, asked by the stages: every request passes, and what a spend limit does."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from schemas.docket import Usage
from streams.extraction import _task as extraction_task
from streams.extraction import extract
from streams.judging import _task as judging_task
from streams.judging import judge
from streams.letters import write
from streams.llm.catalogue import ModelFacts
from streams.llm.gate import Gate
from streams.llm.gate_transport import BYTES_PER_TOKEN, SCAFFOLD_BYTES, GatedTransport, most
from streams.llm.port import EvidenceTool, JudgingTask, ProviderDown
from streams.llm.remote import RemoteModel
from streams.llm.rendering import Rendered, render_extraction, render_judging
from streams.llm.wire import Access, Answer, Exchange, ToolCall
from tests.unit.async_stage.test_call_runner import Bench, echo, entries
from tests.unit.llm.simulated import simulate
from tests.unit.llm.support import gate
from tests.unit.reading.support import FOOD, dispute, now
from tests.unit.reading.test_judging import grievance
from tests.unit.reading.test_letters import request
from topologies.async_stage.circuit_breaker import BreakerState
from topologies.async_stage.errors import ProviderDown as StageProviderDown
from topologies.async_stage.message import Message, Output

FACTS = ModelFacts(provider="fake", input=2.0, output=10.0, cache_write=2.5, cache_read=0.1)
ACCESS = Access("fake", "fake-1", "http://127.0.0.1", "", "", 30.0, True)
COMPLAINT = "It came an hour and a half late and one of the three khichdis was missing."
NOTHING = orjson.dumps({"grievances": [], "left_out": []}).decode()
ESCALATE = orjson.dumps(
    {"ruling": "ESCALATE", "confidence": 0.5, "citations": [], "reason": "It does not say."}
).decode()


class Fake:
    """A transport that gives these answers in turn, the last one for ever, each with its tokens."""

    def __init__(self, *answers: Any, output_tokens: int = 1_000) -> None:
        self._answers = list(answers)
        self.output_tokens = output_tokens
        self.sent: list[Rendered] = []

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        self.sent.append(rendered)
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        await asyncio.sleep(0.1)
        usage = Usage(input_tokens=1_000, output_tokens=self.output_tokens)
        if isinstance(answer, Answer):
            return Answer(**{**vars(answer), "usage": usage})
        return Answer(text=answer, usage=usage)

    async def check(self) -> None: ...

    async def aclose(self) -> None: ...

    @property
    def spent_micros(self) -> int:
        return len(self.sent) * (1_000 * 2 + self.output_tokens * 10)


def model(transport: Fake, gated: Gate) -> RemoteModel:
    return RemoteModel(GatedTransport(transport, gated, FACTS), ACCESS, FACTS)


def judging() -> JudgingTask:
    category = FOOD.pack.category("MISSING_ITEM")
    assert category is not None
    return judging_task(grievance(), FOOD.pack.bench.seats[0], category, FOOD)


def test_what_the_gate_counts_is_what_the_reply_says() -> None:
    async def main() -> tuple[int, dict[str, Any]]:
        gated = gate()
        reply = await model(Fake(ESCALATE), gated).judge(judging())
        return reply.usage.cost_micros, gated.snapshot()

    cost, figures = simulate(main())
    assert figures["spent_today_micros"] == cost == 12_000
    assert figures["admitted"] == 1


def test_every_turn_of_a_judge_with_tools_passes_the_gate() -> None:
    asks = Answer(calls=(ToolCall("t-1", "get_packing"),))

    async def main() -> tuple[Usage, dict[str, Any]]:
        gated = gate()
        tool = EvidenceTool("get_packing", "What was packed.", ("packing_scan",))
        task = JudgingTask(**{**vars(judging()), "tools": (tool,)})
        reply = await model(Fake(asks, asks, ESCALATE), gated).judge(task)
        assert reply.draft is not None
        return reply.usage, gated.snapshot()

    usage, figures = simulate(main())
    assert (usage.calls, usage.tool_turns) == (3, 2)
    assert figures["admitted"] == 3
    assert figures["spent_today_micros"] == usage.cost_micros == 36_000


def test_a_seat_whose_part_of_the_disputes_limit_is_spent_fails_its_ruling() -> None:
    transport = Fake(ESCALATE)
    seat = model(transport, gate(spend_per_dispute_usd="0.01"))
    ruling = simulate(judge(grievance(), 1, FOOD, seat, now))
    assert ruling is not None
    assert (ruling.ruling, ruling.failure) == ("FAILED", "spend_limit")
    assert ruling.usage == Usage()
    assert "$0.01" in ruling.reason
    assert transport.sent == []


def test_a_re_ask_that_could_overrun_is_not_made_and_the_first_ask_is_counted() -> None:
    transport = Fake("no ruling at all", ESCALATE, output_tokens=4_000)
    seat = model(transport, gate(spend_per_dispute_usd="0.35"))  # the seat's part is $0.0817
    ruling = simulate(judge(grievance(), 1, FOOD, seat, now))
    assert ruling is not None
    assert (ruling.failure, ruling.usage.calls, ruling.usage.re_asks) == ("spend_limit", 1, 0)
    assert ruling.usage.cost_micros == 42_000
    assert len(transport.sent) == 1


def test_an_extraction_that_could_overrun_goes_to_a_person_and_a_letter_is_the_templates() -> None:
    transport, poor = Fake(NOTHING), {"spend_per_dispute_usd": "0.01"}
    docket, grievances = simulate(
        extract(dispute(COMPLAINT), FOOD, model(transport, gate(**poor)), now)
    )
    assert (docket.outcome, grievances) == ("extraction_failed", [])
    assert "spend limit per dispute" in (docket.problem or "")
    letter = simulate(write(request(), FOOD, model(transport, gate(**poor)), now))
    assert letter.written_by == "template"
    assert len(letter.rejected_drafts) == 1
    assert transport.sent == []


def test_whatever_a_model_does_a_dispute_cannot_cost_more_than_its_limit() -> None:
    """Every stage asked again and again, each behind a gate of its own, as in processes of their own."""
    transport = Fake("nothing that can be used", output_tokens=4_000)

    async def main() -> None:
        stages = [model(transport, gate(spend_per_dispute_usd="3")) for _ in range(5)]
        for _ in range(6):
            await extract(dispute(COMPLAINT), FOOD, stages[0], now)
            await write(request(), FOOD, stages[1], now)
            for index in range(4):
                each = grievance().model_copy(update={"grievance_id": f"d-1.g{index}", "of": 4})
                for seat in (1, 2, 3):
                    await judge(each, seat, FOOD, stages[1 + seat], now)

    simulate(main())
    assert len(transport.sent) > 40
    assert transport.spent_micros <= 3_000_000


def test_a_spent_day_hands_over_what_is_in_hand_at_once() -> None:
    poor = {"spend_per_day_usd": "0.01"}
    ruling = simulate(judge(grievance(), 1, FOOD, model(Fake(ESCALATE), gate(**poor)), now))
    assert ruling is not None
    assert (ruling.ruling, ruling.failure) == ("FAILED", "spend_limit")
    letter = simulate(write(request(), FOOD, model(Fake("Dear"), gate(**poor)), now))
    assert letter.written_by == "template"


def test_a_spent_day_pauses_new_disputes_until_it_turns_and_loses_none() -> None:
    """Ten minutes to midnight, a deadline of two for each: nothing is exhausted, all go on the next day."""
    asked: list[datetime] = []

    async def main() -> Bench:
        loop = asyncio.get_running_loop()
        begun = loop.time()

        def clock() -> datetime:
            start = datetime(2026, 10, 2, 23, 50, tzinfo=UTC)
            return start + timedelta(seconds=loop.time() - begun)

        class Timed(Fake):
            async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
                asked.append(clock())
                return await super().send(rendered, exchanges)

        transport = Timed(NOTHING, output_tokens=8_000)
        reader = model(transport, gate(now=clock, spend_per_day_usd=2))

        async def handler(message: Message) -> list[Output]:
            subject = dispute(COMPLAINT, dispute_id=f"d-{message.offset}")
            try:
                await extract(subject, FOOD, reader, now)
            except ProviderDown as down:
                raise StageProviderDown(str(down)) from down
            return echo(message)

        bench = Bench(handler, slots=4, deadline_s=120.0)
        await bench.run(entries(30))
        return bench

    bench = simulate(main())
    assert bench.metrics.exhausted == 0
    assert not bench.metrics.dead_letters
    assert bench.breaker.state is BreakerState.CLOSED
    days = [at.day for at in asked]
    assert len(asked) == 30
    assert 1_700_000 <= days.count(2) * 82_000 <= 1_900_000, "less what is kept for those in hand"
    turned = [at for at in asked if at.day == 3]
    assert min(turned) < datetime(2026, 10, 3, 0, 0, 3, tzinfo=UTC)


@pytest.mark.parametrize("rendered", [render_judging(judging()), render_extraction(extraction_task(dispute(COMPLAINT), FOOD))])  # fmt: skip
def test_a_request_is_estimated_at_no_less_than_it_reads_and_may_write(rendered: Rendered) -> None:
    read, found = rendered.characters / 4, most(rendered, (), FACTS)
    assert read + rendered.max_tokens <= found.tokens
    schema = len(orjson.dumps(rendered.schema))
    assert (
        found.tokens
        <= 2.2 * read + (schema + SCAFFOLD_BYTES) / BYTES_PER_TOKEN + rendered.max_tokens
    )
    assert found.cost_micros >= read * FACTS.cache_write + rendered.max_tokens * FACTS.output


def test_a_re_ask_and_what_tools_answered_are_estimated_too() -> None:
    plain = render_judging(judging())
    again = render_judging(
        JudgingTask(**{**vars(judging()), "correction": "x" * 350, "previous_reply": "y" * 700})
    )
    said = [
        {"type": "thinking", "thinking": "z" * 20_000},
        {"type": "tool_use", "id": "1", "name": "get"},
    ]
    asked = Exchange(Answer(echo=said), ((ToolCall("1", "get"), "{" + " " * 349),))
    tool = EvidenceTool("get", "d" * 500, ("line_items",))
    alone = most(plain, (), FACTS).tokens
    assert most(again, (), FACTS).tokens == pytest.approx(alone + 1_050 / BYTES_PER_TOKEN, abs=2)
    assert most(plain, (asked,), FACTS).tokens >= alone + 20_350 / BYTES_PER_TOKEN
    assert most(replace(plain, tools=(tool,)), (), FACTS).tokens >= alone + 500 / BYTES_PER_TOKEN


def test_a_script_of_many_bytes_has_more_tokens() -> None:
    def of(text: str) -> float:
        return most(render_extraction(extraction_task(dispute(text), FOOD)), (), FACTS).tokens

    hindi = "खाना नहीं आया " * 50
    assert of(hindi) - of("x" * len(hindi)) > 0.4 * len(hindi)


def test_the_account_and_its_part_of_the_limit_come_from_the_task() -> None:
    rendered = render_judging(judging())
    assert (rendered.account, rendered.opens_dispute) == ("d-1.g1:1", False)
    assert rendered.share == pytest.approx(0.7 / 3)
    assert render_extraction(extraction_task(dispute(COMPLAINT), FOOD)).opens_dispute
