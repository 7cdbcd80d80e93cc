"""The models the stub offers: the names the SDKs know, with the limits that show in errors and caching.

Minimum cacheable lengths are those Anthropic publishes per model; where it publishes none, 1,024.
"""

from collections.abc import Mapping
from types import MappingProxyType

from ops.stub.wire import Dialect, Offered, Problem

CLAUDE = (
    "claude-fable-5-2", "claude-mythos-5-2", "claude-haiku-5-5", "claude-sonnet-5-5",
    "claude-fable-5-1", "claude-opus-5-5", "claude-mythos-5-1", "claude-sonnet-5", "claude-fable-5",
    "claude-mythos-5", "claude-opus-5", "claude-opus-4-8", "claude-opus-4-7", "claude-mythos-preview",
    "claude-opus-4-6", "claude-sonnet-4-6", "claude-haiku-4-5", "claude-haiku-4-5-20251001",
    "claude-opus-4-5", "claude-opus-4-5-20251101", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929",
)  # fmt: skip
GPT = (
    "gpt-6.2-sol", "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6-sol", "gpt-6-luna", "gpt-5.6-sol",
    "gpt-5.6-terra", "gpt-5.6-luna", "gpt-5.5", "gpt-5.4", "gpt-5.4-mini", "gpt-5.2", "gpt-5.1",
    "gpt-5", "gpt-5-mini", "gpt-5-nano", "o3", "o4-mini",
)  # fmt: skip
"""Reasoning models: no temperature, and `max_completion_tokens`."""
COMPATIBLE = (
    "gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini",
    "kimi-k2", "kimi-k2-0905-preview", "kimi-k2-thinking", "kimi-k2.5", "kimi-k2.6", "kimi-k3",
    "moonshot-v1-128k",
)  # fmt: skip
"""Servers that take sampling parameters and `max_tokens`."""

_CACHES_FROM = {
    "claude-opus-5": 512, "claude-fable-5": 512, "claude-mythos-5": 512, "claude-opus-4-7": 2_048,
    "claude-opus-4-6": 4_096, "claude-opus-4-5": 4_096, "claude-opus-4-5-20251101": 4_096,
    "claude-haiku-4-5": 4_096, "claude-haiku-4-5-20251001": 4_096,
}  # fmt: skip


class Catalogue:
    """What can be asked, by name. `more` are names of your own, as a local server would have, each with
    the API it is asked by."""

    def __init__(self, more: Mapping[str, Dialect] = MappingProxyType({})) -> None:
        known = {
            **{name: _claude(name) for name in CLAUDE},
            **{name: _chat(name, samples=False) for name in GPT},
            **{name: _chat(name, samples=True) for name in COMPATIBLE},
        }
        added = {
            name: _claude(name) if dialect == "anthropic" else _chat(name, samples=True)
            for name, dialect in more.items()
        }
        self._offered = known | {name: one for name, one in added.items() if name not in known}

    def find(self, name: str, dialect: Dialect) -> Offered:
        """The model of that name.

        Raises:
            Problem: 404, in the words of the API.
        """
        found = self._offered.get(name)
        if found is not None and found.dialect == dialect:
            return found
        if dialect == "anthropic":
            raise Problem(404, "not_found_error", f"model: {name}")
        raise Problem(
            404,
            "invalid_request_error",
            f"The model `{name}` does not exist or you do not have access to it.",
            code="model_not_found",
        )

    def of(self, dialect: Dialect) -> list[Offered]:
        return [model for model in self._offered.values() if model.dialect == dialect]


def _claude(name: str) -> Offered:
    return Offered(name, "anthropic", 200_000, 64_000, _CACHES_FROM.get(name, 1_024), False)


def _chat(name: str, samples: bool) -> Offered:
    return Offered(name, "openai", 256_000, 64_000, 1_024, samples)
