"""A gate, and calls through it that take their time on the loop's clock."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from streams.llm.gate import Gate, Used, Wanted
from streams.llm.limits import OrganisationLimits
from streams.llm.spend import SpendBook

NOON = datetime(2026, 10, 2, 12, 0, tzinfo=UTC)
Ask = Callable[[], Awaitable[Used]]


def gate(
    file: Path | None = None,
    now: Callable[[], datetime] = lambda: NOON,
    timeout_s: float = 30.0,
    **changes: Any,
) -> Gate:
    """A gate whose pace hardly matters unless a test says otherwise."""
    limits = OrganisationLimits(**{"requests_per_minute": 60_000, **changes}).of_process(1.0)
    return Gate(limits, SpendBook(file, limits.spend), now, timeout_s)


def wanted(tokens: float = 1_000.0, cost_micros: int = 0, **changes: Any) -> Wanted:
    return Wanted(
        **{"account": "d-1:extraction", "share": 1.0, "most": Used(tokens, cost_micros), **changes}
    )


async def through(passed: Gate, ask: Ask, of: Wanted | None = None) -> Used:
    """One call; its answer is what it took."""
    return await passed.call(of or wanted(), ask, lambda took: took)


def answer(after_s: float = 0.0, cost_micros: int = 0, tokens: float = 1_000.0) -> Ask:
    async def ask() -> Used:
        await asyncio.sleep(after_s)
        return Used(tokens, cost_micros)

    return ask


def failing(error: BaseException, after_s: float = 0.0) -> Ask:
    async def ask() -> Used:
        await asyncio.sleep(after_s)
        raise error

    return ask
