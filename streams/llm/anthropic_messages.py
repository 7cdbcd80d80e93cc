"""Claude through the official SDK: the Messages API with a JSON schema, no retries of its own.

The SDK obeys a Retry-After without a cap, so retrying is the stage's. Of a 200 that is not JSON, HTML or
of another shape it makes an error, a `str` or a message of Nones, so the body is read here.
"""

import json
from collections.abc import Sequence
from typing import Any

import httpx2
from anthropic import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncAnthropic,
    DefaultAioHttpClient,
)

from streams.llm.catalogue import ModelFacts
from streams.llm.port import Failure, ProviderDown
from streams.llm.rendering import Rendered
from streams.llm.wire import (
    MALFORMED,
    NOT_PROMISED,
    SIMULATED_HEADER,
    Access,
    Answer,
    Exchange,
    ToolCall,
    as_json,
    refusal,
    storable,
    told_usage,
)

_BREAKPOINT = {"cache_control": {"type": "ephemeral"}}
_STOPPED: dict[str, tuple[Failure, str]] = {
    "refusal": ("refused", "the model refused to answer"),
    "max_tokens": ("truncated", "the reply was cut off; answer more briefly"),
    "model_context_window_exceeded": ("too_long", "the conversation does not fit the model"),
}


class AnthropicMessages:
    """See `wire.Transport`. `caching` says where the breakpoints stand (`registry.CACHING`)."""

    def __init__(
        self, access: Access, facts: ModelFacts, sampling: dict[str, Any], caching: str
    ) -> None:
        self._access = access
        self._facts = facts
        self._sampling = sampling
        self._caching = caching
        self._client: AsyncAnthropic | None = None

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        client, body = self._connected(), as_json(self._request(rendered, exchanges))
        try:
            reply = await client.post("/v1/messages", cast_to=httpx2.Response, content=body)
            simulated = reply.headers.get(SIMULATED_HEADER) is not None
            return _answer(reply.content, reply.headers.get("request-id"), simulated)
        except APIStatusError as error:
            said = f"{error.type} {error.error_code} {error.api_message}"
            after = error.response.headers.get("retry-after")
            return refusal(error.status_code, said, self._access, after)
        except APITimeoutError as error:
            raise TimeoutError(f"no answer in {self._access.timeout_s:g} s") from error
        except APIConnectionError as error:
            raise ProviderDown(f"{self._access.base_url}: {error.__cause__ or error}") from error
        except (APIError, *MALFORMED) as error:
            raise ProviderDown(NOT_PROMISED) from error

    async def check(self) -> None:
        async with self._new_client() as client:
            try:
                name: object = (await client.models.retrieve(self._access.model)).id
            except APIStatusError as error:
                refusal(error.status_code, str(error.api_message), self._access, None)
                raise ProviderDown(f"{self._access.base_url} does not tell its models") from error
            except (APIError, *MALFORMED) as error:
                raise ProviderDown(f"{self._access.base_url} cannot be reached") from error
            if not isinstance(name, str):
                raise ProviderDown(f"{self._access.base_url} does not tell its models")

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connected(self) -> AsyncAnthropic:
        if self._client is None:
            self._client = self._new_client()
        return self._client

    def _new_client(self) -> AsyncAnthropic:
        return AsyncAnthropic(
            api_key=self._access.key,
            base_url=self._access.base_url,
            max_retries=0,
            timeout=self._access.timeout_s,
            http_client=DefaultAioHttpClient(),
        )

    def _request(self, rendered: Rendered, exchanges: Sequence[Exchange]) -> dict[str, Any]:
        system = {
            "type": "text",
            "text": rendered.system,
            **self._breakpoint(self._caching != "off"),
        }
        config: dict[str, Any] = {}
        if rendered.schema is not None:
            config["format"] = {"type": "json_schema", "schema": rendered.schema}
        if self._facts.effort is not None:
            config["effort"] = self._facts.effort
        request: dict[str, Any] = {
            "model": self._access.model,
            "max_tokens": rendered.max_tokens,
            "system": [system],
            "messages": self._messages(rendered, exchanges),
            **({"output_config": config} if config else {}),
            **self._sampling,
        }
        if rendered.tools:
            request["tools"] = [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "input_schema": {"type": "object", "properties": {}},
                }
                for tool in rendered.tools
            ]
        return request

    def _messages(self, rendered: Rendered, exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
        blocks = [
            {
                "type": "text",
                "text": block.text,
                **self._breakpoint(block.cached and self._caching in ("snapshot", "lead")),
            }
            for block in rendered.blocks
        ]
        messages: list[dict[str, Any]] = [{"role": "user", "content": blocks}]
        if rendered.correction is not None:
            # An empty assistant turn is refused, and an empty reply is one of the things corrected.
            said = (rendered.previous_reply or "").strip() or "(no answer)"
            messages.append({"role": "assistant", "content": said})
            messages.append({"role": "user", "content": rendered.correction})
        for exchange in exchanges:
            messages.append({"role": "assistant", "content": exchange.answer.echo})
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": result}
                for call, result in exchange.results
            ]
            messages.append({"role": "user", "content": results})
        return messages

    @staticmethod
    def _breakpoint(wanted: bool) -> dict[str, Any]:
        return _BREAKPOINT if wanted else {}


def _answer(body: bytes, request_id: str | None, simulated: bool) -> Answer:
    """The reply's own JSON in our words. The SDK's typed message would check nothing of it and costs a
    third of what a call does.

    Raises:
        ProviderDown: a message without a usage that can be.
        MALFORMED: a 200 that is no message at all.
    """
    message = json.loads(body)
    content = message["content"]
    if not isinstance(content, list):
        raise TypeError("content is no list")
    usage = message.get("usage")
    if usage is None:
        raise ProviderDown("the answer tells no usage that can be")
    read = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    failure, problem = _STOPPED.get(message.get("stop_reason") or "", (None, None))
    calls = tuple(ToolCall(b["id"], b["name"]) for b in content if b["type"] == "tool_use")
    return Answer(
        text=storable("".join(block["text"] for block in content if block["type"] == "text")),
        failure=failure,
        problem=problem,
        calls=() if failure else calls,
        echo=storable(content) if calls else None,
        usage=told_usage(
            usage["input_tokens"] + read + written, usage.get("output_tokens"), read, written
        ),
        request_id=storable(request_id),
        simulated=simulated,
    )
