"""A rendered prompt taken apart: the headed blocks of `streams.llm.rendering`, without believing a heading
that stands inside a customer's words."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

_HEADING = re.compile(r"^# (\w+)$")
_OPENS = re.compile(r"^<<data ([0-9a-f]{16})>>$")


@dataclass(frozen=True)
class Section:
    """What stands below one heading: our own lines, and what was fenced as somebody else's."""

    ours: str
    theirs: str | None

    def object(self) -> dict[str, Any]:
        """Our lines, or where there are none the fenced text, as a JSON object.

        Raises:
            ValueError: not one.
        """
        return _object(self.ours or self.theirs or "")

    def fenced_object(self) -> dict[str, Any]:
        """The fenced text as a JSON object.

        Raises:
            ValueError: not one.
        """
        return _object(self.theirs or "")


def sections(turn: str) -> Mapping[str, Section]:
    """The sections of a user's turn by heading; the first of a name counts."""
    found: dict[str, Section] = {}
    lines = iter(turn.split("\n"))
    name, ours, theirs = "", list[str](), None
    for line in lines:
        if heading := _HEADING.match(line):
            _keep(found, name, ours, theirs)
            name, ours, theirs = heading[1], [], None
        elif opens := _OPENS.match(line):
            closes = f"<<end {opens[1]}>>"
            fenced: list[str] = []
            for inner in lines:
                if inner == closes:
                    break
                fenced.append(inner)
            theirs = "\n".join(fenced)
        else:
            ours.append(line)
    _keep(found, name, ours, theirs)
    return found


def _keep(found: dict[str, Section], name: str, ours: list[str], theirs: str | None) -> None:
    if name:
        found.setdefault(name, Section("\n".join(ours).strip(), theirs))


def _object(text: str) -> dict[str, Any]:
    value = orjson.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value
