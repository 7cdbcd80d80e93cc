"""A judge with tools: what it is told is what it is recorded to have seen, however it asks."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from schemas.docket import Usage
from streams.llm.catalogue import ModelFacts
from streams.llm.port import EvidenceTool
from streams.llm.remote import MOST_CALLS, MOST_TURNS, RemoteModel
from streams.llm.rendering import Rendered
from streams.llm.wire import Access, Answer, Exchange, ToolCall
from tests.contract.test_model_port import JUDGING

pytestmark = pytest.mark.anyio

SCAN = EvidenceTool("get_packing_scan", "What was packed.", ("packing_scan",))
ITEMS = EvidenceTool("get_line_items", "What was ordered.", ("line_items", "gone"))
TASK = replace(JUDGING, tools=(SCAN, ITEMS))
RULES = Answer(text='{"ruling":"ESCALATE","confidence":0.5,"citations":[],"reason":"r"}')


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Told:
    """A transport that answers as told, or raises it, and the exchanges it was sent."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self._answers = list(answers)
        self.sent: list[tuple[Exchange, ...]] = []

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        self.sent.append(tuple(exchanges))
        answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
        if isinstance(answer, Exception):
            raise answer
        return replace(answer, usage=Usage(input_tokens=100, output_tokens=10))

    async def check(self) -> None: ...

    async def aclose(self) -> None: ...


def model(transport: Told) -> RemoteModel:
    facts = ModelFacts(provider="p", input=1, output=1, cache_write=1, cache_read=1)
    return RemoteModel(transport, Access("p", "m", "http://x", "", "", 1, True), facts)


def asks(*names: str) -> Answer:
    return Answer(calls=tuple(ToolCall(f"id-{at}", name) for at, name in enumerate(names)))


async def test_what_it_asked_for_and_was_told_is_what_it_saw() -> None:
    told = Told(asks("get_packing_scan"), asks("get_line_items"), RULES)
    reply = await model(told).judge(TASK)
    assert reply.seen == ("packing_scan", "line_items", "gone")
    assert (reply.usage.calls, reply.usage.tool_turns, reply.usage.re_asks) == (3, 2, 0)
    assert reply.usage.input_tokens == 300
    assert '"gone":null' in told.sent[-1][1].results[0][1]


async def test_what_is_asked_for_in_the_turn_too_many_is_not_told_and_was_not_seen() -> None:
    told = Told(*[asks("get_packing_scan")] * MOST_TURNS, asks("get_line_items"))
    reply = await model(told).judge(TASK)
    assert reply.failure == "too_many_turns"
    assert len(told.sent) == reply.usage.calls == MOST_TURNS + 1
    assert reply.seen == ("packing_scan",)


async def test_hundreds_of_calls_in_a_turn_are_each_answered_and_a_few_of_them_with_evidence() -> (
    None
):
    told = Told(asks(*["get_packing_scan"] * 300, "get_line_items"), RULES)
    reply = await model(told).judge(TASK)
    results = [result for _, result in told.sent[-1][0].results]
    assert len(results) == 301
    assert sum("packed_quantity" in result for result in results) == MOST_CALLS
    assert reply.seen == ("packing_scan",)


async def test_an_unknown_tool_is_answered_with_the_ones_there_are() -> None:
    told = Told(asks("drop_tables" * 1_000), RULES)
    reply = await model(told).judge(TASK)
    [(_, result)] = told.sent[-1][0].results
    assert "get_packing_scan, get_line_items" in result
    assert len(result) < 200
    assert reply.seen == ()
