"""One call leads those that share its prefix."""

import asyncio
from collections.abc import Sequence

import pytest

from streams.llm.lead import FRESH_S, LeadingTransport
from streams.llm.port import ProviderDown
from streams.llm.rendering import Block, Rendered
from streams.llm.wire import Answer, Exchange

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Held:
    """A transport whose calls end when they are let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.waiting: list[asyncio.Future[None]] = []

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        self.begun.append(rendered.blocks[-1].text)
        end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append(end)
        await end
        return Answer(text="ok")

    async def check(self) -> None: ...

    async def aclose(self) -> None: ...


def a_call(snapshot: str, claim: str) -> Rendered:
    return Rendered("policy", (Block(snapshot, cached=True), Block(claim)), None, 10)


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_calls_on_one_snapshot_wait_for_the_first_and_then_go_together() -> None:
    held = Held()
    leading = LeadingTransport(held)
    calls = [asyncio.create_task(leading.send(a_call("s", claim))) for claim in "abc"]
    await settle()
    assert held.begun == ["a"]
    held.waiting[0].set_result(None)
    await settle()
    assert held.begun == ["a", "b", "c"]
    for end in held.waiting[1:]:
        end.set_result(None)
    assert [answer.text for answer in await asyncio.gather(*calls)] == ["ok"] * 3


async def test_another_snapshot_waits_for_nobody() -> None:
    held = Held()
    leading = LeadingTransport(held)
    calls = [asyncio.create_task(leading.send(a_call(s, "a"))) for s in ("s", "t")]
    await settle()
    assert len(held.begun) == 2
    for end in held.waiting:
        end.set_result(None)
    await asyncio.gather(*calls)


async def test_a_lead_that_fails_holds_nobody_up() -> None:
    held = Held()
    leading = LeadingTransport(held)
    calls = [asyncio.create_task(leading.send(a_call("s", claim))) for claim in "ab"]
    await settle()
    held.waiting[0].set_exception(ProviderDown("gone"))
    await settle()
    assert held.begun == ["a", "b"]
    held.waiting[1].set_result(None)
    with pytest.raises(ProviderDown):
        await calls[0]
    assert (await calls[1]).text == "ok"


async def test_a_prefix_that_was_read_lately_needs_no_lead() -> None:
    held = Held()
    leading = LeadingTransport(held)
    first = asyncio.create_task(leading.send(a_call("s", "a")))
    await settle()
    held.waiting[0].set_result(None)
    await first
    more = [asyncio.create_task(leading.send(a_call("s", claim))) for claim in "bc"]
    await settle()
    assert held.begun == ["a", "b", "c"]
    for end in held.waiting[1:]:
        end.set_result(None)
    await asyncio.gather(*more)
    assert FRESH_S < 300
