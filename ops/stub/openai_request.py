"""What the OpenAI chat API accepts, and what it refuses in which words.

Sources: the `openai` SDK's request types, OpenAI's pages on errors, structured outputs and prompt
caching, and error bodies quoted in public issues. Compatible servers (Kimi, a local one) take sampling
parameters and `max_tokens`; reasoning models refuse both.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from ops.stub.catalogue import Catalogue
from ops.stub.strict_schema import verdict
from ops.stub.wire import CHARACTERS_A_TOKEN, Call, Dialect, Offered, Piece, Problem, Turn, whole

DIALECT: Dialect = "openai"
CACHE_KEEPS_S = 300.0
CACHE_STEP = 128 * CHARACTERS_A_TOKEN
"""Characters; prefixes are cached in steps of 128 tokens, without being asked to."""

_KNOWN = frozenset({
    "audio", "frequency_penalty", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens",
    "messages", "metadata", "modalities", "model", "n", "parallel_tool_calls", "prediction",
    "presence_penalty", "prompt_cache_key", "prompt_cache_options", "prompt_cache_retention",
    "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier", "stop",
    "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs",
    "top_p", "user", "verbosity",
})  # fmt: skip


def read(headers: Mapping[str, str], body: Mapping[str, Any], catalogue: Catalogue) -> Call:
    """The call in a request body.

    Raises:
        Problem: what the API would refuse, with its `code` and `param`.
    """
    if "model" not in body:
        raise Problem(400, "invalid_request_error", "you must provide a model parameter")
    if "messages" not in body:
        raise _bad(
            "Missing required parameter: 'messages'.", "missing_required_parameter", "messages"
        )
    model = catalogue.find(str(body["model"]), DIALECT)
    for name in body:
        if name not in _KNOWN and not model.samples:
            raise _bad(f"Unrecognized request argument supplied: {name}", "unknown_parameter", name)
    if body.get("stream"):
        raise _bad("The stub does not stream.", "unsupported_value", "stream")
    _check_sampling(model, body)
    _check_format(body.get("response_format"))
    messages = _messages(body["messages"])
    tools = tuple(tool["function"]["name"] for tool in body.get("tools") or ())
    call = Call(
        model,
        "\n".join(text for role, text in messages if role in ("system", "developer")),
        _turns(messages),
        _pieces([*([orjson.dumps(body["tools"]).decode()] if tools else []), *(t for _, t in messages)]),
        _most(model, body),
        tools,
        tuple(text for role, text in messages if role == "tool"),
    )  # fmt: skip
    if call.tokens > model.context:
        raise _bad(
            f"This model's maximum context length is {model.context} tokens. However, your messages "
            f"resulted in {call.tokens} tokens. Please reduce the length of the messages.",
            "context_length_exceeded",
            "messages",
        )
    return call


def _bad(message: str, code: str | None = None, param: str | None = None) -> Problem:
    return Problem(400, "invalid_request_error", message, code, param)


def _most(model: Offered, body: Mapping[str, Any]) -> int:
    param = "max_completion_tokens" if "max_completion_tokens" in body else "max_tokens"
    most = body.get(param)
    if most is None:
        return model.max_output
    if not whole(most) or most < 1:
        raise _bad(
            f"Invalid '{param}': integer below minimum value. Expected a value >= 1.",
            "integer_below_min_value",
            param,
        )
    if most > model.max_output:
        raise _bad(
            f"{param} is too large: {most}. This model supports at most {model.max_output} "
            "completion tokens.",
            "invalid_value",
            param,
        )
    return int(most)


def _check_sampling(model: Offered, body: Mapping[str, Any]) -> None:
    if model.samples:
        return
    if body.get("max_tokens") is not None:
        raise _bad(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            "unsupported_parameter",
            "max_tokens",
        )
    for name in ("temperature", "top_p"):
        said = body.get(name)
        if said not in (None, 1):
            raise _bad(
                f"Unsupported value: '{name}' does not support {said} with this model. Only the "
                "default (1) value is supported.",
                "unsupported_value",
                name,
            )


def _check_format(asked: Any) -> None:
    """Strict mode wants every object closed and every property required."""
    if not isinstance(asked, Mapping) or asked.get("type") != "json_schema":
        return
    named = asked.get("json_schema") or {}
    name, schema = named.get("name"), named.get("schema")
    if not name:
        param = "response_format.json_schema.name"
        raise _bad(f"Missing required parameter: '{param}'.", "missing_required_parameter", param)
    if not named.get("strict"):
        return
    said = f"Invalid schema for response_format '{name}': In context="
    found = verdict(schema)
    if found.open_object is not None:
        raise _bad(
            f"{said}{found.open_object}, 'additionalProperties' is required to be supplied and to be false.",
            param="response_format",
        )
    if found.optional_property is not None:
        raise _bad(
            f"{said}{found.optional_property}, 'required' is required to be supplied and to be an "
            "array including every key in properties.",
            param="response_format",
        )


def _messages(messages: Any) -> list[tuple[str, str]]:
    """Role and text of each message; what an assistant calls is text too, for the count."""
    if not isinstance(messages, Sequence) or isinstance(messages, str) or not messages:
        raise _bad(
            "Invalid 'messages': empty array. Expected an array with minimum length 1.",
            "empty_array",
            "messages",
        )
    found: list[tuple[str, str]] = []
    for number, message in enumerate(messages):
        role, content = message.get("role"), message.get("content")
        if role not in ("system", "developer", "user", "assistant", "tool"):
            param = f"messages[{number}].role"
            raise _bad(f"Invalid value: '{role}'.", "invalid_value", param)
        if content is None and role != "assistant":
            param = f"messages.[{number}].content"
            raise _bad("Invalid value for 'content': expected a string, got null.", None, param)
        text = content if isinstance(content, str) else "\n".join(
            str(part.get("text", "")) for part in content or ()
        )  # fmt: skip
        calls = message.get("tool_calls")
        found.append((role, text if not calls else text + orjson.dumps(calls).decode()))
    return found


def _turns(messages: Sequence[tuple[str, str]]) -> tuple[Turn, ...]:
    return tuple(
        Turn("user" if role == "user" else "assistant", text)
        for role, text in messages
        if role in ("user", "assistant") and text
    )


def _pieces(texts: Sequence[str]) -> tuple[Piece, ...]:
    """The prompt in steps of the cache, each a breakpoint; the rest is none."""
    whole_prompt = "".join(texts)
    steps = len(whole_prompt) // CACHE_STEP
    cut = [whole_prompt[at * CACHE_STEP : (at + 1) * CACHE_STEP] for at in range(steps)]
    rest = whole_prompt[steps * CACHE_STEP :]
    return (*(Piece(text, CACHE_KEEPS_S) for text in cut), *((Piece(rest),) if rest else ()))
