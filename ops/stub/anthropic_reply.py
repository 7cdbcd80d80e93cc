"""The shapes in which the Anthropic Messages API answers: messages, errors, headers, models.

Sources: the `anthropic` SDK's response and error types, and Anthropic's pages on errors and rate limits.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ops.stub.admission import Standing
from ops.stub.anthropic_request import KEEPS_S
from ops.stub.marker import FIELD
from ops.stub.wire import Answer, Call, Offered, Problem, Stop, Tokens

_STOPS: dict[Stop, str] = {
    "end": "end_turn", "truncated": "max_tokens", "refused": "refusal", "tools": "tool_use",
}  # fmt: skip
_TYPES = {
    "unauthorised": (401, "authentication_error", "invalid x-api-key"),
    "forbidden": (403, "permission_error",
                  "Your API key does not have permission to use the specified resource."),
    "no_credit": (402, "billing_error", "Your credit balance is too low to access the Anthropic API."),
    "context_too_long": (400, "invalid_request_error", "prompt is too long: 200001 tokens > 200000 maximum"),
    "too_large": (413, "request_too_large", "Request exceeds the maximum size"),
    "unprocessable": (422, "invalid_request_error", "The request could not be processed."),
    "rate_limited": (429, "rate_limit_error",
                     "This request would exceed your organization's rate limit. Please try again later."),
    "server_error": (500, "api_error", "Internal server error"),
    "overloaded": (529, "overloaded_error", "Overloaded"),
}  # fmt: skip


def rejection(fault: str, model: str) -> Problem:
    """The error that a fault of this name is answered with."""
    if fault == "unknown_model":
        return Problem(404, "not_found_error", f"model: {model}")
    return Problem(*_TYPES[fault])


def api_key(headers: Mapping[str, str]) -> str | None:
    bearer = headers.get("authorization", "")
    return headers.get("x-api-key") or bearer.removeprefix("Bearer ").strip() or None


def no_key() -> Problem:
    return Problem(401, "authentication_error", "x-api-key header is required")


def reply(call: Call, answer: Answer, charged: Tokens, number: int) -> dict[str, Any]:
    """A Message."""
    refused = answer.stop == "refused"
    return {
        "id": f"msg_simulated_{number:012}",
        "type": "message",
        "role": "assistant",
        "model": call.model.name,
        "content": list(_content(answer, number)),
        "container": None,
        "stop_reason": _STOPS[answer.stop],
        "stop_sequence": None,
        "stop_details": {"type": "refusal", "category": None, "explanation": None}
        if refused
        else None,
        "usage": {
            "input_tokens": charged.prompt,
            "cache_creation_input_tokens": charged.written,
            "cache_read_input_tokens": charged.cache_read,
            "cache_creation": {
                "ephemeral_5m_input_tokens": charged.cache_write.get(KEEPS_S["5m"], 0),
                "ephemeral_1h_input_tokens": charged.cache_write.get(KEEPS_S["1h"], 0),
            },
            "output_tokens": charged.output,
            "output_tokens_details": None,
            "server_tool_use": None,
            "service_tier": "standard",
            "inference_geo": "not_available",
            "speed": "standard",
        },
        "diagnostics": None,
        FIELD: True,
    }


def _content(answer: Answer, number: int) -> Iterator[dict[str, Any]]:
    if answer.text:
        yield {"type": "text", "text": answer.text, "citations": None}
    for at, name in enumerate(answer.calls):
        yield {
            "type": "tool_use",
            "id": f"toolu_simulated_{number:012}_{at}",
            "name": name,
            "input": {},
            "caller": {"type": "direct"},
        }


def error(problem: Problem, request_id: str) -> dict[str, Any]:
    return {
        "type": "error",
        "error": {"type": problem.type, "message": problem.message, "details": None},
        "request_id": request_id,
        FIELD: True,
    }


def headers(standing: Standing) -> dict[str, str]:
    """Rate-limit headers; `reset` is the moment the limit is full again."""
    now = datetime.now(UTC).timestamp()
    found = {"anthropic-organization-id": "simulated"}
    for name, limit, left, full_in_s in (
        ("requests", standing.requests_a_minute, standing.requests_left, standing.requests_full_in_s),
        ("tokens", standing.tokens_a_minute, standing.tokens_left, standing.tokens_full_in_s),
        ("input-tokens", standing.tokens_a_minute, standing.tokens_left, standing.tokens_full_in_s),
    ):  # fmt: skip
        full = datetime.fromtimestamp(now + full_in_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        found[f"anthropic-ratelimit-{name}-limit"] = str(limit)
        found[f"anthropic-ratelimit-{name}-remaining"] = str(left)
        found[f"anthropic-ratelimit-{name}-reset"] = full
    return found


def model_info(model: Offered) -> dict[str, Any]:
    """One model, as GET /v1/models/{id} tells it."""
    return {
        "type": "model",
        "id": model.name,
        "display_name": model.name.replace("-", " ").title(),
        "created_at": "1970-01-01T00:00:00Z",
        "lifecycle": "active",
        "line": None,
        "capabilities": None,
        "deprecated_at": None,
        "retires_at": None,
        "max_input_tokens": model.context,
        "max_tokens": model.max_output,
        FIELD: True,
    }


def model_list(models: Sequence[Offered]) -> dict[str, Any]:
    listed = [model_info(model) for model in models]
    return {
        "data": listed,
        "has_more": False,
        "first_id": listed[0]["id"],
        "last_id": listed[-1]["id"],
        FIELD: True,
    }
