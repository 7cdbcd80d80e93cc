"""How the stages that wait on a network are wired: an event in, a call, events out, on the async stage."""

import logging
from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import TypeVar

from schemas.base import Model
from schemas.docket import Usage
from schemas.topics import DEAD_LETTERS, Topic
from schemas.trace import trace_of
from streams.emit import Emit
from streams.llm.meter import Meter, metered
from streams.llm.port import Misconfigured, Overloaded, ProviderDown
from topologies.async_stage import AsyncStage, Message, Output, RetryLater, StageSettings
from topologies.async_stage import ProviderDown as StageProviderDown
from topologies.dead_letters import DeadLetterBox, describe, record_key
from topologies.settings import Settings

E = TypeVar("E", bound=Model)
log = logging.getLogger("refund_bench.network")


def now() -> datetime:
    """The clock of the stages that run in wall-clock time."""
    return datetime.now(UTC)


def outputs(emits: Iterable[Emit], message: Message) -> list[Output]:
    """Events as the async stage produces them, with the trace of the message they come from."""
    trace = trace_of(message.headers.items())
    return [
        Output(e.topic, e.key.encode(), e.event.to_bytes() if e.event is not None else b"", trace)
        for e in emits
    ]


def usage_of(message: Message) -> Usage:
    """What a message took: every call that was made for it, in this attempt and those before."""
    return _meter(message).usage


def _meter(message: Message) -> Meter:
    meter: Meter = message.memo.setdefault("meter", Meter())
    return meter


def network_stage(
    name: str,
    topic: Topic,
    event: type[E],
    handle: Callable[[E, Message], Awaitable[list[Emit]]],
    settings: Settings,
    stage_settings: StageSettings,
    on_exhausted: Callable[[E, str, Message], list[Emit]] | None = None,
    in_order: bool = False,
) -> AsyncStage:
    """One async stage over one topic.

    A record that cannot be read, a handler that crashes and an output too large each become a dead
    letter in the same transaction. `on_exhausted` says what a message whose deadline has passed
    leaves behind; without it, that is a dead letter too.
    """
    box = DeadLetterBox(settings.installation_key)

    async def handler(message: Message) -> list[Output]:
        try:
            with metered(_meter(message)):
                return outputs(await handle(event.from_bytes(message.value), message), message)
        except Overloaded as busy:
            raise RetryLater("overloaded", busy.after_s) from busy
        except ProviderDown as down:
            raise StageProviderDown(str(down)) from down
        except Misconfigured as wrong:
            # A key that was revoked under way: the stage pauses until somebody has seen to it.
            log.error("%s: %s", name, wrong)
            raise StageProviderDown(str(wrong)) from wrong

    async def exhausted(message: Message, error: BaseException) -> list[Output]:
        assert on_exhausted is not None
        ends = on_exhausted(event.from_bytes(message.value), describe(error), message)
        return outputs(ends, message)

    def dead_letter(message: Message, error: BaseException) -> Output:
        letter = box.seal(
            stage=name,
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            key=message.key,
            value=message.value,
            error=describe(error),
            now=now(),
        )
        return Output(DEAD_LETTERS.name, record_key(message.key, message.topic), letter.to_bytes())

    return AsyncStage(
        name=name,
        input=topic.name,
        handler=handler,
        settings=stage_settings,
        on_exhausted=exhausted if on_exhausted else None,
        dead_letter=dead_letter,
        key_order=(lambda message: message.key or b"") if in_order else None,
    )
