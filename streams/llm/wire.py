"""What an adapter has to do: send one conversation, and tell the answer or the failure in our words."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from schemas.docket import Usage
from streams import retry_after
from streams.llm.port import Failure, Misconfigured, Overloaded, ProviderDown
from streams.llm.rendering import Rendered

SIMULATED_HEADER = "x-refund-bench-simulated"
"""What a stand-in's every reply carries; a ruling from it never reaches a real gateway."""
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
