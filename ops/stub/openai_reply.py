"""The shapes in which the OpenAI chat API answers: completions, errors, headers, models.

Sources: the `openai` SDK's response and error types, and OpenAI's pages on errors and rate limits.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ops.stub.admission import Standing
from ops.stub.marker import FIELD
from ops.stub.wire import Answer, Call, Offered, Problem, Stop, Tokens

_STOPS: dict[Stop, str] = {
    "end": "stop", "truncated": "length", "refused": "stop", "tools": "tool_calls",
}  # fmt: skip
_REFUSAL = "I'm sorry, but I can't help with that."
_ERRORS: dict[str, Problem] = {
    "unauthorised": Problem(401, "invalid_request_error", "Incorrect API key provided.", "invalid_api_key"),
    "forbidden": Problem(403, "invalid_request_error", "You are not allowed to sample from this model.", "permission_denied"),
    "no_credit": Problem(429, "insufficient_quota",
                         "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"),
    "context_too_long": Problem(400, "invalid_request_error",
                                "Your input exceeds the context window of this model.", "context_length_exceeded", "messages"),
    "too_large": Problem(413, "invalid_request_error", "Request too large.", "request_too_large"),
    "unprocessable": Problem(422, "invalid_request_error", "The request could not be processed."),
    "rate_limited": Problem(429, "requests", "Rate limit reached. Please try again later.", "rate_limit_exceeded"),
    "server_error": Problem(500, "server_error", "The server had an error while processing your request."),
    "overloaded": Problem(503, "server_error", "The engine is currently overloaded, please try again later."),
}  # fmt: skip


def rejection(fault: str, model: str) -> Problem:
    """The error that a fault of this name is answered with."""
    if fault == "unknown_model":
        return Problem(
            404,
            "invalid_request_error",
            f"The model `{model}` does not exist or you do not have access to it.",
            "model_not_found",
        )
    found = _ERRORS[fault]
    return Problem(found.status, found.type, found.message, found.code, found.param)


def api_key(headers: Mapping[str, str]) -> str | None:
    return headers.get("authorization", "").removeprefix("Bearer").strip() or None


def no_key() -> Problem:
    return Problem(
        401,
        "invalid_request_error",
        "You didn't provide an API key. You need to provide your API key in an Authorization header "
        "using Bearer auth.",
    )


def reply(call: Call, answer: Answer, charged: Tokens, number: int) -> dict[str, Any]:
    """A ChatCompletion."""
    refused = answer.stop == "refused"
    prompt = charged.prompt + charged.cache_read + charged.written
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused or answer.calls else answer.text,
        "refusal": _REFUSAL if refused else None,
        "annotations": [],
    }
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": f"call_simulated_{number:012}_{at}",
                "type": "function",
                "function": {"name": name, "arguments": "{}"},
            }
            for at, name in enumerate(answer.calls)
        ]
    return {
        "id": f"chatcmpl-simulated-{number:012}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": call.model.name,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": _STOPS[answer.stop],
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": charged.output,
            "total_tokens": prompt + charged.output,
            "prompt_tokens_details": {
                "cached_tokens": charged.cache_read,
                "cache_write_tokens": charged.written,
                "audio_tokens": 0,
            },
            "completion_tokens_details": {
                "reasoning_tokens": 0,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        "service_tier": "default",
        "system_fingerprint": "fp_simulated",
        FIELD: True,
    }


def error(problem: Problem, request_id: str) -> dict[str, Any]:
    return {
        "error": {
            "message": problem.message,
            "type": problem.type,
            "param": problem.param,
            "code": problem.code,
        },
        FIELD: True,
    }


def headers(standing: Standing) -> dict[str, str]:
    """Rate-limit headers; `reset` is the time until the limit is full again."""
    return {
        "openai-organization": "simulated",
        "openai-version": "2020-10-01",
        "x-ratelimit-limit-requests": str(standing.requests_a_minute),
        "x-ratelimit-remaining-requests": str(standing.requests_left),
        "x-ratelimit-reset-requests": f"{round(standing.requests_full_in_s * 1000)}ms",
        "x-ratelimit-limit-tokens": str(standing.tokens_a_minute),
        "x-ratelimit-remaining-tokens": str(standing.tokens_left),
        "x-ratelimit-reset-tokens": f"{round(standing.tokens_full_in_s * 1000)}ms",
    }


def model_info(model: Offered) -> dict[str, Any]:
    """One model, as GET /v1/models/{id} tells it."""
    return {
        "id": model.name,
        "object": "model",
        "created": 0,
        "owned_by": "refund-bench-stub",
        FIELD: True,
    }


def model_list(models: Sequence[Offered]) -> dict[str, Any]:
    return {"object": "list", "data": [model_info(model) for model in models], FIELD: True}
