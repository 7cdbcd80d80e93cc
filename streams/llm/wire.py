"""What an adapter has to do: send one conversation, and tell the answer or the failure in our words."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from schemas.docket import Usage
from streams import retry_after
from streams.llm.port import Failure, Misconfigured, Overloaded, ProviderDown
from streams.llm.rendering import Rendered

SIMULATED_HEADER = "x-refund-bench-simulated"
"""What a stand-in's every reply carries; a ruling from it never reaches a real gateway."""
MALFORMED = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What the SDKs, which check nothing, and our reading of what they hand out raise where a 200 is not of
the API's shape: not JSON, not UTF-8, nested without end, or another type where an object should be."""
NOT_PROMISED = "the answer was not what the API promises"
MOST_TOKENS = 100_000_000
"""Of one call; a provider that tells more tells nonsense."""
_TOO_LONG = ("prompt is too long", "context length", "context window", "too many tokens")
_UNPAID = ("credit balance", "insufficient_quota", "billing_error")


@dataclass(frozen=True)
class ToolCall:
    """A judge's question to the frozen snapshot."""

    id: str
    name: str


@dataclass(frozen=True)
class Answer:
    """One reply as the provider gave it."""

    text: str = ""
    failure: Failure | None = None
    problem: str | None = None
    calls: tuple[ToolCall, ...] = ()
    echo: Any = None
    """The assistant's turn in the provider's own shape, to be sent back with the answers to its calls."""
    usage: Usage = field(default_factory=Usage)
    """Tokens only."""
    request_id: str | None = None
    simulated: bool = False


@dataclass(frozen=True)
class Exchange:
    """An answer that asked for evidence, and what it was given: JSON by call."""

    answer: Answer
    results: tuple[tuple[ToolCall, str], ...]


class Transport(Protocol):
    """One provider and model over the network."""

    async def send(self, rendered: Rendered, exchanges: Sequence[Exchange] = ()) -> Answer:
        """Raises: Overloaded, ProviderDown, Misconfigured; TimeoutError where no answer came in time."""
        ...

    async def check(self) -> None:
        """Ask the provider, at no cost, whether key and model are good.

        Raises:
            Misconfigured: they are not.
            ProviderDown, Overloaded: it could not be asked.
        """
        ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True)
class Access:
    """How a provider is reached. The key is in no repr: those end up in logs."""

    provider: str
    model: str
    base_url: str
    key: str = field(repr=False)
    key_setting: str
    timeout_s: float
    is_real: bool
    """False for a host that is not on the allow-list: whatever it says is `simulated`."""


def storable(value: Any) -> Any:
    """A JSON value as it can be sent on: half a surrogate pair, which no UTF-8 can hold, becomes a `?`."""
    try:
        orjson.dumps(value)
    except TypeError:
        return json.loads(json.dumps(value, ensure_ascii=False).encode(errors="replace"))
    return value


def as_json(request: dict[str, Any]) -> bytes:
    """A request's body, for the SDKs' own `post`. Their typed methods copy and check what we have just
    built, for a third of what a call costs in CPU; key, headers, errors and timeouts are the same."""
    return orjson.dumps(request)


def told_usage(read: Any, output: Any, cache_read: Any = None, cache_write: Any = None) -> Usage:
    """The tokens that a provider tells; the limits of spending rest on them, so nonsense is no usage.

    Args:
        read: all that was read, from the cache or not.

    Raises:
        ProviderDown: not whole numbers from 0, or more from the cache than was read.
    """
    counts = [read, *(0 if one is None else one for one in (output, cache_read, cache_write))]
    sound = all(type(one) is int and 0 <= one <= MOST_TOKENS for one in counts)
    if not sound or counts[2] + counts[3] > counts[0]:
        raise ProviderDown("the answer tells no usage that can be")
    return Usage(
        input_tokens=counts[0],
        output_tokens=counts[1],
        cache_read_tokens=counts[2],
        cache_write_tokens=counts[3],
    )


def refusal(status: int, said: str, access: Access, after: str | None) -> Answer:
    """What an error status means: an answer that says why there is none, or one of the three errors.

    Providers word their messages as they like and may repeat a key in them, so none is passed on.

    Raises:
        Overloaded, ProviderDown, Misconfigured
    """
    words = said.casefold()
    where = f"{access.provider} at {access.base_url}"
    if status in (401, 403):
        raise Misconfigured(
            f"{where} refused the key ({status}); set {access.key_setting or 'a key'} to a valid one "
            f"that may use {access.model}"
        )
    if status == 402 or any(sign in words for sign in _UNPAID):
        raise Misconfigured(f"{where} wants to be paid ({status}); see the account's billing")
    if status == 404:
        raise Misconfigured(f"{where} has no model {access.model!r} (404); name another")
    if status == 413 or (status == 400 and any(sign in words for sign in _TOO_LONG)):
        return Answer(failure="too_long", problem=f"the prompt is too long for {access.model}")
    if status in (400, 405, 409, 415, 422):
        return Answer(failure="not_accepted", problem=f"{where} does not accept it ({status})")
    if status in (429, 503, 529):
        raise Overloaded(retry_after.seconds(after))
    raise ProviderDown(f"{where} answered {status}", answered=status >= 500)
