"""A model behind the gate: the same three questions, asked when they may be.

What a spend limit does is decided here. The day's: no new dispute is begun, so the extraction stage
pauses until the UTC day turns, as it does for a provider that is down, and loses nothing. A dispute in
hand is not made to wait for tomorrow: its seat's ruling fails as `spend_limit` and its letter is the
template's, so that it ends with a person. The dispute's own limit does the same, and its extraction
fails too.
"""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from schemas.docket import Usage
from streams.llm.gate import Gate, Wanted
from streams.llm.gate_estimate import Tariff, estimate
from streams.llm.port import (
    ExtractionDraft,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Model,
    ProviderDown,
    Reply,
    RulingDraft,
    Task,
)
from streams.llm.spend import SpendLimit

T = TypeVar("T")


class GatedModel:
    """The port's `Model`; raises `TimeoutError` too. One gate is shared by all models of a provider."""

    def __init__(self, model: Model, gate: Gate, tariff: Tariff) -> None:
        self._model = model
        self._gate = gate
        self._tariff = tariff

    @property
    def provider(self) -> str:
        return self._model.provider

    @property
    def model(self) -> str:
        return self._model.model

    @property
    def simulated(self) -> bool:
        return self._model.simulated

    async def extract(self, task: ExtractionTask) -> Reply[ExtractionDraft]:
        return await self._through(task, lambda: self._model.extract(task))

    async def judge(self, task: JudgingTask) -> Reply[RulingDraft]:
        return await self._through(task, lambda: self._model.judge(task))

    async def write_letter(self, task: LetterTask) -> Reply[str]:
        return await self._through(task, lambda: self._model.write_letter(task))

    async def _through(self, task: Task, ask: Callable[[], Awaitable[Reply[T]]]) -> Reply[T]:
        expected = estimate(task, self._tariff)
        # A re-ask belongs to a dispute that is in hand.
        new_dispute = isinstance(task, ExtractionTask) and task.correction is None
        wanted = Wanted(
            task.account, task.share, expected.tokens, expected.cost_micros, new_dispute
        )
        try:
            return await self._gate.call(wanted, ask)
        except SpendLimit as limit:
            if limit.scope == "day" and isinstance(task, ExtractionTask):
                raise ProviderDown(str(limit), answered=True) from limit
            return self._unasked(limit)

    def _unasked(self, limit: SpendLimit) -> Reply[T]:
        return Reply(
            draft=None,
            failure="spend_limit",
            problem=str(limit),
            usage=Usage(),
            provider=self.provider,
            model=self.model,
            attempts=0,
            simulated=self.simulated,
        )
