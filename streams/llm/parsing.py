"""From a model's words to a draft, or to what was wrong with them in words that help it to do better."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from pydantic import ValidationError

from schemas.base import Model as Value
from streams.llm.port import Failure

V = TypeVar("V", bound=Value)
T = TypeVar("T")
MOST_STARTS = 100
"""Braces that may turn out to begin nothing. Each costs a look through the rest of the text, and a reply
of many would hold up every other call of the process."""
MOST_OBJECTS = 10
"""Counted; one is right and two are wrong."""


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object in which no field is said twice, differently: the last would silently win.

    Raises:
        ValueError
    """
    found = dict(pairs)
    if len(found) != len(pairs) and any(found[name] != value for name, value in pairs):
        raise ValueError("a field is said twice")
    return found


_DECODER = json.JSONDecoder(parse_constant=lambda constant: None, object_pairs_hook=_said_once)
_BEGINS = re.compile(r'\{\s*"')


@dataclass(frozen=True)
class Parsed(Generic[T]):
    """The draft, or None with a failure and a problem."""

    draft: T | None
    failure: Failure | None = None
    problem: str | None = None


def parse(text: str, shape: type[V]) -> Parsed[V]:
    """The one JSON object in a reply, as `shape`. Prose around it is passed over; a second, different
    object is not, for nobody could say which of the two the model meant."""
    if not text.strip():
        return Parsed(None, "empty", "the reply is empty; answer with the JSON object")
    found = _objects(text)
    if not found:
        return Parsed(
            None,
            "not_json",
            "the reply holds no JSON object that can be read; answer with it alone, each field once",
        )
    if len(found) > 1:
        return Parsed(
            None, "several", f"the reply holds {len(found)} JSON objects; answer with one"
        )
    try:
        return Parsed(shape.model_validate(found[0]))
    except ValidationError as error:
        return Parsed(None, "schema", _faults(error))


def parse_letter(text: str) -> Parsed[str]:
    """The letter in a reply."""
    if not text.strip():
        return Parsed(None, "empty", "the reply is empty; answer with the text of the message")
    return Parsed(text.strip())


def _objects(text: str) -> list[dict[str, Any]]:
    """The top-level JSON objects in a text, repeats once; none where one of them is broken."""
    distinct: list[dict[str, Any]] = []
    try:
        for one in _scan(text):
            if one not in distinct:
                distinct.append(one)
            if len(distinct) >= MOST_OBJECTS:
                break
    except _Broken:
        return []
    return distinct


class _Broken(Exception):
    """An object begins that cannot be read. What stands inside it, or beside it, is not the answer."""


def _scan(text: str) -> Iterator[dict[str, Any]]:
    at, in_vain = text.find("{"), 0
    while at != -1 and in_vain < MOST_STARTS:
        try:
            value, end = _DECODER.raw_decode(text, at)
            orjson.dumps(value)  # half a surrogate pair, or a number of many digits, fits no event
        except RecursionError:
            # Every brace inside is nested as deep again: trying each would hold the event loop for seconds.
            raise _Broken from None
        except (ValueError, TypeError):
            if _BEGINS.match(text, at):
                raise _Broken from None
            end, in_vain = at + 1, in_vain + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)


def _faults(error: ValidationError) -> str:
    """Each field that is wrong; the values stay out, they may be a customer's words."""
    return "; ".join(
        f"{'.'.join(map(str, fault['loc'])) or 'reply'}: {fault['msg']}"
        for fault in error.errors(include_input=False, include_url=False)[:10]
    )
