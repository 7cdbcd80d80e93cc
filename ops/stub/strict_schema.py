"""What both providers demand of a JSON schema that a reply must follow."""

from collections.abc import Iterator, Mapping
from typing import Any

UNSUPPORTED = {
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    "string": ("minLength", "maxLength"),
    "array": ("maxItems", "uniqueItems"),
}
"""Anthropic's grammar does not know these; OpenAI's strict mode takes most of them today."""


def open_objects(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Where an object does not say `additionalProperties: false`."""
    for where, part in _parts(schema, path):
        if "object" in _types(part) and part.get("additionalProperties") is not False:
            yield where


def optional_properties(
    schema: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Where a property is not among those required, and its name."""
    for where, part in _parts(schema, path):
        properties = part.get("properties")
        if isinstance(properties, Mapping):
            required = part.get("required") or ()
            yield from ((where, name) for name in properties if name not in required)


def unsupported_keywords(
    schema: Any, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, list[str]]]:
    """A type, and the keywords beside it that its grammar does not know."""
    for _, part in _parts(schema, path):
        for name in _types(part):
            if found := [word for word in UNSUPPORTED.get(name, ()) if word in part]:
                yield name, found


def _types(part: Mapping[str, Any]) -> tuple[str, ...]:
    said = part.get("type")
    return (said,) if isinstance(said, str) else tuple(said) if isinstance(said, list) else ()


def _parts(
    schema: Any, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """The schema and every schema inside it, each with the way to it."""
    if not isinstance(schema, Mapping):
        return
    yield path, schema
    for name in ("properties", "$defs"):
        inner = schema.get(name)
        if isinstance(inner, Mapping):
            for key, part in inner.items():
                yield from _parts(part, (*path, name, key))
    yield from _parts(schema.get("items"), (*path, "items"))
    for name in ("anyOf", "allOf"):
        for number, part in enumerate(schema.get(name) or ()):
            yield from _parts(part, (*path, name, str(number)))
