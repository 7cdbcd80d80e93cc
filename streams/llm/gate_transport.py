"""A provider behind its gate: every request of a conversation passes it, tool turns and re-asks included.

What a spend limit does is decided here. The day's: no new dispute is begun, so the extraction stage
pauses until the UTC day turns, as it does for a provider that is down, and loses nothing. A dispute in
hand is not made to wait for tomorrow: its seat's ruling fails as `spend_limit` and its letter is the
template's, so that it ends with a person. The dispute's own limit does the same, and its extraction
fails too.
"""

import math
from collections.abc import Sequence
from typing import Final

import orjson

from schemas.docket import Usage
from streams.llm.catalogue import ModelFacts
from streams.llm.gate import Gate, Used, Wanted
from streams.llm.port import ProviderDown
from streams.llm.rendering import Rendered
from streams.llm.spend import SpendLimit
from streams.llm.wire import Answer, Exchange, Transport

BYTES_PER_TOKEN: Final = 2.0
"""Of UTF-8, on the side of more tokens: English has about four characters to one, JSON full of digits and
ids about half of that, and scripts of three bytes a character have about one."""
SCAFFOLD_BYTES: Final = 2_000
"""What the provider adds to what is sent: the turns' own marks, and its words about schema and tools."""


class GatedTransport:
    """See `wire.Transport`. One gate is shared by all that goes to a provider from this process."""

    def __init__(self, transport: Transport, gate: Gate, facts: ModelFacts) -> None:
        self._transport = transport
        self._gate = gate
        self._facts = facts

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        wanted = Wanted(
            rendered.account,
            rendered.share,
            most(rendered, exchanges, self._facts),
            new_dispute=rendered.opens_dispute,
        )
        try:
            return await self._gate.call(
                wanted, lambda: self._transport.send(rendered, exchanges), self._used
            )
        except SpendLimit as limit:
            if limit.scope == "day" and rendered.opens_dispute:
                raise ProviderDown(str(limit), answered=True) from limit
            return Answer(failure="spend_limit", problem=str(limit))

    async def check(self) -> None:
        """Costs nothing, so it passes the gate by."""
        await self._transport.check()

    async def aclose(self) -> None:
        await self._transport.aclose()

    def _used(self, answer: Answer) -> Used:
        usage = answer.usage
        return Used(usage.input_tokens + usage.output_tokens, self._facts.cost_micros(usage))


def most(rendered: Rendered, exchanges: Sequence[Exchange], facts: ModelFacts) -> Used:
    """The most that one request is likely to take: what it reads, all of it written to the cache, and
    as much output as it may write."""
    turns = [rendered.system, rendered.previous_reply or "", rendered.correction or ""]
    turns += [block.text for block in rendered.blocks]
    turns += [f"{tool.name} {tool.description}" for tool in rendered.tools]
    turns += [result for exchange in exchanges for _, result in exchange.results]
    sent_back = [exchange.answer.echo or exchange.answer.text for exchange in exchanges]
    size = SCAFFOLD_BYTES + sum(len(turn.encode(errors="replace")) for turn in turns)
    size += sum(len(orjson.dumps(one)) for one in (rendered.schema, *sent_back))
    read = math.ceil(size / BYTES_PER_TOKEN)
    cached = read if facts.cache_write > facts.input else 0
    usage = Usage(input_tokens=read, cache_write_tokens=cached, output_tokens=rendered.max_tokens)
    return Used(read + rendered.max_tokens, facts.cost_micros(usage))
