"""Instruction-like content in what customers and records say: found, recorded, never obeyed.

A flag neither blocks nor decides; it forces a person. The rules look for text that speaks *to the
machinery* (roles, prompts, rulings, checks). A customer who shouts "refund everything now" makes a
demand, and no rule here may mistake that for an instruction.
"""

import base64
import binascii
import hashlib
import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import unquote

from schemas.dispute import ScreeningFlag
from streams.screening_rules import HIDDEN, LOOK_ALIKES, RULES

_FORMAT_KEPT = frozenset("\n\t")
_LEET = str.maketrans(
    {"0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t", "@": "a", "$": "s"}
)
_MIXED = re.compile(r"\b(?=\w*[a-z@$])(?=[\w@$]*[0-9@$])[\w@$]{3,}")
_SPELT_OUT = re.compile(r"(?<!\w)(?:\w[ .\-_*]){3,}\w(?!\w)")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")


def normalise(text: str) -> str:
    """The text as rules read it: NFKC, invisible characters gone, look-alikes and case folded."""
    folded = unicodedata.normalize("NFKC", html.unescape(text)).translate(LOOK_ALIKES).casefold()
    folded = unicodedata.normalize("NFKC", folded).translate(LOOK_ALIKES)
    shown = (
        char
        for char in folded
        if char in _FORMAT_KEPT or unicodedata.category(char) not in {"Cf", "Cc", "Cs", "Co"}
    )
    lines = (" ".join(line.split()) for line in "".join(shown).split("\n"))
    return "\n".join(line for line in lines if line)


def _readable(raw: bytes) -> str | None:
    """The bytes as text, where they look like something a person wrote."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return None
    said = sum(char.isalpha() or char.isspace() for char in text)
    return text if len(text) >= 8 and said >= 0.75 * len(text) else None


def _views(text: str) -> Iterator[str]:
    """The text, and each disguise of it taken off."""
    plain = normalise(text)
    yield plain
    if "%" in text and (decoded := unquote(text)) != text:
        yield normalise(decoded)
    if _MIXED.search(plain):
        yield _MIXED.sub(lambda found: found.group().translate(_LEET), plain)
    if _SPELT_OUT.search(plain):
        yield _SPELT_OUT.sub(lambda found: re.sub(r"[ .\-_*]", "", found.group()), plain)
    for found in _BASE64.finditer(text):
        body = found.group().replace("-", "+").replace("_", "/").rstrip("=")
        try:
            raw = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
        except (binascii.Error, ValueError):
            continue
        if (said := _readable(raw)) is not None:
            yield normalise(said)


def rules_in(text: str, extra: Sequence[re.Pattern[str]] = ()) -> tuple[str, ...]:
    """The names of the rules that match the text, each once, in the order of the rule set."""
    hit: set[str] = {HIDDEN.name} if HIDDEN.pattern.search(text) else set()
    for view in _views(text):
        hit |= {rule.name for rule in RULES if rule.pattern.search(view)}
        hit |= {f"pack.{i}" for i, pattern in enumerate(extra, 1) if pattern.search(view)}
    names = [
        HIDDEN.name,
        *(rule.name for rule in RULES),
        *(f"pack.{i}" for i in range(1, len(extra) + 1)),
    ]
    return tuple(name for name in dict.fromkeys(names) if name in hit)


def _strings(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """Every string of an evidence body with its path; names of fields are text too.

    Recursive: intake refuses a body of more than `MAX_NESTING` levels.
    """
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            name = str(key)
            below = f"{path}.{name}" if re.fullmatch(r"[\w-]{1,60}", name) else f"{path}.?"
            yield below, name.replace("_", " ")
            yield from _strings(inner, below)
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _strings(inner, f"{path}.{i}")


def screen(
    text: str, evidence: dict[str, Any] | None, extra_patterns: Sequence[str] = ()
) -> tuple[ScreeningFlag, ...]:
    """What in a complaint and its evidence reads like an instruction to the system.

    Args:
        extra_patterns: the pack's own regular expressions; they see normalised, lower-case text.

    Raises:
        re.error: an extra pattern is not a regular expression (`pack check` finds it first).
    """
    extra = [re.compile(pattern, re.IGNORECASE) for pattern in extra_patterns]
    places = [("complaint", text), *_strings(evidence, "evidence")]
    flags = (
        ScreeningFlag(rule=rule, where=where)
        for where, said in places
        for rule in rules_in(said, extra)
    )
    return tuple(dict.fromkeys(flags))


def fence(text: str) -> str:
    """The text between markers that it cannot contain, for a prompt that treats it as data.

    The marker is taken from the text's own hash, so no text can close its fence.
    """
    clean = text
    if not text.replace("\n", "").replace("\t", "").isprintable():
        # Only then is a character looked up: this is done to every prompt.
        clean = "".join(
            c
            for c in text
            if c in _FORMAT_KEPT or unicodedata.category(c) not in {"Cc", "Cf", "Cs", "Co"}
        )
    tag = hashlib.sha256(clean.encode()).hexdigest()[:16]
    return f"<<data {tag}>>\n{clean}\n<<end {tag}>>"
