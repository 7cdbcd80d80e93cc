"""Reads JSON lines as strictly as the apps do, and says what is wrong in words that name the field.

The apps read with orjson, which refuses NaN, lone surrogates and raw control characters. What it
refuses is read again here, more leniently, only to find the place; the value is never used.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import orjson

from schemas.evidence import MAX_NESTING, is_too_deep

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Problem:
    """What is wrong with a line, and what to do. Quotes no text of the customer's."""

    line: int
    field: str
    """Dotted path, `evidence.line_items.0.quantity`; empty where it is the whole line."""
    problem: str
    remedy: str


def split(raw: bytes) -> list[tuple[int, bytes]]:
    """The lines that hold something, numbered from 1; one object over many lines is line 1."""
    raw = raw.removeprefix(BOM)
    lines = [
        (number, line.strip(b" \t\r"))
        for number, line in enumerate(raw.split(b"\n"), 1)
        if line.strip(b" \t\r")
    ]
    if len(lines) > 1 and not _is_object(lines[0][1]) and _is_object(raw):
        return [(lines[0][0], raw)]
    return lines


def _is_object(raw: bytes) -> bool:
    try:
        return isinstance(orjson.loads(raw), dict)
    except orjson.JSONDecodeError:
        return False


def read_object(line: int, raw: bytes) -> dict[str, Any] | Problem:
    """The JSON object on a line, or why there is none."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return _diagnose(line, raw, error)
    if isinstance(value, dict):
        if is_too_deep(value, MAX_NESTING + 2):
            return Problem(
                line, "", f"is nested more than {MAX_NESTING} levels deep", "send it flatter"
            )
        return value
    kind = {list: "array", str: "string", type(None): "null"}.get(type(value), "number or boolean")
    return Problem(line, "", f"is a JSON {kind}, not an object", "put one JSON object on each line")


def _diagnose(line: int, raw: bytes, error: orjson.JSONDecodeError) -> Problem:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as bad:
        return Problem(line, "", f"is not UTF-8 at byte {bad.start}", "save the file as UTF-8")
    control = next((byte for byte in raw if byte < 32 and byte not in b"\t\r\n"), None)
    if control is not None:
        name = "a NUL byte" if control == 0 else f"a raw control character (0x{control:02x})"
        place = raw.index(control) + 1
        return Problem(
            line, "", f"holds {name} at byte {place}", "remove it, or escape it as JSON does"
        )
    try:
        lenient = json.loads(raw, parse_constant=_constant)
    except _Constant as found:
        return Problem(
            line, "", f"holds {found}, which JSON does not know", "leave out what was not measured"
        )
    except (ValueError, RecursionError):
        where = str(error)
        return Problem(line, "", f"is not JSON: {where}", "put one JSON object on each line")
    field = next(_lone_surrogates(lenient), None)
    if field is not None:
        return Problem(
            line,
            field.removeprefix("complaint."),
            "holds half of a character (a lone surrogate)",
            "send whole characters",
        )
    return Problem(
        line, "", f"cannot be read: {error}", "send numbers that fit 64 bits, and plain JSON"
    )


class _Constant(Exception):
    """NaN or Infinity was met."""


def _constant(name: str) -> NoReturn:
    raise _Constant(name)


def _lone_surrogates(value: Any, path: str = "") -> Iterator[str]:
    """The fields whose text cannot be written as UTF-8."""
    if isinstance(value, str):
        if any(0xD800 <= ord(c) < 0xE000 for c in value):
            yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _lone_surrogates(key, path)
            yield from _lone_surrogates(item, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _lone_surrogates(item, f"{path}.{index}")
