"""What the Anthropic Messages API accepts, and what it refuses in which words.

Sources: the `anthropic` SDK's request types, and Anthropic's pages on errors, structured outputs and
prompt caching.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from ops.stub.catalogue import Catalogue
from ops.stub.strict_schema import verdict
from ops.stub.wire import Call, Dialect, Piece, Problem, Turn, whole

DIALECT: Dialect = "anthropic"
MOST_BREAKPOINTS = 4
KEEPS_S = {"5m": 300.0, "1h": 3600.0}

_KNOWN = frozenset({
    "cache_control", "container", "diagnostics", "inference_geo", "max_tokens", "messages",
    "metadata", "model", "output_config", "service_tier", "speed", "stop_sequences", "stream",
    "system", "thinking", "tool_choice", "tools", "user_profile_id", "workspace_id",
})  # fmt: skip
"""Anything else is refused, the sampling parameters of old included."""


def read(headers: Mapping[str, str], body: Mapping[str, Any], catalogue: Catalogue) -> Call:
    """The call in a request body.

    Raises:
        Problem: what the API would refuse, named by field as it names it.
    """
    if "anthropic-version" not in headers:
        raise _bad("anthropic-version: header is required")
    for field in ("model", "max_tokens", "messages"):
        if field not in body:
            raise _bad(f"{field}: Field required")
    for field in body:
        if field not in _KNOWN:
            raise _bad(f"{field}: Extra inputs are not permitted")
    model = catalogue.find(str(body["model"]), DIALECT)
    most = body["max_tokens"]
    if not whole(most) or most < 1:
        raise _bad("max_tokens: Input should be a valid integer greater than or equal to 1")
    if most > model.max_output:
        raise _bad(
            f"max_tokens: {most} > {model.max_output}, which is the maximum allowed number of output "
            f"tokens for {model.name}"
        )
    if body.get("stream"):
        raise _bad("stream: the stub does not stream")
    tools = _tools(body)
    schema = _format(body)
    system = _blocks(body.get("system") or (), "system")
    messages = _messages(body["messages"])
    root = [Piece(orjson.dumps([body.get("tools"), schema]).decode())] if tools or schema else []
    pieces = [*root, *(piece for _, piece in system), *(piece for *_, piece in messages)]
    if body.get("cache_control"):
        pieces[-1] = Piece(pieces[-1].text, _keep_s(body["cache_control"], "cache_control"))
    if sum(piece.keep_s is not None for piece in pieces) > MOST_BREAKPOINTS:
        raise _bad(
            f"A maximum of {MOST_BREAKPOINTS} blocks with cache_control may be provided. Found more."
        )
    call = Call(
        model,
        "\n".join(text for text, _ in system),
        _turns(messages),
        tuple(pieces),
        most,
        tools,
        tuple(text for _, kind, text, _ in messages if kind == "tool_result"),
    )
    if call.tokens > model.context:
        raise _bad(f"prompt is too long: {call.tokens} tokens > {model.context} maximum")
    return call


def _bad(message: str) -> Problem:
    return Problem(400, "invalid_request_error", message)


def _tools(body: Mapping[str, Any]) -> tuple[str, ...]:
    tools = body.get("tools") or ()
    for number, tool in enumerate(tools):
        for field in ("name", "input_schema"):
            if not isinstance(tool, Mapping) or field not in tool:
                raise _bad(f"tools.{number}.custom.{field}: Field required")
        if tool["input_schema"].get("type") != "object":
            raise _bad(f"tools.{number}.custom.input_schema.type: Input should be 'object'")
    choice = body.get("tool_choice") or {}
    if choice.get("type") in ("tool", "any"):
        raise _bad("tool_choice: forced tool use is not supported on this model")
    return tuple(tool["name"] for tool in tools)


def _format(body: Mapping[str, Any]) -> Any:
    asked = (body.get("output_config") or {}).get("format")
    if asked is None:
        return None
    where = "output_config.format"
    if asked.get("type") != "json_schema":
        raise _bad(f"{where}.type: Input should be 'json_schema'")
    schema = asked.get("schema")
    if not isinstance(schema, Mapping):
        raise _bad(f"{where}.schema: Field required")
    found = verdict(schema)
    if found.open_object is not None:
        raise _bad(
            f"{where}.schema: For 'object' type, 'additionalProperties' must be explicitly set to false"
        )
    if found.unsupported is not None:
        kind, words = found.unsupported
        raise _bad(
            f"{where}.schema: For '{kind}' type, properties {', '.join(words)} are not supported"
        )
    return schema


def _keep_s(control: Any, where: str) -> float | None:
    if control is None:
        return None
    if not isinstance(control, Mapping) or control.get("type") != "ephemeral":
        raise _bad(f"{where}.type: Input should be 'ephemeral'")
    ttl = control.get("ttl", "5m")
    if ttl not in KEEPS_S:
        raise _bad(f"{where}.ttl: Input should be '5m' or '1h'")
    return KEEPS_S[ttl]


def _blocks(content: Any, where: str) -> list[tuple[str, Piece]]:
    """Text blocks of `system`, each with the piece of the prompt that it is."""
    if isinstance(content, str):
        return [(content, Piece(content))] if content else []
    found = []
    for number, block in enumerate(content):
        at = f"{where}.{number}"
        if not isinstance(block, Mapping) or block.get("type") != "text":
            raise _bad(f"{at}.type: Input should be 'text'")
        text = _text(block.get("text"), where)
        keep_s = _keep_s(block.get("cache_control"), f"{at}.cache_control")
        found.append((text, Piece(text, keep_s)))
    return found


def _text(text: Any, where: str) -> str:
    if not isinstance(text, str):
        raise _bad(f"{where}.text: Field required")
    if not text.strip():
        raise _bad(f"{where}: text content blocks must contain non-whitespace text")
    return text


def _messages(messages: Any) -> list[tuple[str, str, str, Piece]]:
    """Role, block type, text and piece of every content block, in order."""
    if not isinstance(messages, Sequence) or not messages or isinstance(messages, str):
        raise _bad("messages: at least one message is required")
    found: list[tuple[str, str, str, Piece]] = []
    for number, message in enumerate(messages):
        role = message.get("role")
        if role not in ("user", "assistant"):
            raise _bad(f"messages.{number}.role: Input should be 'user' or 'assistant'")
        content = message.get("content")
        if content is None:
            raise _bad(f"messages.{number}.content: Field required")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            raise _bad(f"messages.{number}: all messages must have non-empty content")
        found += [(role, *_block(block, f"messages.{number}")) for block in blocks]
    if messages[-1]["role"] == "assistant":
        raise _bad("This model does not support assistant message prefill.")
    return found


def _block(block: Mapping[str, Any], where: str) -> tuple[str, str, Piece]:
    kind = str(block.get("type"))
    if kind == "text":
        text = _text(block.get("text"), where)
    elif kind == "tool_use":
        text = orjson.dumps([block.get("name"), block.get("input")]).decode()
    elif kind == "tool_result":
        content = block.get("content") or ""
        text = (
            content
            if isinstance(content, str)
            else "\n".join(part.get("text", "") for part in content)
        )
    elif kind in ("thinking", "redacted_thinking"):
        text = str(block.get("thinking") or block.get("data") or "")
    else:
        raise _bad(f"{where}.content.0.type: Input tag {kind!r} is not known to the stub")
    return kind, text, Piece(text, _keep_s(block.get("cache_control"), f"{where}.cache_control"))


def _turns(messages: Sequence[tuple[str, str, str, Piece]]) -> tuple[Turn, ...]:
    """Text only; consecutive blocks of one role are one turn."""
    turns: list[Turn] = []
    for role, kind, text, _ in messages:
        if kind != "text":
            continue
        if turns and turns[-1].role == role:
            turns[-1] = Turn(turns[-1].role, f"{turns[-1].text}\n{text}")
        else:
            turns.append(Turn("user" if role == "user" else "assistant", text))
    return tuple(turns)
