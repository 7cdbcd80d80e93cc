"""Replies from a file, for a test or a demonstration that wants certain words.

JSON lines, the first that matches a call answers it; what none matches goes to `offline-rules`:

    {"kind": "judging", "contains": "two of the four", "model": "gpt-6.1-sol", "prompt": "judge-strict",
     "on_attempt": 1, "reply": {"ruling": "UPHELD", "confidence": 0.9, "citations": ["delivered_at"], "reason": "…"}}

Every condition may be left out. `contains` is looked for in what the user's turns say, a `prompt` tells the
seats of one model apart, and `on_attempt` the first ask (1) from a re-ask or a retry. `reply` is an object or a
text; `stop` is how it ends: end, truncated, refused.
"""

from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from ops.json_lines import Problem, read_object, split
from ops.stub.answering import Answering
from ops.stub.faults import Kind
from ops.stub.reading import Asked
from ops.stub.wire import Answer, Call


class ScriptError(ValueError):
    """A line of the script that cannot be used; names the line and the field."""


class Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Kind | None = None
    model: str | None = None
    prompt: str | None = None
    contains: str | None = None
    on_attempt: int | None = None
    reply: dict[str, Any] | str
    stop: Literal["end", "truncated", "refused"] = "end"

    def matches(self, call: Call, asked: Asked, attempt: int) -> bool:
        said = "\n".join(turn.text for turn in call.turns if turn.role == "user")
        return (
            self.kind in (None, asked.kind)
            and self.model in (None, call.model.name)
            and self.prompt in (None, asked.prompt)
            and self.on_attempt in (None, attempt)
            and (self.contains is None or self.contains in said)
        )

    def answer(self) -> Answer:
        text = self.reply if isinstance(self.reply, str) else orjson.dumps(self.reply).decode()
        return Answer(text, self.stop)


def read_script(file: Path) -> tuple[Line, ...]:
    """The lines of a script.

    Raises:
        ScriptError: a line that is none, or a file that cannot be read.
    """
    try:
        raw = file.read_bytes()
    except OSError as error:
        raise ScriptError(f"{file}: cannot be read: {error.strerror}") from None
    lines: list[Line] = []
    for number, line in split(raw):
        found = read_object(number, line)
        if isinstance(found, Problem):
            raise ScriptError(f"{file}: line {number}: {found.problem}; {found.remedy}")
        try:
            lines.append(Line.model_validate(found))
        except ValidationError as error:
            faults = "; ".join(
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
            )
            raise ScriptError(f"{file}: line {number}: {faults}") from None
    return tuple(lines)


class ScriptedAnswers:
    """The script first, then whoever else answers."""

    def __init__(self, lines: tuple[Line, ...], otherwise: Answering) -> None:
        self._lines = lines
        self._otherwise = otherwise

    async def answer(self, call: Call, asked: Asked, attempt: int) -> Answer:
        line = next((line for line in self._lines if line.matches(call, asked, attempt)), None)
        return line.answer() if line else await self._otherwise.answer(call, asked, attempt)
