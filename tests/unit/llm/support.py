"""A gate, calls through it, and a model whose answers are awaited on the loop's clock."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from schemas.docket import Usage
from streams.llm.gate import Gate, Wanted
from streams.llm.limits import OrganisationLimits
from streams.llm.port import Reply
from streams.llm.spend import SpendBook

NOON = datetime(2026, 10, 2, 12, 0, tzinfo=UTC)


def limits(**changes: Any) -> OrganisationLimits:
    return OrganisationLimits(**{"requests_per_minute": 60_000, **changes})


def gate(
    file: Path | None = None, now: Callable[[], datetime] = lambda: NOON, **changes: Any
) -> Gate:
    part = limits(**changes).of_process(1.0)
    return Gate(part, SpendBook(file, part.spend), now)


def wanted(account: str = "d-1:extraction", **changes: Any) -> Wanted:
    return Wanted(
        **{"account": account, "share": 1.0, "tokens": 1_000.0, "cost_micros": 0, **changes}
    )


def reply(cost_micros: int = 0, calls: int = 1, tokens: int = 1_000) -> Reply[str]:
    return Reply(
        draft="said",
        usage=Usage(calls=calls, input_tokens=tokens, cost_micros=cost_micros),
        provider="fake",
        model="fake-1",
    )


def answer(after_s: float = 0.0, cost_micros: int = 0, **said: Any) -> Callable[[], Awaitable[Any]]:
    async def ask() -> Reply[str]:
        await asyncio.sleep(after_s)
        return reply(cost_micros, **said)

    return ask


def failing(error: BaseException, after_s: float = 0.0) -> Callable[[], Awaitable[Any]]:
    async def ask() -> Reply[str]:
        await asyncio.sleep(after_s)
        raise error

    return ask
