"""Which lines of the order a clause speaks of."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

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
    "the soup, two rolls and the salad were missing"."""
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


_INTO = frozenset({"into", "onto", "over", "near", "beside", "inside"})
"""What stands after these is where something went, not what it was."""


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
    free = [
        m for m in kept if not any(t.word in _INTO for t in tokens[max(0, m.start - 2) : m.start])
    ]
    kept = free or kept
    seen: set[str] = set()
    unique: list[Mention] = []
    for mention in kept:
        key = mention.line.line_id if mention.line else ""
        if key not in seen:
            seen.add(key)
            unique.append(mention)
    return tuple(unique)
