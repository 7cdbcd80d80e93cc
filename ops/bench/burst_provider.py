"""A provider that admits so many calls a second and turns the rest away, on the loop's own clock."""

import asyncio
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from schemas.docket import Usage
from streams.llm.port import Overloaded
from streams.llm.rendering import Rendered
from streams.llm.wire import Answer, Exchange

TRIP_S: Final = (0.01, 0.04)
ANSWER_S: Final = (1.0, 2.0)
AT_ONCE_S: Final = 0.2
"""The bucket holds this many seconds' worth of calls."""


@dataclass(frozen=True)
class Request:
    """One request as the provider saw it. Times in seconds on the loop's clock."""

    caller: str
    sent_at: float
    arrived_at: float
    admitted: bool
    told_at: float
    """When the caller heard; the answer's time for one that was admitted."""
    retry_after_s: float | None


class BurstProvider:
    """A `wire.Transport`; a token bucket answers 429 with Retry-After in whole seconds, as HTTP has it."""

    def __init__(self, admits_per_s: float, seed: int) -> None:
        self.admits_per_s = admits_per_s
        self._holds = max(1.0, admits_per_s * AT_ONCE_S)
        self._level = self._holds
        self._seen_at = asyncio.get_running_loop().time()
        self._rng = random.Random(seed)
        self.requests: list[Request] = []

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        loop = asyncio.get_running_loop()
        sent_at = loop.time()
        await asyncio.sleep(self._rng.uniform(*TRIP_S))
        arrived_at = loop.time()
        self._level = min(
            self._holds, self._level + (arrived_at - self._seen_at) * self.admits_per_s
        )
        self._seen_at = arrived_at
        admitted = self._level >= 1
        retry_after = (
            None if admitted else max(1.0, math.ceil((1 - self._level) / self.admits_per_s))
        )
        self._level -= admitted
        await asyncio.sleep(self._rng.uniform(*(ANSWER_S if admitted else TRIP_S)))
        self.requests.append(
            Request(rendered.account, sent_at, arrived_at, admitted, loop.time(), retry_after)
        )
        if not admitted:
            raise Overloaded(retry_after)
        return Answer(text="{}", usage=Usage(input_tokens=900, output_tokens=150))

    async def check(self) -> None:
        """There is no key to be checked."""

    async def aclose(self) -> None:
        """There is no connection to be closed."""

    def too_soon(self) -> int:
        """Requests whose own caller had been told to stay away for longer."""
        not_before: dict[str, float] = {}
        early = 0
        for request in sorted(self.requests, key=lambda each: each.sent_at):
            early += request.sent_at < not_before.get(request.caller, 0.0)
            if request.retry_after_s is not None:
                not_before[request.caller] = request.told_at + request.retry_after_s
        return early

    def sent_while_closed(self) -> int:
        """Requests of anybody, sent after a Retry-After was heard and before it had passed."""
        heard = sorted(
            (r.told_at, r.told_at + r.retry_after_s) for r in self.requests if r.retry_after_s
        )
        closed_until, known, found = 0.0, 0, 0
        for sent_at in sorted(request.sent_at for request in self.requests):
            while known < len(heard) and heard[known][0] < sent_at:
                closed_until = max(closed_until, heard[known][1])
                known += 1
            found += sent_at < closed_until
        return found
