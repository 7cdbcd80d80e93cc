"""Slow calls on a Kafka stream: bounded concurrency, out-of-order completion, exactly-once output.

async def handler(message: Message) -> list[Output]: ...

AsyncStage("extraction", input="disputes", handler=handler).run()
"""

from topologies.async_stage.circuit_breaker import BreakerState
from topologies.async_stage.errors import (
    DeadLetter,
    DeadlineExceeded,
    OutputTooLarge,
    ProviderDown,
    RetryLater,
    StageFailed,
)
from topologies.async_stage.message import Message, Output
from topologies.async_stage.settings import StageSettings
from topologies.async_stage.stage import AsyncStage, AsyncWorker

__all__ = [
    "AsyncStage",
    "AsyncWorker",
    "BreakerState",
    "DeadLetter",
    "DeadlineExceeded",
    "Message",
    "Output",
    "OutputTooLarge",
    "ProviderDown",
    "RetryLater",
    "StageFailed",
    "StageSettings",
]
