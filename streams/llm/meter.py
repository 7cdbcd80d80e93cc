"""What the calls for one message took, through all its attempts.

A ruling can take two asks with tool turns between them, and the stage begins all of it again where one
call of it is turned away. What was answered before that was paid for, and is in no reply that the stage
gets to see. So every call is noted where it is made, and the message's meter keeps it.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from schemas.docket import Usage
from streams.llm.rendering import Rendered
from streams.llm.wire import Answer, Exchange, Transport


@dataclass
class Meter:
    """The sum so far. One message's; its attempts follow each other."""

    usage: Usage = field(default_factory=Usage)


_METER: ContextVar[Meter | None] = ContextVar("meter", default=None)


@contextmanager
def metered(meter: Meter) -> Iterator[None]:
    """Whatever is asked inside is noted on this meter."""
    token = _METER.set(meter)
    try:
        yield
    finally:
        _METER.reset(token)


def note(usage: Usage) -> None:
    """Add to the meter that is running, if one is."""
    meter = _METER.get()
    if meter is not None:
        meter.usage = meter.usage.plus(usage)


class NotingTransport:
    """Notes calls that were made and gave no answer. Stands behind the gate, which makes others wait or
    turns them away without a call. See `wire.Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        try:
            return await self._transport.send(rendered, exchanges)
        except BaseException:  # given up by a timeout of the gate's or the stage's included
            note(Usage(retries=1))
            raise

    async def check(self) -> None:
        await self._transport.check()

    async def aclose(self) -> None:
        await self._transport.aclose()
