"""A provider that answers 200 with anything at all, through the real SDKs: the port's errors and no other."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from streams.llm.port import Misconfigured, Overloaded, ProviderDown
from streams.llm.registry import open_model
from streams.llm.remote import LONGEST_REPLY, RemoteModel
from tests.contract.test_model_port import JUDGING, LETTER

pytestmark = pytest.mark.anyio

RULING = '{"ruling":"UPHELD","confidence":0.9,"citations":["packing_scan"],"reason":"r"}'


class Server:
    """Answers every request with the same bytes."""

    body = b""
    status = 200
    headers: dict[str, str] = {}

    async def handle(self, request: web.Request) -> web.Response:
        await request.read()
        headers = {"Content-Type": "application/json", **self.headers}
        return web.Response(body=self.body, status=self.status, headers=headers)


@pytest.fixture
async def server() -> AsyncIterator[tuple[Server, str]]:
    found = Server()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", found.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    yield found, f"http://{host}:{port}"
    await runner.cleanup()


@pytest.fixture(params=["anthropic", "openai"])
async def remote(
    request: pytest.FixtureRequest, server: tuple[Server, str]
) -> AsyncIterator[RemoteModel]:
    url = server[1]
    found = open_model(
        request.param,
        {
            "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "sk-never-seen",
            "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "sk-never-seen", "REFUND_BENCH_LLM_TIMEOUT_S": "10",
        },
    )  # fmt: skip
    assert isinstance(found, RemoteModel)
    yield found
    await found.aclose()


def answer(remote: RemoteModel, text: Any = RULING, **changes: Any) -> bytes:
    """A sound answer of the provider's API, and what is changed in it."""
    if remote.provider == "anthropic":
        sound = {
            "id": "m", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": text}], "usage": {"input_tokens": 10, "output_tokens": 5},
        }  # fmt: skip
    else:
        message = {"role": "assistant", "content": text, **changes.pop("message", {})}
        sound = {
            "id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }  # fmt: skip
    return json.dumps({**sound, **changes}).encode()


NO_ANSWER = {
    "nothing": b"", "null": b"null", "a number": b"5", "a list": b"[]", "true": b"true", "not UTF-8": b'{"id":"\xff"}',
    "nested without end": b'{"a":' * 100_000, "a number of 5,000 digits": b'{"usage":' + b"1" * 5_000 + b"}",
}  # fmt: skip

SHAPES: dict[str, list[dict[str, Any]]] = {
    "anthropic": [
        *({"content": c} for c in (None, 5, "text", {}, ["x"], [None], [[1]], [{"type": "text", "text": None}])),
        *({"stop_reason": s} for s in (["x"], {"a": 1})),
        *({"usage": u} for u in (
            None, "x", [1], {"input_tokens": -5_000_000, "output_tokens": 5}, {"input_tokens": 10, "output_tokens": -5},
            {"input_tokens": 10**30, "output_tokens": 5}, {"input_tokens": 10**400, "output_tokens": 5},
            {"input_tokens": 10, "output_tokens": "many"}, {"input_tokens": 10, "output_tokens": 1.5},
            {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": -10**6},
            {"input_tokens": 10, "output_tokens": 5, "cache_read_input_tokens": "x"},
        )),
    ],
    "openai": [
        *({"choices": c} for c in (
            None, [], 5, "x", ["x"], [{"index": 0}], [{"finish_reason": ["x"], "message": {"content": "x"}}],
        )),
        *({"message": {"content": c}} for c in (5, ["x"], {"a": 1})),
        *({"message": {"tool_calls": c}} for c in ([None], ["x"], [{"id": "x", "type": "function"}], {"a": 1})),
        *({"usage": u} for u in (
            None, "x", {"prompt_tokens": -5_000_000, "completion_tokens": 5}, {"prompt_tokens": 10**400},
            {"prompt_tokens": 10, "completion_tokens": "many"},
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": "x"},
            {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 10**7}},
        )),
    ],
}  # fmt: skip


@pytest.mark.parametrize("body", NO_ANSWER.values(), ids=NO_ANSWER.keys())
async def test_a_200_that_is_no_answer_is_an_outage(
    remote: RemoteModel, server: tuple[Server, str], body: bytes
) -> None:
    server[0].body = body
    with pytest.raises(ProviderDown):
        await remote.judge(JUDGING)


async def test_an_answer_of_another_shape_or_with_absurd_usage_is_an_outage(
    remote: RemoteModel, server: tuple[Server, str]
) -> None:
    for changes in SHAPES[remote.provider]:
        server[0].body = answer(remote, **json.loads(json.dumps(changes)))
        with pytest.raises(ProviderDown):
            await remote.judge(JUDGING)


async def test_half_a_surrogate_pair_reaches_no_event(
    remote: RemoteModel, server: tuple[Server, str]
) -> None:
    server[0].body = answer(remote, RULING.replace('"r"', '"\ud800"'))
    server[0].headers = {"request-id": "\udcff-1", "x-request-id": "\udcff-1"}
    ruled = await remote.judge(JUDGING)
    assert ruled.draft is not None
    assert ruled.raw.encode()
    assert (ruled.request_id or "").encode()
    written = await remote.write_letter(LETTER)
    assert (written.draft or "").encode()


async def test_a_gigantic_reply_is_cut_and_counts_as_truncated(
    remote: RemoteModel, server: tuple[Server, str]
) -> None:
    server[0].body = answer(remote, '{"a":[' * 500_000)
    reply = await remote.judge(JUDGING)
    assert (reply.failure, reply.draft, len(reply.raw)) == ("truncated", None, LONGEST_REPLY)


async def test_a_call_of_a_tool_that_was_never_given_is_no_reason_to_ask_again(
    remote: RemoteModel, server: tuple[Server, str]
) -> None:
    if remote.provider == "anthropic":
        called: dict[str, Any] = {
            "content": [{"type": "text", "text": RULING}, {"type": "tool_use", "id": "t", "name": "f", "input": {}}]
        }  # fmt: skip
    else:
        call = {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{{{"}}
        called = {"message": {"tool_calls": [call]}}
    server[0].body = answer(remote, **called)
    reply = await remote.judge(JUDGING)
    assert reply.draft is not None
    assert reply.usage.calls == 1


AFTER = {"1e9": 60, "inf": 60, "7": 7, "0": 0, "-1": None, "nan": None, "5,6": None, "soon": None}


async def test_a_retry_after_of_any_kind_is_a_bounded_wait_or_none(
    remote: RemoteModel, server: tuple[Server, str]
) -> None:
    server[0].status, server[0].body = 429, b'{"error": ["sk-never-seen"]}'
    for said, seconds in AFTER.items():
        server[0].headers = {"Retry-After": said}
        with pytest.raises(Overloaded) as caught:
            await remote.judge(JUDGING)
        assert caught.value.after_s == seconds
        assert "sk-never-seen" not in repr(caught.value)


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("body", [b"<html>Welcome to our proxy</html>", b"{}"])
async def test_a_provider_that_does_not_say_whether_the_key_is_good_is_a_doubt(
    remote: RemoteModel, server: tuple[Server, str], status: int, body: bytes
) -> None:
    server[0].status, server[0].body = status, body
    with pytest.raises((ProviderDown, Misconfigured)):
        await remote.check()
