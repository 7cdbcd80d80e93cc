"""What goes wrong on the wire, as both SDKs meet it; the limits; the journal that counts it all."""

import asyncio
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from json import JSONDecodeError
from typing import Any

import anthropic
import openai
import pytest

from tests.support.stub import StubProcess, claude, gpt
from tests.support.wait import until

pytestmark = pytest.mark.anyio

Ask = Callable[[str], Awaitable[Any]]
APIS = ("anthropic", "openai")


@asynccontextmanager
async def asking(api: str, stub: StubProcess, timeout_s: float = 10) -> AsyncIterator[Ask]:
    """Ask one of the two, through its SDK and without its retries."""
    if api == "anthropic":
        async with claude(stub, timeout_s=timeout_s) as one:
            yield lambda words: one.messages.create(
                model="claude-sonnet-5-5",
                max_tokens=100,
                messages=[{"role": "user", "content": words}],
            )
    else:
        async with gpt(stub, timeout_s=timeout_s) as other:
            yield lambda words: other.chat.completions.create(
                model="gpt-6.1-sol", messages=[{"role": "user", "content": words}]
            )


CONNECTION = (anthropic.APIConnectionError, openai.APIConnectionError)
TIMEOUT = (anthropic.APITimeoutError, openai.APITimeoutError)
SERVER = (anthropic.InternalServerError, openai.InternalServerError)
LIMITED = (anthropic.RateLimitError, openai.RateLimitError)


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("fault", ["reset_before", "reset_within"])
async def test_a_reset_is_a_connection_error(stub: StubProcess, api: str, fault: str) -> None:
    stub.set_faults(shares={fault: 1})
    async with asking(api, stub) as ask:
        with pytest.raises(CONNECTION):
            await ask("x" * 400)
    assert stub.journal()["statuses"] == {"none": 1}


@pytest.mark.parametrize("api", APIS)
async def test_a_hang_is_a_timeout_and_ends_with_its_client(stub: StubProcess, api: str) -> None:
    stub.set_faults(shares={"hang": 1})
    async with asking(api, stub, timeout_s=0.3) as ask:
        with pytest.raises(TIMEOUT):
            await ask("hello")
    until(lambda: stub.journal()["under_way"] == 0)
    [entry] = stub.journal()["entries"]
    assert (entry["fault"], entry["status"]) == ("hang", None)


@pytest.mark.parametrize("api", APIS)
async def test_broken_json_with_200(stub: StubProcess, api: str) -> None:
    stub.set_faults(shares={"broken_json": 1})
    async with asking(api, stub) as ask:
        with pytest.raises(JSONDecodeError):
            await ask("hello")


@pytest.mark.parametrize("api", APIS)
async def test_html_with_200_is_no_message(stub: StubProcess, api: str) -> None:
    stub.set_faults(shares={"html": 1})
    async with asking(api, stub) as ask:
        said = await ask("hello")
    assert isinstance(said, str)
    assert "<html>" in said


@pytest.mark.parametrize("api", APIS)
async def test_a_wrong_shape_with_200_is_a_message_of_nones(stub: StubProcess, api: str) -> None:
    stub.set_faults(shares={"wrong_shape": 1})
    async with asking(api, stub) as ask:
        said = await ask("hello")
    assert getattr(said, "content" if api == "anthropic" else "choices") is None


@pytest.mark.parametrize("api", APIS)
async def test_a_gateway_in_between_answers_502_with_a_page(stub: StubProcess, api: str) -> None:
    stub.set_faults(shares={"bad_gateway": 1})
    async with asking(api, stub) as ask:
        with pytest.raises(SERVER) as failed:
            await ask("hello")
    assert failed.value.status_code == 502


@pytest.mark.parametrize("api", APIS)
async def test_a_body_over_32_mb_is_too_large(stub: StubProcess, api: str) -> None:
    async with asking(api, stub) as ask:
        with pytest.raises((anthropic.ContentTooLargeError, openai.APIStatusError)) as refused:
            await ask("x" * (33 * 1024 * 1024))
    assert refused.value.status_code == 413


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/chat/completions", "/v1/models"])
async def test_without_a_key_nothing_is_answered(stub: StubProcess, path: str) -> None:
    request = urllib.request.Request(stub.url + path, b"{}" if path != "/v1/models" else None)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=5)
    assert refused.value.code == 401


async def test_the_same_seed_meets_the_same_faults(stub: StubProcess) -> None:
    async def fates(seed: int) -> list[str | None]:
        stub.call("DELETE", "/_journal")
        stub.set_faults(seed=seed, shares={"overloaded": 0.3, "refused": 0.2})
        async with asking("anthropic", stub) as ask:
            await asyncio.gather(*(ask(f"call {n}") for n in range(60)), return_exceptions=True)
        entries = sorted(stub.journal()["entries"], key=lambda entry: entry["matter"])
        return [entry["fault"] for entry in entries]

    first = await fates(1)
    assert first == await fates(1)
    assert first != await fates(2)
    assert 8 <= Counter(first)["overloaded"] <= 30


async def test_only_the_first_attempts_fail_where_asked(stub: StubProcess) -> None:
    stub.set_faults(shares={"overloaded": 1}, first_attempts=2)
    async with asking("anthropic", stub) as ask:
        for _ in range(2):
            with pytest.raises(anthropic.OverloadedError):
                await ask("hello")
        await ask("hello")
    told = stub.journal()
    assert [entry["attempt"] for entry in told["entries"]] == [1, 2, 3]
    assert (told["calls"], told["matters"]) == (3, 1)


async def test_one_model_is_down_and_the_other_is_not(stub: StubProcess) -> None:
    stub.set_faults(down=["gpt-6.1-sol"], down_with="server_error")
    async with asking("openai", stub) as ask:
        with pytest.raises(openai.InternalServerError):
            await ask("hello")
    async with asking("anthropic", stub) as ask:
        await ask("hello")


@pytest.mark.parametrize("api", APIS)
async def test_what_is_over_the_limit_gets_429_with_whole_seconds(
    stub: StubProcess, api: str
) -> None:
    stub.set_faults(admit_per_s=0.05, burst=5)
    async with asking(api, stub) as ask:
        said = await asyncio.gather(*(ask(f"call {n}") for n in range(20)), return_exceptions=True)
    limited = [one for one in said if isinstance(one, LIMITED)]
    assert len(limited) >= 14, "five at once, and one more in twenty seconds"
    waits = {one.response.headers["retry-after"] for one in limited}
    assert all(wait.isdigit() and 1 <= int(wait) <= 20 for wait in waits)
    told = stub.journal()
    assert told["statuses"] == {"200": 20 - len(limited), "429": len(limited)}
    assert told["early"] == 0


async def test_a_retry_before_its_retry_after_is_seen(stub: StubProcess) -> None:
    stub.set_faults(shares={"rate_limited": 1}, first_attempts=1, retry_after_s=60)
    async with asking("anthropic", stub) as ask:
        with pytest.raises(anthropic.RateLimitError):
            await ask("hello")
        await ask("hello")
    told = stub.journal()
    assert told["early"] == 1
    assert [entry["early"] for entry in told["entries"]] == [False, True]
    assert [entry["retry_after_s"] for entry in told["entries"]] == [60, None]


async def test_equal_prefixes_in_parallel_all_miss_until_the_first_reply(stub: StubProcess) -> None:
    stub.set_faults(latency="0.2")
    async with asking("openai", stub) as ask:
        at_once = await asyncio.gather(*(ask("policy " * 1_000) for _ in range(4)))
        later = await ask("policy " * 1_000)

    def read(completion: Any) -> int:
        return int(completion.usage.prompt_tokens_details.cached_tokens)

    assert [read(one) for one in at_once] == [0, 0, 0, 0]
    assert read(later) > 1_024
    assert stub.journal()["most_under_way"] == 4


async def test_a_misspelt_switch_is_refused_and_changes_nothing(stub: StubProcess) -> None:
    stub.set_faults(seed=5)
    for wrong in ({"latencies": "1"}, {"shares": {"htlm": 1}}, {"latency": "soon"},
                  {"everything": 0.7, "shares": {"hang": 0.7}}, {"down_with": "refused"}):  # fmt: skip
        with pytest.raises(OSError, match="400"):
            stub.set_faults(**wrong)
    assert stub.call("GET", "/_faults")["seed"] == 5
