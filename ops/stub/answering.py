"""Who answers: `offline-rules` on the task read back from the prompt, or lines of a script before it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from ops.json_lines import lines_of
from ops.stub.faults import Kind
from ops.stub.reading import Asked, Reader
from ops.stub.wire import Answer, Call
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.port import ExtractionTask, JudgingTask, LetterTask, Task

NONE_OF_OURS = "This is a simulated reply: the prompt is none that Refund Bench renders."


class Answering(Protocol):
    async def answer(self, call: Call, asked: Asked) -> Answer: ...
