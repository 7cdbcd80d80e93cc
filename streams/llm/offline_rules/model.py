"""`offline-rules` behind the port. It makes no call, so its usage is what a call would have cost in tokens."""

from dataclasses import replace
from typing import TypeVar

from schemas.base import Model as Value
from schemas.docket import Usage
from streams.llm.meter import note
from streams.llm.offline_rules.bench import rule_on
from streams.llm.offline_rules.reader import TooLong, read
from streams.llm.offline_rules.writer import compose
from streams.llm.port import (
    ExtractionDraft,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Reply,
    RulingDraft,
)

T = TypeVar("T")


class OfflineRules:
    """The deterministic stand-in.

    Args:
        disagreement: the share of grievances on which one seat doubts a clear ruling.
        seed: which grievances those are.
    """

    provider = "offline-rules"
    model = "rules-1"
    simulated = True

    def __init__(self, disagreement: float = 0.0, seed: int = 0) -> None:
        self._disagreement = disagreement
        self._seed = seed

    async def extract(self, task: ExtractionTask) -> Reply[ExtractionDraft]:
        characters = len(task.prompt.text) + len(task.text)
        try:
            draft = read(task)
        except TooLong as refusal:
            reply: Reply[ExtractionDraft] = self._reply(None, "", characters)
            return replace(reply, failure="truncated", problem=str(refusal))
        return self._reply(draft, _json(draft), characters)

    async def judge(self, task: JudgingTask) -> Reply[RulingDraft]:
        draft = rule_on(task, self._disagreement, self._seed)
        return self._reply(
            draft,
            _json(draft),
            len(task.prompt.text) + len(task.claim.text) + len(str(task.evidence)),
        )

    async def write_letter(self, task: LetterTask) -> Reply[str]:
        body = compose(task)
        return self._reply(body, body, len(task.prompt.text) + len(task.complaint_text))

    def _reply(self, draft: T | None, raw: str, characters_in: int) -> Reply[T]:
        usage = Usage(calls=1, input_tokens=characters_in // 4, output_tokens=len(raw) // 4)
        note(usage)
        return Reply(
            draft=draft,
            raw=raw,
            usage=usage,
            provider=self.provider,
            model=self.model,
            simulated=True,
        )


def _json(draft: Value) -> str:
    return draft.to_bytes().decode()
