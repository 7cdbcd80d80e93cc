"""The stub as the real OpenAI SDK sees it: typed replies and typed errors, field by field."""

import uuid
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from openai import AsyncOpenAI
from openai.types import Model
from openai.types.chat import ChatCompletion
from pydantic import TypeAdapter

from ops.stub.catalogue import COMPATIBLE, GPT
from ops.stub.marker import FIELD, HEADER
from tests.support.stub import StubProcess, extras, gpt

pytestmark = pytest.mark.anyio

MODEL = "gpt-6.1-sol"
SAMPLING_MODEL = "kimi-k2.6"
HELLO: dict[str, Any] = {
    "model": MODEL, "max_completion_tokens": 200, "messages": [{"role": "user", "content": "Hello there."}],
}  # fmt: skip
SCHEMA = {
    "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False,
}  # fmt: skip


@pytest.fixture
async def client(stub: StubProcess) -> AsyncIterator[AsyncOpenAI]:
    async with gpt(stub) as open_client:
        yield open_client


async def test_a_completion_is_one_of_the_sdks_own(client: AsyncOpenAI) -> None:
    raw = await client.chat.completions.with_raw_response.create(**HELLO)
    completion = raw.parse()
    TypeAdapter(ChatCompletion).validate_json(raw.http_response.content, strict=True)
    assert extras(completion) == {FIELD}, "nothing the SDK does not know but the marker"
    assert (completion.object, completion.model) == ("chat.completion", MODEL)
    assert completion.id.startswith("chatcmpl-")
    assert completion.created > 0
    [choice] = completion.choices
    assert (choice.index, choice.finish_reason, choice.message.role) == (0, "stop", "assistant")
    assert choice.message.refusal is None
    assert choice.message.content
    usage = completion.usage
    assert usage is not None
    assert usage.prompt_tokens == 3, "twelve characters"
    assert usage.completion_tokens == -(-len(choice.message.content) // 4)
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert completion._request_id == raw.headers["x-request-id"]


async def test_every_reply_says_that_it_is_simulated(client: AsyncOpenAI) -> None:
    raw = await client.chat.completions.with_raw_response.create(**HELLO)
    assert raw.headers[HEADER] == "true"
    assert (raw.parse().model_extra or {})[FIELD] is True
    with pytest.raises(openai.NotFoundError) as missing:
        await client.chat.completions.create(**{**HELLO, "model": "gpt-none"})
    assert missing.value.response.headers[HEADER] == "true"


async def test_models_are_told_as_the_sdk_types_them(client: AsyncOpenAI) -> None:
    raw = await client.models.with_raw_response.retrieve(MODEL)
    TypeAdapter(Model).validate_json(raw.http_response.content, strict=True)
    assert extras(raw.parse()) == {FIELD}
    assert [model.id async for model in client.models.list()] == [*GPT, *COMPATIBLE]
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve("claude-sonnet-5-5")


def formatted(**changes: Any) -> dict[str, Any]:
    return {
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": {**SCHEMA, **changes}},
        }
    }


WRONG: dict[str, tuple[dict[str, Any], str | None, str | None]] = {
    "temperature": ({"temperature": 0}, "unsupported_value", "temperature"),
    "top_p": ({"top_p": 0.5}, "unsupported_value", "top_p"),
    "max_tokens": ({"max_tokens": 10}, "unsupported_parameter", "max_tokens"),
    "no-tokens": ({"max_completion_tokens": 0}, "integer_below_min_value", "max_completion_tokens"),
    "too-many": ({"max_completion_tokens": 64_001}, "invalid_value", "max_completion_tokens"),
    "no-messages": ({"messages": []}, "empty_array", "messages"),
    "a-role": ({"messages": [{"role": "oracle", "content": "x"}]}, "invalid_value", "messages[0].role"),
    "unknown": ({"extra_body": {"top_k": 3}}, "unknown_parameter", "top_k"),
    "open-object": (formatted(additionalProperties=True), None, "response_format"),
    "optional-property": (formatted(required=[]), None, "response_format"),
    "no-name": (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": SCHEMA}}},
        "missing_required_parameter", "response_format.json_schema.name",
    ),
    "too-long": (
        {"messages": [{"role": "user", "content": "x" * 1_024_004}]}, "context_length_exceeded", "messages",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(WRONG))
async def test_what_the_api_refuses_is_refused_by_parameter(client: AsyncOpenAI, name: str) -> None:
    changes, code, param = WRONG[name]
    with pytest.raises(openai.BadRequestError) as refused:
        await client.chat.completions.create(**{**HELLO, **changes})
    error = refused.value
    assert (error.status_code, error.type) == (400, "invalid_request_error")
    assert (error.code, error.param) == (code, param)
    assert error.request_id == error.response.headers["x-request-id"]


async def test_a_compatible_server_takes_sampling_and_max_tokens(client: AsyncOpenAI) -> None:
    asked = {**HELLO, "model": SAMPLING_MODEL, "temperature": 0.3, "max_tokens": 5}
    del asked["max_completion_tokens"]
    cut = await client.chat.completions.create(**asked)
    assert cut.choices[0].finish_reason == "length"
    assert cut.usage is not None
    assert cut.usage.completion_tokens == 5


@pytest.mark.parametrize(
    ("key", "kind", "code"),
    [
        ("revoked-1", openai.AuthenticationError, "invalid_api_key"),
        ("forbidden-1", openai.PermissionDeniedError, "permission_denied"),
    ],
)
async def test_a_bad_key_is_a_typed_error(
    stub: StubProcess, key: str, kind: type[openai.APIStatusError], code: str
) -> None:
    async with gpt(stub, key) as client:
        for ask in (client.chat.completions.create(**HELLO), client.models.retrieve(MODEL)):
            with pytest.raises(kind) as refused:
                await ask
            assert refused.value.code == code
            assert key not in str(refused.value)


ERRORS = [
    ("unauthorised", openai.AuthenticationError, 401, "invalid_api_key"),
    ("forbidden", openai.PermissionDeniedError, 403, "permission_denied"),
    ("unknown_model", openai.NotFoundError, 404, "model_not_found"),
    ("context_too_long", openai.BadRequestError, 400, "context_length_exceeded"),
    ("too_large", openai.APIStatusError, 413, "request_too_large"),
    ("unprocessable", openai.UnprocessableEntityError, 422, None),
    ("rate_limited", openai.RateLimitError, 429, "rate_limit_exceeded"),
    ("no_credit", openai.RateLimitError, 429, "insufficient_quota"),
    ("server_error", openai.InternalServerError, 500, None),
    ("overloaded", openai.InternalServerError, 503, None),
]


@pytest.mark.parametrize(("fault", "kind", "status", "code"), ERRORS)
async def test_each_error_is_the_sdks_own(
    client: AsyncOpenAI,
    stub: StubProcess,
    fault: str,
    kind: type[openai.APIStatusError],
    status: int,
    code: str | None,
) -> None:
    stub.set_faults(shares={fault: 1}, retry_after_s=7)
    with pytest.raises(kind) as failed:
        await client.chat.completions.create(**HELLO)
    error = failed.value
    assert (error.status_code, error.code) == (status, code)
    assert error.request_id == error.response.headers["x-request-id"]
    assert ("retry-after" in error.response.headers) == (fault == "rate_limited")


async def test_the_rate_limit_headers_are_there_and_count(
    client: AsyncOpenAI, stub: StubProcess
) -> None:
    stub.set_faults(admit_per_s=10, burst=2)
    raw = await client.chat.completions.with_raw_response.create(**HELLO)
    assert raw.headers["x-ratelimit-limit-requests"] == "600"
    assert int(raw.headers["x-ratelimit-remaining-requests"]) <= 1
    for name in ("requests", "tokens"):
        assert raw.headers[f"x-ratelimit-reset-{name}"].endswith("ms")


async def test_tools_are_called_as_the_sdk_types_them(client: AsyncOpenAI) -> None:
    tool: Any = {
        "type": "function",
        "function": {"name": "get_line_items", "parameters": {"type": "object", "properties": {}}},
    }
    completion = await client.chat.completions.create(**HELLO, tools=[tool])
    [choice] = completion.choices
    assert (choice.finish_reason, choice.message.content) == ("tool_calls", None)
    [call] = choice.message.tool_calls or []
    assert call.type == "function"
    assert (call.function.name, call.function.arguments) == ("get_line_items", "{}")
    answer: Any = {"role": "tool", "tool_call_id": call.id, "content": "{}"}
    messages = [*HELLO["messages"], choice.message.model_dump(exclude_none=True), answer]
    ruled = await client.chat.completions.create(**{**HELLO, "messages": messages}, tools=[tool])
    assert ruled.choices[0].finish_reason == "stop"


async def test_a_long_prefix_is_cached_by_itself_in_steps_of_128_tokens(
    client: AsyncOpenAI,
) -> None:
    system = {"role": "system", "content": f"{uuid.uuid4()} " + "policy " * 700}
    cached = []
    for words in ("first", "second one"):
        asked = {**HELLO, "messages": [system, {"role": "user", "content": words}]}
        usage = (await client.chat.completions.create(**asked)).usage
        assert usage is not None
        assert usage.prompt_tokens_details is not None
        assert usage.prompt_tokens == -(-(len(system["content"]) + len(words)) // 4)
        cached.append(usage.prompt_tokens_details.cached_tokens)
    assert cached == [0, len(system["content"]) // 512 * 128]


async def test_a_short_prompt_is_not_cached(client: AsyncOpenAI) -> None:
    for _ in range(2):
        usage = (await client.chat.completions.create(**HELLO)).usage
        assert usage is not None
        assert usage.prompt_tokens_details is not None
        assert usage.prompt_tokens_details.cached_tokens == 0


async def test_a_refusal_is_a_field_of_its_own(client: AsyncOpenAI, stub: StubProcess) -> None:
    stub.set_faults(shares={"refused": 1})
    [choice] = (await client.chat.completions.create(**HELLO)).choices
    assert choice.finish_reason == "stop"
    assert choice.message.content is None
    assert choice.message.refusal
