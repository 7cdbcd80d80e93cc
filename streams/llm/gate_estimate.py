"""What a call will take, before it is made: tokens for the pace, money for the spend limits."""

import math
from dataclasses import dataclass
from typing import Any, Final

import orjson

from streams.llm.port import CategoryBrief, ExtractionTask, JudgingTask, LetterTask, Task
from streams.llm.rendering import EXTRACTION_TOKENS, LETTER_TOKENS, RULING_TOKENS

BYTES_PER_TOKEN: Final = 3.5
"""Of UTF-8. English has about four characters to a token; scripts of three bytes a character have
about one, so that bytes err on the side of more."""
SCAFFOLD_BYTES: Final = 2_000
"""Headings, markers, keys and the schema of the answer."""


@dataclass(frozen=True)
class Tariff:
    """What a model costs, in millionths of a US dollar per million tokens, and what it may write.

    `max_output_tokens` of None is what `rendering` asks for.
    """

    input_micros: int
    output_micros: int
    max_output_tokens: int | None = None

    def cost_micros(self, input_tokens: float, output_tokens: float) -> int:
        """Rounded up, in millionths of a US dollar."""
        owed = input_tokens * self.input_micros + output_tokens * self.output_micros
        return math.ceil(owed / 1_000_000)


@dataclass(frozen=True)
class Estimate:
    """The most that one call is likely to take."""

    tokens: float
    cost_micros: int


def estimate(task: Task, tariff: Tariff) -> Estimate:
    """Of one call: its prompt by length, and as much output as it may write."""
    turns = (task.prompt.text, task.correction, task.previous_reply)
    size = SCAFFOLD_BYTES + sum(_bytes(turn) for turn in turns)
    output = LETTER_TOKENS
    if isinstance(task, ExtractionTask):
        size += _bytes(task.text) + _json(task.record) + sum(map(_brief, task.categories))
        output = EXTRACTION_TOKENS
    elif isinstance(task, JudgingTask):
        # With tools the evidence comes turn by turn, and most of it in the end.
        size += _bytes(task.claim.text) + _json(task.evidence) + _brief(task.category)
        output = RULING_TOKENS
    elif isinstance(task, LetterTask):
        told = sum(_bytes(line.text) + _bytes(line.note) for line in task.lines)
        size += _bytes(task.complaint_text) + told + _json(task.promises)
    read = size / BYTES_PER_TOKEN
    written = tariff.max_output_tokens or output
    return Estimate(read + written, tariff.cost_micros(read, written))


def _bytes(text: str | None) -> int:
    return len(text.encode(errors="replace")) if text else 0


def _json(value: Any) -> int:
    return len(orjson.dumps(value, default=dict))


def _brief(brief: CategoryBrief) -> int:
    return sum(map(_bytes, (brief.name, brief.description, *brief.examples, *brief.citations)))
