"""Lead with one call: a provider's prompt cache can be read only once the first reply on it has begun.

Calls that share a prefix and are made at the same time all pay for writing it. Here the first of them
goes ahead and the others wait until it has been answered. It saves tokens and costs the time of one
call; `refund-bench bench judges` measures both.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from streams.llm.rendering import Rendered
from streams.llm.wire import Answer, Exchange, Transport

FRESH_S: Final = 240.0
"""A cache entry lives for five minutes from its last use; this leaves a minute for clocks and queues."""
REMEMBERED: Final = 10_000
"""Prefixes; one that is forgotten is led once more."""


class LeadingTransport:
    """See `wire.Transport`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._leads: dict[bytes, asyncio.Event] = {}
        self._read_at: OrderedDict[bytes, float] = OrderedDict()

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        prefix = _prefix(rendered)
        clock = asyncio.get_running_loop().time
        if clock() - self._read_at.get(prefix, float("-inf")) > FRESH_S:
            lead = self._leads.get(prefix)
            if lead is None:
                return await self._lead(prefix, rendered, exchanges)
            await lead.wait()
        return await self._sent(prefix, rendered, exchanges)

    async def check(self) -> None:
        await self._transport.check()

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _lead(
        self, prefix: bytes, rendered: Rendered, exchanges: Sequence[Exchange]
    ) -> Answer:
        """Whether it is answered or fails, the others go on: a lead that failed must not hold them."""
        done = self._leads[prefix] = asyncio.Event()
        try:
            return await self._sent(prefix, rendered, exchanges)
        finally:
            del self._leads[prefix]
            done.set()

    async def _sent(
        self, prefix: bytes, rendered: Rendered, exchanges: Sequence[Exchange]
    ) -> Answer:
        answer = await self._transport.send(rendered, exchanges)
        self._read_at[prefix] = asyncio.get_running_loop().time()
        self._read_at.move_to_end(prefix)
        while len(self._read_at) > REMEMBERED:
            self._read_at.popitem(last=False)
        return answer


def _prefix(rendered: Rendered) -> bytes:
    """What stands before the last cache breakpoint."""
    digest = hashlib.blake2b(rendered.system.encode(), digest_size=16)
    last = max((i for i, block in enumerate(rendered.blocks) if block.cached), default=-1)
    for block in rendered.blocks[: last + 1]:
        digest.update(b"\0" + block.text.encode(errors="replace"))
    return digest.digest()
