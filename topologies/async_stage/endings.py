"""How a message ends when it does not end well: always in records, never in silence."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from topologies.async_stage.dead_letters import DeadLetterOffice
from topologies.async_stage.errors import DeadlineExceeded, RetryLater
from topologies.async_stage.message import Message, Output, checked
from topologies.async_stage.metrics import StageMetrics

LOG = logging.getLogger("refund_bench.async_stage")

OnExhausted = Callable[[Message, BaseException], Awaitable[list[Output]]]


class Endings:
    """What is written for a message that crashed its handler or ran out of time."""

    def __init__(
        self, office: DeadLetterOffice, on_exhausted: OnExhausted | None, metrics: StageMetrics
    ) -> None:
        self._office = office
        self._on_exhausted = on_exhausted
        self._metrics = metrics

    def dead_letter(self, message: Message, error: BaseException) -> list[Output]:
        """The bytes, the place, the error."""
        kind = type(error).__name__
        self._metrics.dead_letters[kind] += 1
        LOG.warning(
            "dead letter",
            extra={
                "topic": message.topic,
                "partition": message.partition,
                "offset": message.offset,
                "error_type": kind,
            },
        )
        return [self._office.write(message, error)]

    async def exhausted(self, message: Message, failure: RetryLater) -> list[Output]:
        """The deadline passed: the application's answer, or a dead letter."""
        error = DeadlineExceeded(
            f"gave up after {message.attempt} attempts, the last failed with {failure.reason}"
        )
        error.__cause__ = failure
        self._metrics.exhausted += 1
        if self._on_exhausted is None:
            return self.dead_letter(message, error)
        try:
            return checked(await self._on_exhausted(message, error))
        except (Exception, asyncio.CancelledError) as crash:
            return self.dead_letter(message, crash)
