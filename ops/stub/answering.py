"""Who answers: `offline-rules` on the task read back from the prompt."""

from typing import Protocol

import orjson

from ops.stub.reading import Asked, Reader
from ops.stub.wire import Answer, Call
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.port import ExtractionTask, JudgingTask, LetterTask

REMEMBERED = 4_096
"""Extractions kept; above that all are forgotten, which costs time only."""
NONE_OF_OURS = "This is a simulated reply; the prompt is none that Refund Bench renders."


class Answering(Protocol):
    async def answer(self, call: Call, asked: Asked, attempt: int) -> Answer: ...


class OfflineAnswers:
    """The deterministic stand-in, behind a network."""

    def __init__(self, reader: Reader, disagreement: float = 0.0, seed: int = 0) -> None:
        self._reader = reader
        self._rules = OfflineRules(disagreement, seed)
        self._extracted: dict[tuple[str, str, bytes], Answer] = {}

    async def answer(self, call: Call, asked: Asked, attempt: int) -> Answer:
        """A judge with tools asks for all there is, once, and then rules on what it got."""
        if call.tools and not call.results:
            return Answer(stop="tools", calls=call.tools)
        task = self._reader.task(call, asked)
        if isinstance(task, ExtractionTask):
            return await self._extract(task)
        if isinstance(task, JudgingTask):
            return Answer((await self._rules.judge(task)).raw)
        if isinstance(task, LetterTask):
            return Answer((await self._rules.write_letter(task)).raw)
        return Answer(NONE_OF_OURS)

    async def _extract(self, task: ExtractionTask) -> Answer:
        """Reading a complaint takes twenty times what the rest of a call does, and load runs repeat theirs."""
        key = (task.prompt.hash, task.text, orjson.dumps(task.record))
        if (known := self._extracted.get(key)) is None:
            reply = await self._rules.extract(task)
            known = Answer(reply.raw, "truncated" if reply.draft is None else "end")
            if len(self._extracted) >= REMEMBERED:
                self._extracted.clear()
            self._extracted[key] = known
        return known
