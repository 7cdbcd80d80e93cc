"""What both providers demand of a JSON schema that a reply must follow."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import orjson

UNSUPPORTED = {
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems"),
}
"""Anthropic's grammar does not know these; OpenAI's strict mode takes most of them today."""


@dataclass(frozen=True)
class Verdict:
    """The first place of each kind where a schema does not do; None where it does."""

    open_object: tuple[str, ...] | None
    """An object that does not say `additionalProperties: false`."""
    optional_property: tuple[str, ...] | None
    """An object with a property that is not among those required."""
    unsupported: tuple[str, tuple[str, ...]] | None
    """A type, and the keywords beside it that its grammar does not know."""


def verdict(schema: Any) -> Verdict:
    """What is wrong with a schema. Callers send the same few with every call, so it is worked out once."""
    return _verdict(orjson.dumps(schema))


@lru_cache(maxsize=64)
def _verdict(raw: bytes) -> Verdict:
    parts = list(_parts(orjson.loads(raw), ()))
    return Verdict(
        next((at for at, part in parts if _is_open(part)), None),
        next((at for at, part in parts if _has_optional(part)), None),
        next((found for _, part in parts for found in _unsupported(part)), None),
    )


def _is_open(part: Mapping[str, Any]) -> bool:
    return "object" in _types(part) and part.get("additionalProperties") is not False


def _has_optional(part: Mapping[str, Any]) -> bool:
    required = part.get("required") or ()
    return any(name not in required for name in part.get("properties") or ())


def _unsupported(part: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for name in _types(part):
        if found := tuple(word for word in UNSUPPORTED.get(name, ()) if word in part):
            yield name, found


def _types(part: Mapping[str, Any]) -> tuple[str, ...]:
    said = part.get("type")
    return (said,) if isinstance(said, str) else tuple(said) if isinstance(said, list) else ()


def _parts(
    schema: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The schema and every schema inside it, each with the way to it."""
    if not isinstance(schema, dict):
        return
    yield path, schema
    for name in ("properties", "$defs"):
        inner = schema.get(name)
        if isinstance(inner, dict):
            for key, part in inner.items():
                yield from _parts(part, (*path, name, key))
    yield from _parts(schema.get("items"), (*path, "items"))
    for name in ("anyOf", "allOf"):
        for number, part in enumerate(schema.get(name) or ()):
            yield from _parts(part, (*path, name, str(number)))
