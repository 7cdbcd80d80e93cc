"""A model behind the port that answers over a network: ask, read, price."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import orjson

from schemas.docket import Usage
from streams.llm.catalogue import ModelFacts
from streams.llm.meter import note
from streams.llm.parsing import Parsed, parse, parse_letter
from streams.llm.port import (
    ExtractionDraft,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Reply,
    RulingDraft,
)
from streams.llm.rendering import Rendered, render_extraction, render_judging, render_letter
from streams.llm.wire import Access, Answer, Exchange, ToolCall, Transport

T = TypeVar("T")
MOST_TURNS = 6
"""Turns in which a judge may ask for evidence; then it has had its say without ruling."""
MOST_CALLS = 20
"""Questions that are answered in one turn; what is over gets no evidence, and makes no next turn dear."""
LONGEST_REPLY = 64_000
"""Characters, twice what the largest answer may hold in tokens. What is over is cut off: it would fit
neither an event nor a re-ask."""


class RemoteModel:
    """One model of one provider. Raises what the port allows, and nothing else."""

    def __init__(self, transport: Transport, access: Access, facts: ModelFacts) -> None:
        self._transport = transport
        self._facts = facts
        self.provider = access.provider
        self.model = access.model
        self.simulated = not access.is_real

    async def extract(self, task: ExtractionTask) -> Reply[ExtractionDraft]:
        answer = await self._ask(render_extraction(task))
        return self._reply(answer, parse(answer.text, ExtractionDraft))

    async def judge(self, task: JudgingTask) -> Reply[RulingDraft]:
        answer, seen = await self._ask_with_tools(render_judging(task), task)
        reply = self._reply(answer, parse(answer.text, RulingDraft))
        return replace(reply, seen=seen if task.tools else None)

    async def write_letter(self, task: LetterTask) -> Reply[str]:
        answer = await self._ask(render_letter(task))
        return self._reply(answer, parse_letter(answer.text))

    async def check(self) -> None:
        """See `Transport.check`."""
        await self._transport.check()

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _ask(self, rendered: Rendered, exchanges: list[Exchange] | None = None) -> Answer:
        clock = asyncio.get_running_loop().time
        begun = clock()
        answer = _cut(await self._transport.send(rendered, exchanges or ()))
        tokens = answer.usage
        made = answer.failure != "spend_limit"
        usage = tokens.model_copy(
            update={
                "calls": int(made),
                "re_asks": int(made and rendered.correction is not None and not exchanges),
                "tool_turns": int(bool(answer.calls)),
                "cost_micros": self._facts.cost_micros(tokens),
                "latency_ms": round((clock() - begun) * 1000),
            }
        )
        note(usage)
        return replace(answer, usage=usage)

    async def _ask_with_tools(
        self, rendered: Rendered, task: JudgingTask
    ) -> tuple[Answer, tuple[str, ...]]:
        """Let the judge ask of the snapshot until it rules; and the fields it was told. One that was
        given no tools has none to wait for: what it says beside a call is its answer."""
        usage, exchanges, seen = Usage(), list[Exchange](), dict[str, None]()
        for turn in range(MOST_TURNS + 1):
            answer = await self._ask(rendered, exchanges)
            usage = usage.plus(answer.usage)
            if not answer.calls or not task.tools:
                return replace(answer, usage=usage), tuple(seen)
            if turn < MOST_TURNS:
                exchanges.append(Exchange(answer, _looked_up(answer.calls, task, seen)))
        problem = (
            f"no ruling after {MOST_TURNS} turns of asking for evidence; rule on what you have"
        )
        return replace(
            answer, usage=usage, failure="too_many_turns", problem=problem, calls=()
        ), tuple(seen)

    def _reply(self, answer: Answer, parsed: Parsed[T]) -> Reply[T]:
        """Whatever the provider said of its own answer counts before what we can read of it."""
        draft = None if answer.failure else parsed.draft
        return Reply(
            draft=draft,
            failure=answer.failure or parsed.failure,
            problem=answer.problem or parsed.problem,
            raw=answer.text,
            usage=answer.usage,
            provider=self.provider,
            model=self.model,
            request_id=answer.request_id,
            simulated=self.simulated or answer.simulated,
        )


def _cut(answer: Answer) -> Answer:
    if len(answer.text) <= LONGEST_REPLY:
        return answer
    return replace(
        answer,
        text=answer.text[:LONGEST_REPLY],
        failure=answer.failure or "truncated",
        problem=answer.problem or f"the reply is longer than {LONGEST_REPLY} characters",
        calls=(),
    )


def _looked_up(
    calls: Sequence[ToolCall], task: JudgingTask, seen: dict[str, None]
) -> tuple[tuple[ToolCall, str], ...]:
    """Every call with its answer: a provider refuses a turn in which one is left out."""
    over = orjson.dumps({"error": f"more than {MOST_CALLS} calls in one turn"}).decode()
    return tuple(
        (call, _look_up(call, task, seen) if at < MOST_CALLS else over)
        for at, call in enumerate(calls)
    )


def _look_up(call: ToolCall, task: JudgingTask, seen: dict[str, None]) -> str:
    """A tool's answer from the frozen snapshot; a field that is not on record is null."""
    tool = next((tool for tool in task.tools if tool.name == call.name), None)
    if tool is None:
        known = ", ".join(tool.name for tool in task.tools)
        return orjson.dumps({"error": f"there is no such tool; there are {known}"}).decode()
    found: dict[str, Any] = {field: task.evidence.get(field) for field in tool.fields}
    seen.update(dict.fromkeys(found))
    return orjson.dumps(found).decode()
