"""The gate: what every call to one provider passes in one process.

In the order in which they came, calls wait here for the pace (requests and tokens per minute), for
room (a concurrency limit that finds itself) and for the provider's Retry-After. A call that may go is
written into the spend book first, and has its own timeout.

How it fits the async stage: the gate decides when a call may start, the stage what follows from a
failure. Retries, their backoff, the message's deadline and the breaker are the stage's. A message that
was turned away leaves the gate and its slot, waits in the stage, and queues here again; whatever the
stage decides, including a probe of an open breaker, nothing passes before the Retry-After is over. A
call that waits here holds a slot, which is right while it is short: past `LONGEST_WAIT_S`, or at once
where the Retry-After is longer than that, it goes back to the stage as overloaded.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from streams.llm.gate_concurrency import ConcurrencyLimit
from streams.llm.gate_metrics import GateMetrics
from streams.llm.gate_pace import Pace
from streams.llm.limits import Limits
from streams.llm.port import Misconfigured, Overloaded, ProviderDown
from streams.llm.spend import SpendBook, SpendLimit

log = logging.getLogger("refund_bench.gate")

T = TypeVar("T")

REQUEST_PERIOD_S: Final = 0.1
TOKEN_PERIOD_S: Final = 1.0
LONGEST_WAIT_S: Final = 15.0
"""With the call's own timeout it stays within what a judge has for one ruling."""


@dataclass(frozen=True)
class Wanted:
    """What a call asks of the gate."""

    account: str
    share: float
    """Of the limit per dispute, what the account may spend."""
    most: "Used"
    """What it is likely to take at most."""
    new_dispute: bool = False
    """An extraction: it leaves the end of the day's money to the disputes in hand."""


@dataclass(frozen=True)
class Used:
    """What a call takes: tokens of both kinds, and money in millionths of a US dollar."""

    tokens: float
    cost_micros: int


class Gate:
    """One provider's gate. Belongs to the loop it is first used on.

    Args:
        limits: this process's part of the organisation's.
        timeout_s: of one call, once it is made.
        now: the wall clock, for the UTC day of the spend limit; all waiting is on the loop's clock.
    """

    def __init__(
        self, limits: Limits, book: SpendBook, now: Callable[[], datetime], timeout_s: float
    ) -> None:
        self._timeout_s = timeout_s
        self._day_micros = limits.spend.day_micros
        self._book = book
        self._now = now
        self._requests = Pace(limits.requests_per_minute, REQUEST_PERIOD_S)
        tokens = limits.tokens_per_minute
        self._tokens = None if tokens is None else Pace(tokens, TOKEN_PERIOD_S)
        self._room = ConcurrencyLimit(limits.concurrency)
        self._closed_until = float("-inf")
        self._door = asyncio.Lock()  # lets its waiters through in the order they came
        self._left = asyncio.Event()
        self._metrics = GateMetrics()

    async def call(
        self, wanted: Wanted, ask: Callable[[], Awaitable[T]], used: Callable[[T], Used]
    ) -> T:
        """Make the call when it may be made; `used` says what its answer took.

        Raises:
            Overloaded: waited too long, or the provider said so.
            SpendLimit: it was not made, because it could have overrun a limit.
            ProviderDown: as the model said, or what is spent cannot be written down.
            TimeoutError: no answer within the attempt's timeout.
            Misconfigured: as the model said.
        """
        await self._enter(wanted.most.tokens)
        try:
            number = self._written_down(wanted)
            return await self._made(number, wanted.most, ask, used)
        finally:
            self._metrics.running -= 1
            self._left.set()

    def snapshot(self) -> dict[str, Any]:
        """Every figure of `gate_metrics.TABLE`, by name."""
        figures = vars(self._metrics)
        counters = {k: dict(v) if isinstance(v, dict) else v for k, v in figures.items()}
        return {
            **counters,
            "concurrency_limit": self._room.now,
            "congestion_events": self._room.events,
            "pace_share": self._requests.share,
            "closed_for_s": max(0.0, self._closed_until - _time()),
            "spent_today_micros": self._book.spent_micros(self._now().astimezone(UTC).date()),
            "spend_limit_day_micros": self._day_micros or 0,
        }

    # Getting in.

    async def _enter(self, tokens: float) -> None:
        give_up_at = _time() + LONGEST_WAIT_S
        self._metrics.waiting += 1
        try:
            async with asyncio.timeout_at(give_up_at), self._door:
                await self._held("requests", self._requests.take(1))
                if self._tokens is not None:
                    await self._held("tokens", self._tokens.take(tokens))
                await self._open_and_room(give_up_at)
                self._metrics.running += 1
                self._metrics.admitted += 1
        except TimeoutError:
            self._metrics.given_back += 1
            raise Overloaded from None
        finally:
            self._metrics.waiting -= 1

    async def _open_and_room(self, give_up_at: float) -> None:
        """Both at the same moment, and nothing is awaited between it and the start."""
        while True:
            if self._closed_until > _time():
                if self._closed_until > give_up_at:
                    self._metrics.given_back += 1
                    raise Overloaded(self._closed_until - _time())
                await self._held("retry_after", asyncio.sleep(self._closed_until - _time()))
            elif self._metrics.running >= self._room.now:
                self._left.clear()
                await self._held("concurrency", self._left.wait())
            else:
                return

    async def _held(self, by: str, wait: Awaitable[object]) -> None:
        begun = _time()
        try:
            await wait
        finally:
            self._metrics.held_s[by] += _time() - begun

    # The call.

    def _written_down(self, wanted: Wanted) -> int:
        day = self._now().astimezone(UTC).date()
        try:
            return self._book.begin(
                wanted.account,
                wanted.share,
                wanted.most.cost_micros,
                day,
                new_dispute=wanted.new_dispute,
            )
        except SpendLimit as limit:
            self._metrics.refused[limit.scope] += 1
            raise
        except sqlite3.Error as error:
            log.error("spend cannot be written down; no call is made", extra={"error": str(error)})
            raise ProviderDown(
                f"spend cannot be written down, so no call is made: {error}", answered=True
            ) from error

    async def _made(
        self, number: int, most: Used, ask: Callable[[], Awaitable[T]], used: Callable[[T], Used]
    ) -> T:
        begun = _time()
        how: str = "abandoned"
        cost: int | None = None
        tokens = most.tokens
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await ask()
            took = used(answer)
            how, cost, tokens = "answered", took.cost_micros, took.tokens
            self._requests.answered()
            self._room.succeeded(self._metrics.running)
            return answer
        except Overloaded as busy:
            how, cost, tokens = "overloaded", 0, 0
            self._congested(begun, busy.after_s)
            raise
        except TimeoutError:
            how = "timeout"
            self._congested(begun, None)
            raise
        except ProviderDown as down:
            how = "down"
            if down.answered:
                cost = 0
            raise
        except Misconfigured:
            how, cost, tokens = "misconfigured", 0, 0
            raise
        finally:
            self._ended(number, how, cost)
            if self._tokens is not None:
                self._tokens.correct(most.tokens, tokens)

    def _congested(self, begun: float, after_s: float | None) -> None:
        now = _time()
        if after_s is not None:
            self._closed_until = max(self._closed_until, now + after_s)
        if self._room.congested(begun, now):
            if after_s is not None:
                self._requests.turned_away()
            log.info(
                "fewer calls at a time",
                extra={
                    "concurrency_limit": self._room.now,
                    "pace_share": self._requests.share,
                    "retry_after_s": after_s,
                },
            )

    def _ended(self, number: int, how: str, cost_micros: int | None) -> None:
        self._metrics.ended[how] += 1
        try:
            self._book.end(number, cost_micros)
        except sqlite3.Error as error:
            # It stays at its estimate: too much is counted, never too little.
            log.error("the cost of a call cannot be written down", extra={"error": str(error)})


def _time() -> float:
    return asyncio.get_running_loop().time()
