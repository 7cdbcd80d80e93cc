"""Which changes of an event's JSON Schema break whom.

A *reader* is compatible with a *writer* when it takes every document the writer may send and still
finds in it what it reads. Read with the checked-in schema as the one side and the new one as the other
this gives both questions:

| change | upstream writers (old documents, new reader) | downstream readers (new documents, old reader) |
|---|---|---|
| a field removed | breaks: what they say is no longer read | breaks: what they read is no longer sent |
| an optional field added | fine | fine: unknown fields are ignored |
| a required field added | breaks: old documents lack it | fine |
| required made optional | fine | breaks: it may be missing |
| optional made required | breaks | fine |
| a type or bound narrowed, null no longer taken | breaks | fine |
| a type or bound widened, null newly possible | fine | breaks |
| an enum value removed | breaks: they may still send it | fine |
| an enum value added | fine | breaks: they do not know it |
| a pattern or format added or changed | breaks | breaks when changed or removed |
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Schema = dict[str, Any]
Side = Literal["writers", "readers"]

_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems")
_EXACT = ("pattern", "format")


@dataclass(frozen=True)
class Break:
    """One reason why a change is not compatible, for whom, and where."""

    side: Side
    path: str
    problem: str

    def __str__(self) -> str:
        return f"{self.path or 'record'}: {self.problem} (breaks {self.side})"


def breaks(old: Schema, new: Schema, *sides: Side) -> list[Break]:
    """Every incompatibility of replacing `old` by `new`; both sides unless named."""
    found: list[Break] = []
    for side in sides or ("writers", "readers"):
        reader, writer = (new, old) if side == "writers" else (old, new)
        found += [
            Break(side, path, problem) for path, problem in _Pair(reader, writer, side).problems()
        ]
    return found


class _Pair:
    """One reader's and one writer's schema, compared from the root."""

    def __init__(self, reader: Schema, writer: Schema, side: Side) -> None:
        self._reader = reader
        self._writer = writer
        self._side = side
        self._under_way: set[tuple[str, str]] = set()

    def problems(self) -> Iterator[tuple[str, str]]:
        yield from self._compare(self._reader, self._writer, "")

    def _compare(self, reader: Schema, writer: Schema, path: str) -> Iterator[tuple[str, str]]:
        refs = (str(reader.get("$ref")), str(writer.get("$ref")))
        if refs in self._under_way and refs != ("None", "None"):
            return  # a model that holds itself; already being compared
        self._under_way.add(refs)
        yield from self._variants(
            _resolve(reader, self._reader), _resolve(writer, self._writer), path
        )
        self._under_way.discard(refs)

    def _variants(self, reader: Schema, writer: Schema, path: str) -> Iterator[tuple[str, str]]:
        """Each variant the writer may send must be one the reader takes."""
        takes, sends = _options(reader), _options(writer)
        if len(takes) == 1 and len(sends) == 1:
            yield from self._plain(takes[0], sends[0], path)
            return
        for sent in sends:
            refusals = [list(self._compare(taken, sent, path)) for taken in takes]
            if all(refusals):
                yield min(refusals, key=len)[0]

    def _plain(self, reader: Schema, writer: Schema, path: str) -> Iterator[tuple[str, str]]:
        reader, writer = _resolve(reader, self._reader), _resolve(writer, self._writer)
        takes, sends = _values(reader), _values(writer)
        if takes is not None:
            if sends is None:
                yield path, f"only {sorted(map(str, takes))} is taken, anything may be sent"
            elif unknown := sorted(map(str, sends - takes)):
                yield path, f"value {', '.join(unknown)} is not taken"
            return
        if problem := _types(reader, writer):
            yield path, problem
            return
        yield from self._bounds(reader, writer, path)
        if "properties" in reader or "properties" in writer:
            yield from self._fields(reader, writer, path)
        yield from self._inner(reader, writer, "items", f"{path}[]")
        yield from self._inner(reader, writer, "additionalProperties", f"{path}.*")

    def _bounds(self, reader: Schema, writer: Schema, path: str) -> Iterator[tuple[str, str]]:
        for name in _LOWER:
            if name in reader and writer.get(name, float("-inf")) < reader[name]:
                yield path, f"{name} {reader[name]} is above what may be sent"
        for name in _UPPER:
            if name in reader and writer.get(name, float("inf")) > reader[name]:
                yield path, f"{name} {reader[name]} is below what may be sent"
        for name in _EXACT:
            if name in reader and writer.get(name) != reader[name]:
                yield path, f"{name} {reader[name]!r} is asked for, {writer.get(name)!r} is sent"

    def _fields(self, reader: Schema, writer: Schema, path: str) -> Iterator[tuple[str, str]]:
        read, sent = reader.get("properties", {}), writer.get("properties", {})
        required, always = set(reader.get("required", ())), set(writer.get("required", ()))
        for name in sorted(required - always):
            where = "may be left out" if name in sent else "is not sent"
            yield _join(path, name), f"is required but {where}"
        for name, field in sent.items():
            if name in read:
                yield from self._compare(read[name], field, _join(path, name))
            elif reader.get("additionalProperties") is False:
                yield _join(path, name), "is not allowed"
            elif self._side == "writers":
                yield _join(path, name), "is no longer read"
        if self._side == "readers":
            for name in read.keys() - sent.keys() - required:
                yield _join(path, name), "is no longer sent"

    def _inner(
        self, reader: Schema, writer: Schema, name: str, path: str
    ) -> Iterator[tuple[str, str]]:
        takes, sends = reader.get(name), writer.get(name)
        if isinstance(takes, dict) and takes:
            yield from self._compare(takes, sends if isinstance(sends, dict) else {}, path)


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _resolve(schema: Schema, root: Schema) -> Schema:
    """The schema a `$ref` points to, with what stands beside the reference."""
    while "$ref" in schema:
        beside = {key: value for key, value in schema.items() if key != "$ref"}
        target: Any = root
        for part in str(schema["$ref"]).removeprefix("#/").split("/"):
            target = target[part]
        schema = {**target, **beside}
    return schema


def _options(schema: Schema) -> list[Schema]:
    """The variants of an `anyOf` or `oneOf`; a schema without them is its own only variant."""
    options: list[Schema] = schema.get("anyOf") or schema.get("oneOf") or [schema]
    return options


def _values(schema: Schema) -> set[Any] | None:
    """The values of an enum or constant; None where any is taken."""
    if "const" in schema:
        return {schema["const"]}
    return set(schema["enum"]) if "enum" in schema else None


def _types(reader: Schema, writer: Schema) -> str | None:
    takes, sends = _type_set(reader), _type_set(writer)
    if not takes:
        return None
    if "number" in takes:
        takes = takes | {"integer"}
    if not sends:
        return f"only {', '.join(sorted(takes))} is taken, anything may be sent"
    refused = sends - takes
    return f"{', '.join(sorted(refused))} is not taken" if refused else None


def _type_set(schema: Schema) -> set[str]:
    found = schema.get("type", ())
    if not found and (values := _values(schema)):
        return {_TYPE_NAMES[type(value)] for value in values}
    return {found} if isinstance(found, str) else set(found)


_TYPE_NAMES = {
    str: "string",
    bool: "boolean",
    int: "integer",
    float: "number",
    type(None): "null",
}
