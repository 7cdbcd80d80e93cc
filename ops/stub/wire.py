"""A call as both APIs mean it, and what may be answered."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

CHARACTERS_A_TOKEN = 4

Dialect = Literal["anthropic", "openai"]
Stop = Literal["end", "truncated", "refused", "tools"]


class Problem(Exception):
    """A request that is refused, in the words and codes of the API it came by."""

    def __init__(
        self,
        status: int,
        type: str,
        message: str,
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.type = type
        self.message = message
        self.code = code
        self.param = param


@dataclass(frozen=True)
class Offered:
    """A model that can be asked."""

    name: str
    dialect: Dialect
    context: int
    """Tokens that prompt and answer share."""
    max_output: int
    cache_from: int
    """Tokens below which a prefix is not cached, and nothing says so."""
    samples: bool
    """Takes temperature, top_p and `max_tokens` (OpenAI) as its API once did."""


@dataclass(frozen=True)
class Turn:
    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True)
class Piece:
    """A stretch of the prompt as a prompt cache sees it; a breakpoint stands behind it where `keep_s` is set."""

    text: str
    keep_s: float | None = None


@dataclass(frozen=True)
class Call:
    """One request, read and found sound."""

    model: Offered
    system: str
    turns: tuple[Turn, ...]
    pieces: tuple[Piece, ...]
    max_tokens: int
    tools: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    """What the tools called so far have answered, in order."""

    @property
    def tokens(self) -> int:
        return tokens(sum(len(piece.text) for piece in self.pieces))


@dataclass(frozen=True)
class Answer:
    """What a model says, before it is put into the shape of an API."""

    text: str = ""
    stop: Stop = "end"
    calls: tuple[str, ...] = ()
    """Names of the tools it wants called, each without arguments."""


@dataclass(frozen=True)
class Tokens:
    """What a call is charged for. Cached tokens are not among `prompt`."""

    prompt: int
    output: int = 0
    cache_read: int = 0
    cache_write: Mapping[float, int] = field(default_factory=dict)
    """By the seconds the entry is kept."""

    @property
    def written(self) -> int:
        return sum(self.cache_write.values())


def tokens(characters: int) -> int:
    """Deterministic and about right for English: a token is four characters, a started one counts."""
    return -(-characters // CHARACTERS_A_TOKEN)


def whole(value: Any) -> bool:
    """A JSON integer; JSON's `true` is not one."""
    return isinstance(value, int) and not isinstance(value, bool)
