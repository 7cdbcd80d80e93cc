"""The stub as the real Anthropic SDK sees it: typed replies and typed errors, field by field."""

import uuid
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, get_args

import anthropic
import pytest
from anthropic import AsyncAnthropic
from anthropic.types import Message, ModelInfo
from anthropic.types.model import Model
from pydantic import TypeAdapter

from ops.stub.catalogue import CLAUDE
from ops.stub.marker import FIELD, HEADER
from tests.support.stub import StubProcess, claude, extras

pytestmark = pytest.mark.anyio

MODEL = "claude-sonnet-5-5"
HELLO: dict[str, Any] = {
    "model": MODEL, "max_tokens": 200, "messages": [{"role": "user", "content": "Hello there."}],
}  # fmt: skip
SCHEMA = {
    "type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False,
}  # fmt: skip


@pytest.fixture
async def client(stub: StubProcess) -> AsyncIterator[AsyncAnthropic]:
    async with claude(stub) as open_client:
        yield open_client


async def test_a_message_is_one_of_the_sdks_own_with_every_field(client: AsyncAnthropic) -> None:
    raw = await client.messages.with_raw_response.create(**HELLO)
    body = raw.http_response.json()
    TypeAdapter(Message).validate_python(body, strict=True)
    message = await raw.parse()
    assert set(Message.model_fields) <= set(body)
    assert set(type(message.usage).model_fields) <= set(body["usage"])
    assert extras(message) == {FIELD}, "nothing the SDK does not know but the marker"
    assert (message.type, message.role, message.model) == ("message", "assistant", MODEL)
    assert (message.stop_reason, message.stop_sequence) == ("end_turn", None)
    assert [block.type for block in message.content] == ["text"]
    assert message.id.startswith("msg_")
    assert message.usage.input_tokens == 3, "twelve characters"
    assert message.usage.output_tokens == -(-len(message.content[0].text) // 4)  # type: ignore[union-attr]
    assert message._request_id == raw.headers["request-id"]


async def test_every_reply_says_that_it_is_simulated(client: AsyncAnthropic) -> None:
    raw = await client.messages.with_raw_response.create(**HELLO)
    assert raw.headers[HEADER] == "true"
    assert ((await raw.parse()).model_extra or {})[FIELD] is True
    with pytest.raises(anthropic.NotFoundError) as missing:
        await client.messages.create(**{**HELLO, "model": "claude-none"})
    assert missing.value.response.headers[HEADER] == "true"
    assert missing.value.body[FIELD] is True  # type: ignore[index]


async def test_models_are_told_as_the_sdk_types_them(client: AsyncAnthropic) -> None:
    raw = await client.models.with_raw_response.retrieve(MODEL)
    body = raw.http_response.json()
    TypeAdapter(ModelInfo).validate_json(raw.http_response.content, strict=True)
    assert set(ModelInfo.model_fields) <= set(body)
    assert extras(await raw.parse()) == {FIELD}
    listed = [model.id async for model in client.models.list()]
    assert listed == list(CLAUDE)
    with pytest.raises(anthropic.NotFoundError):
        await client.models.retrieve("gpt-6.1-sol")


def test_the_models_offered_are_those_the_sdk_names() -> None:
    assert set(CLAUDE) == {name for part in get_args(Model) for name in get_args(part)}


BLOCK = {"role": "user", "content": [{"type": "text", "text": " "}]}
PREFILL = {"role": "assistant", "content": "{"}
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "temperature": ({"extra_body": {"temperature": 0}}, "temperature: Extra inputs"),
    "top_p": ({"extra_body": {"top_p": 0.9}}, "top_p: Extra inputs"),
    "no-tokens": ({"max_tokens": 0}, "max_tokens: Input should be"),
    "too-many-tokens": ({"max_tokens": 64_001}, "max_tokens: 64001 > 64000"),
    "no-messages": ({"messages": []}, "at least one message"),
    "empty-text": ({"messages": [BLOCK]}, "non-whitespace"),
    "prefill": ({"messages": [*HELLO["messages"], PREFILL]}, "prefill"),
    "a-role": ({"messages": [{"role": "system", "content": "x"}]}, "messages.0.role"),
    "open-object": (
        {"output_config": {"format": {"type": "json_schema", "schema": {**SCHEMA, "additionalProperties": True}}}},
        "'additionalProperties' must be explicitly set to false",
    ),
    "bounds": (
        {"output_config": {"format": {"type": "json_schema", "schema": {
            **SCHEMA, "properties": {"a": {"type": "number", "maximum": 1}}}}}},
        "properties maximum are not supported",
    ),
    "not-json-schema": (
        {"output_config": {"format": {"type": "json", "schema": SCHEMA}}}, "output_config.format.type",
    ),
    "forced-tool": (
        {"tools": [{"name": "t", "input_schema": {"type": "object"}}], "tool_choice": {"type": "any"}},
        "forced tool use",
    ),
    "tool-schema": ({"tools": [{"name": "t"}]}, "tools.0.custom.input_schema: Field required"),
    "five-breakpoints": (
        {"messages": [{"role": "user", "content": [
            {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5}]},
        "A maximum of 4 blocks",
    ),
    "ttl": (
        {"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1d"}}]},
        "cache_control.ttl",
    ),
    "too-long": (
        {"messages": [{"role": "user", "content": "x" * 800_004}]}, "prompt is too long: 200001 tokens > 200000",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", list(WRONG))
async def test_what_the_api_refuses_is_refused_by_field(client: AsyncAnthropic, name: str) -> None:
    changes, said = WRONG[name]
    with pytest.raises(anthropic.BadRequestError) as refused:
        await client.messages.create(**{**HELLO, **changes})
    error = refused.value
    assert said in str(error.api_message)
    assert (error.status_code, error.type) == (400, "invalid_request_error")
    assert error.body["type"] == "error"  # type: ignore[index]
    assert error.request_id == error.body["request_id"]  # type: ignore[index]


async def test_a_missing_field_is_named(client: AsyncAnthropic) -> None:
    for field in ("max_tokens", "model", "messages"):
        body = {name: value for name, value in HELLO.items() if name != field}
        with pytest.raises(anthropic.BadRequestError) as refused:
            await client.post("/v1/messages", body=body, cast_to=Message)
        assert refused.value.api_message == f"{field}: Field required"


@pytest.mark.parametrize(
    ("key", "kind", "type"),
    [
        ("revoked-1", anthropic.AuthenticationError, "authentication_error"),
        ("forbidden-1", anthropic.PermissionDeniedError, "permission_error"),
    ],
)
async def test_a_bad_key_is_a_typed_error(
    stub: StubProcess, key: str, kind: type[anthropic.APIStatusError], type: str
) -> None:
    async with claude(stub, key) as client:
        for ask in (client.messages.create(**HELLO), client.models.retrieve(MODEL)):
            with pytest.raises(kind) as refused:
                await ask
            assert refused.value.type == type
            assert key not in str(refused.value)


async def test_an_unknown_model_is_not_found(client: AsyncAnthropic) -> None:
    with pytest.raises(anthropic.NotFoundError) as missing:
        await client.messages.create(**{**HELLO, "model": "claude-sonnet-99"})
    assert (missing.value.type, missing.value.api_message) == (
        "not_found_error",
        "model: claude-sonnet-99",
    )


ERRORS = [
    ("unauthorised", anthropic.AuthenticationError, 401, "authentication_error"),
    ("no_credit", anthropic.PaymentRequiredError, 402, "billing_error"),
    ("forbidden", anthropic.PermissionDeniedError, 403, "permission_error"),
    ("unknown_model", anthropic.NotFoundError, 404, "not_found_error"),
    ("context_too_long", anthropic.BadRequestError, 400, "invalid_request_error"),
    ("too_large", anthropic.ContentTooLargeError, 413, "request_too_large"),
    ("unprocessable", anthropic.UnprocessableEntityError, 422, "invalid_request_error"),
    ("rate_limited", anthropic.RateLimitError, 429, "rate_limit_error"),
    ("server_error", anthropic.InternalServerError, 500, "api_error"),
    ("overloaded", anthropic.OverloadedError, 529, "overloaded_error"),
]


@pytest.mark.parametrize(("fault", "kind", "status", "type"), ERRORS)
async def test_each_error_is_the_sdks_own(
    client: AsyncAnthropic,
    stub: StubProcess,
    fault: str,
    kind: type[anthropic.APIStatusError],
    status: int,
    type: str,
) -> None:
    stub.set_faults(shares={fault: 1}, retry_after_s=7)
    with pytest.raises(kind) as failed:
        await client.messages.create(**HELLO)
    error = failed.value
    assert (error.status_code, error.type) == (status, type)
    assert error.request_id == error.response.headers["request-id"]
    assert error.details is None
    assert ("retry-after" in error.response.headers) == (fault == "rate_limited")
    if fault == "rate_limited":
        assert error.response.headers["retry-after"] == "7"


async def test_the_rate_limit_headers_are_there_and_count(
    client: AsyncAnthropic, stub: StubProcess
) -> None:
    stub.set_faults(admit_per_s=10, burst=2)
    left: list[int] = []
    for _ in range(2):
        raw = await client.messages.with_raw_response.create(**HELLO)
        assert raw.headers["anthropic-ratelimit-requests-limit"] == "600"
        left.append(int(raw.headers["anthropic-ratelimit-requests-remaining"]))
        for name in ("requests", "tokens", "input-tokens"):
            reset = datetime.fromisoformat(raw.headers[f"anthropic-ratelimit-{name}-reset"])
            assert reset.tzinfo is not None
    assert left[0] <= 1


async def test_tools_are_called_as_the_sdk_types_them(client: AsyncAnthropic) -> None:
    tool = {"name": "get_line_items", "description": "d", "input_schema": {"type": "object"}}
    message = await client.messages.create(**HELLO, tools=[tool])  # type: ignore[list-item]
    assert message.stop_reason == "tool_use"
    call = message.content[0]
    assert call.type == "tool_use"
    assert (call.name, call.input) == ("get_line_items", {})
    answered = await client.messages.create(
        **{
            **HELLO,
            "messages": [
                *HELLO["messages"],
                message.to_param(),
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": call.id, "content": '{"line_items": []}'}]},
            ],
        },
        tools=[tool],  # type: ignore[list-item]
    )  # fmt: skip
    assert answered.stop_reason == "end_turn"


async def test_a_cached_prefix_is_charged_as_written_then_as_read(client: AsyncAnthropic) -> None:
    system = [{
        "type": "text", "text": f"{uuid.uuid4()} " + "policy " * 1_000, "cache_control": {"type": "ephemeral"},
    }]  # fmt: skip
    usages = []
    for words in ("first", "second one"):
        asked = {**HELLO, "system": system, "messages": [{"role": "user", "content": words}]}
        usages.append((await client.messages.create(**asked)).usage)
    prefix = -(-len(system[0]["text"]) // 4)  # type: ignore[arg-type]
    first, second = usages
    assert (first.cache_creation_input_tokens, first.cache_read_input_tokens) == (prefix, 0)
    assert first.cache_creation is not None
    assert first.cache_creation.ephemeral_5m_input_tokens == prefix
    assert (second.cache_creation_input_tokens, second.cache_read_input_tokens) == (0, prefix)
    characters = len(system[0]["text"]) + len("second one")  # type: ignore[arg-type]
    assert second.input_tokens + prefix == -(-characters // 4)


async def test_a_refusal_and_a_cut_are_said_in_stop_reason(
    client: AsyncAnthropic, stub: StubProcess
) -> None:
    stub.set_faults(shares={"refused": 1})
    refused = await client.messages.create(**HELLO)
    assert (refused.stop_reason, refused.content) == ("refusal", [])
    assert refused.stop_details is not None
    assert refused.stop_details.type == "refusal"
    stub.set_faults()
    cut = await client.messages.create(**{**HELLO, "max_tokens": 5})
    assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 5)
