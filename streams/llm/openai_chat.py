"""GPT, Kimi and every server that speaks OpenAI's chat API, through the official SDK."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import httpx2
import orjson
from openai import (
    APIConnectionError,
    APIError,
    APIStatusError,
    APITimeoutError,
    AsyncOpenAI,
    DefaultAioHttpClient,
)

from streams.llm.catalogue import ModelFacts, Provider
from streams.llm.port import Failure, Misconfigured, ProviderDown
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

_STOPPED: dict[str, tuple[Failure, str]] = {
    "content_filter": ("refused", "the model refused to answer"),
    "length": ("truncated", "the reply was cut off; answer more briefly"),
}


class OpenAIChat:
    """See `wire.Transport`. What the servers differ in comes from the catalogue."""

    def __init__(
        self, access: Access, facts: ModelFacts, sampling: dict[str, Any], provider: Provider
    ) -> None:
        self._access = access
        self._facts = facts
        self._sampling = sampling
        self._provider = provider
        self._client: AsyncOpenAI | None = None

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        client, body = self._connected(), as_json(self._request(rendered, exchanges))
        try:
            reply = await client.post("/chat/completions", cast_to=httpx2.Response, content=body)
            return replace(
                _answer(reply.content),
                request_id=storable(reply.headers.get("x-request-id")),
                simulated=reply.headers.get(SIMULATED_HEADER) is not None,
            )
        except APIStatusError as error:
            said = f"{error.type} {error.code} {error.message}"
            return refusal(
                error.status_code, said, self._access, error.response.headers.get("retry-after")
            )
        except APITimeoutError as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                # No connection in time, or one that was reset: the SDK's transport calls both this.
                raise ProviderDown(f"{self._access.base_url}: {error.__cause__}") from error
            raise TimeoutError(f"no answer in {self._access.timeout_s:g} s") from error
        except APIConnectionError as error:
            raise ProviderDown(f"{self._access.base_url}: {error.__cause__ or error}") from error
        except (APIError, *MALFORMED) as error:
            raise ProviderDown(NOT_PROMISED) from error

    async def check(self) -> None:
        """Servers of one's own need not know `GET /models/<name>`; their list must then name it."""
        async with self._new_client() as client:
            try:
                known = [model.id async for model in client.models.list()]
            except APIStatusError as error:
                if error.status_code in (404, 405):
                    return
                refusal(error.status_code, str(error.code), self._access, None)
                raise ProviderDown(f"{self._access.base_url} does not tell its models") from error
            except (APIError, *MALFORMED) as error:
                raise ProviderDown(f"{self._access.base_url} cannot be reached") from error
            else:
                if self._access.model not in known:
                    raise Misconfigured(
                        f"{self._access.provider} at {self._access.base_url} has no model "
                        f"{self._access.model!r}; name another"
                    )

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connected(self) -> AsyncOpenAI:
        if self._client is None:
            self._client = self._new_client()
        return self._client

    def _new_client(self) -> AsyncOpenAI:
        return AsyncOpenAI(
            api_key=self._access.key or "none",
            base_url=self._access.base_url,
            max_retries=0,
            timeout=self._access.timeout_s,
            http_client=DefaultAioHttpClient(),
        )

    def _request(self, rendered: Rendered, exchanges: Sequence[Exchange]) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self._access.model,
            "messages": self._messages(rendered, exchanges),
            self._provider.max_tokens_field: rendered.max_tokens,
            **self._sampling,
        }
        if self._facts.effort is not None:
            request["reasoning_effort"] = self._facts.effort
        if rendered.schema is not None and self._provider.answer_format == "json_schema":
            request["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "strict": True, "schema": rendered.schema},
            }
        elif rendered.schema is not None and self._provider.answer_format == "json_object":
            request["response_format"] = {"type": "json_object"}
        if rendered.tools:
            request["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": {"type": "object", "properties": {}},
                    },
                }
                for tool in rendered.tools
            ]
        return request

    def _messages(self, rendered: Rendered, exchanges: Sequence[Exchange]) -> list[dict[str, Any]]:
        system = rendered.system
        if rendered.schema is not None and self._provider.answer_format != "json_schema":
            system += f"\n\n# Schema of the answer\n{orjson.dumps(rendered.schema).decode()}"
        messages: list[dict[str, Any]] = [
            {"role": "system", "content": system},
            {
                "role": "user",
                "content": [{"type": "text", "text": block.text} for block in rendered.blocks],
            },
        ]
        if rendered.correction is not None:
            # An empty assistant turn is refused by some, and an empty reply is one of the things corrected.
            said = (rendered.previous_reply or "").strip() or "(no answer)"
            messages.append({"role": "assistant", "content": said})
            messages.append({"role": "user", "content": rendered.correction})
        for exchange in exchanges:
            messages.append(exchange.answer.echo)
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": result}
                for call, result in exchange.results
            ]
        return messages


def _answer(body: bytes) -> Answer:
    """The reply's own JSON in our words; see `anthropic_messages`.

    Raises:
        ProviderDown: a completion without a usage that can be.
        MALFORMED: a 200 that is no completion at all.
    """
    completion = json.loads(body)
    choice = completion["choices"][0]
    message, usage = choice["message"], completion.get("usage")
    text = message.get("content") or ""
    if not isinstance(text, str):
        raise TypeError("its content is no text")
    if usage is None:
        raise ProviderDown("the answer tells no usage that can be")
    failure, problem = _STOPPED.get(choice.get("finish_reason") or "", (None, None))
    if message.get("refusal"):
        failure, problem = "refused", "the model refused to answer"
    calls = tuple(
        ToolCall(call["id"], call["function"]["name"])
        for call in message.get("tool_calls") or ()
        if call["type"] == "function"
    )
    details = usage.get("prompt_tokens_details") or {}
    return Answer(
        text=storable(text),
        failure=failure,
        problem=problem,
        calls=() if failure else calls,
        echo=storable(message) if calls else None,
        usage=told_usage(
            usage["prompt_tokens"], usage.get("completion_tokens"), details.get("cached_tokens")
        ),
    )
