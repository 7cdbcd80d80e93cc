"""Which line of the order a clause speaks of, and how many units of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from streams.llm.offline_rules.patterns import NEGATIONS
from streams.llm.offline_rules.tokens import ITEM, NUMBER, Token

_SMALL = frozenset({
    "with", "and", "of", "the", "in", "a", "an", "for", "on", "to", "or", "style", "cut", "pc",
    "pcs", "no", "x",
})  # fmt: skip
_VESSELS = frozenset({
    "plate", "box", "piece", "portion", "packet", "bowl", "glass", "cup", "bottle", "tub", "jar",
    "pack", "bag", "order", "item", "set", "serving", "full", "half", "large", "small", "medium",
    "regular", "mini", "special", "combo", "meal", "fresh", "hot", "cold", "classic", "extra",
    "double", "single", "big",
})  # fmt: skip
"""Words of a name that say how it comes, not what it is."""


@dataclass(frozen=True)
class Line:
    """A line of the order as a customer might name it."""

    line_id: str
    name: str
    quantity: int
    words: tuple[str, ...]
    head: str
    by_weight: bool


@dataclass(frozen=True)
class Mention:
    """A line named in a clause; `line` is None where the words fit several lines alike."""

    line: Line | None
    start: int
    end: int


def singular(word: str) -> str:
    for ending, instead in (
        ("ies", "y"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("sses", "ss"),
        ("oes", "o"),
    ):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + instead
    return word[:-1] if word.endswith("s") and len(word) > 3 and not word.endswith("ss") else word


def lines_of(record: Mapping[str, Any]) -> tuple[Line, ...]:
    """The goods of a record; none where it has no line items."""
    found: list[Line] = []
    for item in record.get("line_items") or ():
        name = str(item.get("name", ""))
        main = re.split(r"[,(/]", name)[0]
        words = tuple(
            singular(w) for w in re.findall(r"[^\W\d_]+", name.casefold()) if w not in _SMALL
        )
        heads = [singular(w) for w in re.findall(r"[^\W\d_]+", main.casefold()) if w not in _SMALL]
        solid = [w for w in heads if w not in _VESSELS] or heads or list(words) or [""]
        found.append(
            Line(
                line_id=str(item.get("line_id")),
                name=name,
                quantity=int(item.get("quantity") or 1),
                words=words,
                head=solid[-1],
                by_weight=item.get("sold_by") == "weight",
            )
        )
    return tuple(found)


def _near(a: str, b: str) -> bool:
    """The same word, give or take a slip of the pen."""
    if a == b:
        return True
    if min(len(a), len(b)) < 5 or a[0] != b[0] or abs(len(a) - len(b)) > 1:
        return False
    i = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    return (
        a[i + 1 :] == b[i + 1 :] or a[i:] == b[i + 1 :] or a[i + 1 :] == b[i:]
        or (a[i + 2 :] == b[i + 2 :] and a[i : i + 2] == b[i : i + 2][::-1])
    )  # fmt: skip


def _fits(token: Token, line: Line) -> float:
    """How much a word says that this line is meant: the thing itself 2, a trait of it 1, how it comes ¼."""
    word = singular(token.word)
    if not token.is_word or len(word) < 3 or word in _SMALL:
        return 0
    hit = next((w for w in line.words if _near(word, w)), None)
    if hit is None:
        return 0
    return 0.25 if hit in _VESSELS and hit != line.head else 2 if hit == line.head else 1


def mark(tokens: Sequence[Token], lines: Sequence[Line]) -> tuple[Token, ...]:
    """The tokens, those that name goods of the order marked as such."""
    return tuple(
        replace(token, marks=token.marks + ITEM)
        if max((_fits(token, line) for line in lines), default=0) >= 1
        else token
        for token in tokens
    )


_BARE = frozenset({
    "the", "a", "an", "my", "our", "of", "one", "two", "both", "also", "even", "some", "all",
})  # fmt: skip


def join_lists(clauses: Sequence[tuple[Token, ...]]) -> tuple[tuple[Token, ...], ...]:
    """Clauses that only name goods, put together with the clause that says what is the matter with them:
    "the raita, two naans and the dal were missing"."""
    joined: list[tuple[Token, ...]] = []
    waiting: tuple[Token, ...] = ()
    for clause in clauses:
        if _names_goods_only(clause):
            if not waiting and joined and any(ITEM in t.marks for t in joined[-1][-2:]):
                joined[-1] += clause
            else:
                waiting += clause
        else:
            joined.append(waiting + clause)
            waiting = ()
    if waiting:
        joined = [*joined[:-1], joined[-1] + waiting] if joined else [waiting]
    return tuple(joined)


def _names_goods_only(clause: Sequence[Token]) -> bool:
    return any(ITEM in t.marks for t in clause) and all(
        ITEM in t.marks or NUMBER in t.marks or t.word in _BARE for t in clause
    )


def mentions(tokens: Sequence[Token], lines: Sequence[Line]) -> tuple[Mention, ...]:
    """The lines a clause names, in its order, each once."""
    found: list[Mention] = []
    i = 0
    while i < len(tokens):
        if ITEM not in tokens[i].marks:
            i += 1
            continue
        end = i
        while end < len(tokens) and (ITEM in tokens[end].marks):
            end += 1
        scores = {
            line.line_id: sum(_fits(token, line) for token in tokens[max(0, i - 1) : end + 1])
            for line in lines
        }
        top = max(scores.values())
        best = [line for line in lines if scores[line.line_id] == top]
        found.append(Mention(best[0] if len(best) == 1 else None, i, end))
        i = end
    by_head = [
        m for m in found if m.line and any(_fits(t, m.line) >= 2 for t in tokens[m.start : m.end])
    ]
    kept = by_head or found
    seen: set[str] = set()
    unique: list[Mention] = []
    for mention in kept:
        key = mention.line.line_id if mention.line else ""
        if key not in seen:
            seen.add(key)
            unique.append(mention)
    return tuple(unique)


_ORDERED = frozenset({
    "order", "ordered", "asked", "bought", "requested", "wanted", "mangwaye", "mangaye",
    "mangwaya", "mangaya", "mangwayi", "paid", "booked",
})  # fmt: skip
_CAME = frozenset({
    "came", "come", "arrived", "arrive", "received", "receive", "got", "get", "delivered", "sent",
    "gave", "given", "packed", "found", "there", "inside", "present", "reached", "showed", "aaya",
    "aayi", "aaye", "mila", "mili", "mile", "bheja", "diya", "contained", "had", "handed",
    "brought", "turned", "made", "reach",
})  # fmt: skip
_ONLY = frozenset({
    "only", "just", "hi", "sirf", "barely", "merely",
})  # fmt: skip
_ALL = frozenset({
    "all", "both", "every", "none", "neither", "entire", "whole", "each", "any", "everything",
    "dono", "sab", "saare",
})  # fmt: skip
_MISSING = frozenset({
    "missing", "short", "less", "absent", "lost", "gone", "fewer", "gayab", "forgot", "forgotten",
    "missed", "left", "kam",
})  # fmt: skip
_NOT_COUNTS = frozenset({
    "time", "times", "star", "stars", "day", "person", "people", "percent", "way", "more",
})  # fmt: skip


def _count_words(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    found = []
    for i, token in enumerate(tokens):
        number = token.number if NUMBER in token.marks else None
        if token.word == "do" and i + 1 < len(tokens) and ITEM in tokens[i + 1].marks:
            number = 2
        after = tokens[i + 1].word if i + 1 < len(tokens) else ""
        if number and after not in _NOT_COUNTS and not _is_pronoun(tokens, i):
            found.append((i, number))
    return found


def _is_pronoun(tokens: Sequence[Token], i: int) -> bool:
    """ "the wrong one", "no one", "this one": no count."""
    before = tokens[i - 1].word if i else ""
    return tokens[i].word == "one" and before in {
        "wrong",
        "no",
        "this",
        "that",
        "the",
        "right",
        "other",
        "which",
        "different",
        "any",
    }


def _near_any(
    tokens: Sequence[Token], i: int, words: frozenset[str], before: int, after: int
) -> bool:
    return any(t.word in words for t in tokens[max(0, i - before) : i + 1 + after])


def _ordered_at(
    tokens: Sequence[Token], counts: Sequence[tuple[int, int]]
) -> tuple[int, int] | None:
    """The count of what was ordered: "ordered two", "2 naan mangwaye"; None where none is said."""
    for i, n in counts:
        after = [t.word for t in tokens[i : i + 5]]
        if _near_any(tokens, i, _ORDERED, 3, 0) or any(
            w.startswith(("mangwa", "manga", "manway")) for w in after
        ):
            return i, n
    return None


def _came_only(tokens: Sequence[Token], i: int) -> bool:
    """Whether the count at i is of what came: "only one came", "got just two", "ek hi aaya"."""
    around = tokens[max(0, i - 4) : i + 7]
    if any(t.word in NEGATIONS or t.word in _MISSING for t in around):
        return False
    arrived = any(t.word in _CAME for t in around)
    restricted = any(t.word in _ONLY for t in tokens[max(0, i - 4) : i + 4])
    return restricted or arrived


def quantity(
    tokens: Sequence[Token], wider: Sequence[Token], line: Line | None, counts_received: bool
) -> tuple[int | None, bool]:
    """How many units a claim is about, and whether the customer said so.

    Args:
        tokens: the clause of the claim. wider: its sentence and the one before, where orders are told.
        counts_received: for claims about what did not come, a count of what came means the rest.
    """
    ordered = line.quantity if line else None
    if line is not None and line.by_weight:
        return line.quantity, False
    counts = _count_words(tokens)
    for (i, first), (j, second) in pairwise(counts):
        between = {t.word for t in tokens[i + 1 : j]}
        if j - i <= 4 and ("of" in between or "out" in between):
            came = counts_received and _came_only(tokens, i)
            return (second - first if came and second > first else first), True
        if (
            counts_received
            and j - i <= 4
            and between & {"instead", "not", "rather"}
            and second > first
        ):
            return second - first, True
    here = _ordered_at(tokens, counts)
    told = here or _ordered_at(wider, _count_words(wider))
    said = told[1] if told else None
    own = [count for count in counts if count != here or len(counts) == 1]
    words = {t.word for t in tokens}
    if counts_received:
        total = said or ordered
        for i, n in own:
            if total and n < total and _came_only(tokens, i):
                return total - n, True
    if "half" in words or "adha" in words or "aadha" in words:
        return (max(1, ordered // 2) if ordered else None), True
    if own:
        return own[0][1], True
    if words & {"another", "other"} or _single(tokens):
        return 1, True
    if said and said != 1:
        return said, True
    return ordered, bool(words & _ALL)


def _single(tokens: Sequence[Token]) -> bool:
    return any(
        t.word in {"a", "an"} and any(ITEM in x.marks for x in tokens[i + 1 : i + 4])
        for i, t in enumerate(tokens)
    )
