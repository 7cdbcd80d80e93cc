"""The two APIs side by side: the same four questions, answered by the modules of each."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ops.stub import anthropic_reply, anthropic_request, openai_reply, openai_request
from ops.stub.admission import Standing
from ops.stub.catalogue import Catalogue
from ops.stub.wire import Answer, Call, Dialect, Offered, Problem, Tokens


@dataclass(frozen=True)
class Api:
    dialect: Dialect
    request_id: str
    """The header that names a request."""
    api_key: Callable[[Mapping[str, str]], str | None]
    no_key: Callable[[], Problem]
    read: Callable[[Mapping[str, str], Mapping[str, Any], Catalogue], Call]
    reply: Callable[[Call, Answer, Tokens, int], dict[str, Any]]
    error: Callable[[Problem, str], dict[str, Any]]
    rejection: Callable[[str, str], Problem]
    headers: Callable[[Standing], dict[str, str]]
    model_info: Callable[[Offered], dict[str, Any]]
    model_list: Callable[[Sequence[Offered]], dict[str, Any]]


ANTHROPIC = Api(
    "anthropic",
    "request-id",
    anthropic_reply.api_key,
    anthropic_reply.no_key,
    anthropic_request.read,
    anthropic_reply.reply,
    anthropic_reply.error,
    anthropic_reply.rejection,
    anthropic_reply.headers,
    anthropic_reply.model_info,
    anthropic_reply.model_list,
)
OPENAI = Api(
    "openai",
    "x-request-id",
    openai_reply.api_key,
    openai_reply.no_key,
    openai_request.read,
    openai_reply.reply,
    openai_reply.error,
    openai_reply.rejection,
    openai_reply.headers,
    openai_reply.model_info,
    openai_reply.model_list,
)


def check_key(api: Api, headers: Mapping[str, str]) -> None:
    """Any key will do, save `revoked…` and `forbidden…`.

    Raises:
        Problem: 401 or 403, in the words of the API.
    """
    key = api.api_key(headers)
    if key is None:
        raise api.no_key()
    if key.startswith("revoked"):
        raise api.rejection("unauthorised", "")
    if key.startswith("forbidden"):
        raise api.rejection("forbidden", "")
