"""The burst through the real SDKs and over HTTP, told by the stub's own journal. How much of the limit is
used is `bench gate`'s to say: here the SDK's CPU on a busy machine decides it."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ops.bench import gate as burst
from streams.llm import catalogue
from streams.llm.anthropic_messages import AnthropicMessages
from streams.llm.catalogue import ModelFacts
from streams.llm.gate import Gate
from streams.llm.gate_transport import GatedTransport
from streams.llm.limits import OrganisationLimits
from streams.llm.openai_chat import OpenAIChat
from streams.llm.spend import SpendBook
from streams.llm.wire import Access, Transport
from tests.support.stub import stub_process

CALLS, ADMITS_PER_S = 600, 50
KNOWN = catalogue.load({})


def claude(access: Access, facts: ModelFacts) -> Transport:
    return AnthropicMessages(access, facts, {}, caching=True)


def gpt(access: Access, facts: ModelFacts) -> Transport:
    return OpenAIChat(access, facts, {}, KNOWN.provider("openai"))


async def burst_through(transport: Transport, facts: ModelFacts, file: Path) -> dict[str, Any]:
    limits = OrganisationLimits(requests_per_minute=ADMITS_PER_S * 60).of_process(1.0)
    book = SpendBook(file, limits.spend)
    gated = Gate(limits, book, lambda: datetime.now(UTC), timeout_s=30.0)
    lost = await burst.stage_calls(CALLS, 1, GatedTransport(transport, gated, facts))
    await transport.aclose()
    return {"lost": lost, **gated.snapshot()}


@pytest.mark.long
@pytest.mark.parametrize(
    ("make", "model", "path"), [(claude, "claude-sonnet-5-5", ""), (gpt, "gpt-6.1-sol", "/v1")]
)
def test_the_burst_through_the_real_sdk(
    make: Callable[[Access, ModelFacts], Transport], model: str, path: str, tmp_path: Path
) -> None:
    flags = ("--admit-per-s", str(ADMITS_PER_S), "--burst", "10", "--latency", "1-2")
    with stub_process(tmp_path, *flags) as stub:
        access = Access("p", model, stub.url + path, "sk-any", "KEY", 30.0, False)
        facts = KNOWN.models[model]
        found = asyncio.run(burst_through(make(access, facts), facts, tmp_path / "spend.sqlite"))
        journal = stub.journal()
    assert found["lost"] == 0
    assert found["ended"]["answered"] == journal["statuses"]["200"] == CALLS
    assert journal["early"] == 0, "a request sooner than its Retry-After"
