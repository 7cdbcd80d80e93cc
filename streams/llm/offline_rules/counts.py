"""How many units of a line a claim is about, from what the customer counted."""

from collections.abc import Sequence
from itertools import pairwise

from streams.llm.offline_rules.goods import Line
from streams.llm.offline_rules.patterns import NEGATIONS
from streams.llm.offline_rules.tokens import ITEM, NUMBER, Token

_ORDERED = frozenset({
    "order", "ordered", "asked", "bought", "supposed", "billed", "charged", "expected", "should",
    "requested", "wanted", "mangwaye", "mangaye", "mangwaya", "mangaya", "mangwayi", "paid", "booked",
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
_POINTING = frozenset({
    "wrong", "no", "this", "that", "the", "right", "other", "which", "different", "any",
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
    return tokens[i].word == "one" and i > 0 and tokens[i - 1].word in _POINTING


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
        if j - i <= 4 and _of(tokens, j):
            came = counts_received and _came_only(tokens, i)
            return (second - first if came and second > first else first), True
        if (
            counts_received
            and j - i <= 4
            and between & {"instead", "not", "rather"}
            and second > first
        ):
            return second - first, True
    if (
        counts_received
        and len(counts) > 1
        and _out_of(tokens, counts[0][0])
        and counts[1][1] < counts[0][1]
    ):
        return counts[0][1] - counts[1][1], True
    here = _ordered_at(tokens, counts)
    told = here or _ordered_at(wider, _count_words(wider))
    said = told[1] if told else None
    own = [count for count in counts if count != here or len(counts) == 1]
    words = {t.word for t in tokens}
    if counts_received:
        total = said or ordered
        denied = any(t.word in NEGATIONS or t.word in _MISSING for t in tokens)
        for i, n in own:
            if total and n < total and (_came_only(tokens, i) or (here is not None and not denied)):
                return total - n, True
    if "half" in words or "adha" in words or "aadha" in words:
        return (max(1, ordered // 2) if ordered else None), True
    if "single" in words and words & NEGATIONS:
        return ordered, True
    if own:
        return own[0][1], True
    if words & {"another", "other"} or _single(tokens):
        return 1, True
    if said and said != 1:
        return said, True
    return ordered, bool(words & _ALL)


_DETERMINERS = frozenset({"the", "my", "our", "those", "these", "all", "total", "which"})


def _of(tokens: Sequence[Token], j: int) -> bool:
    """Whether the count at j is what another is a part of: "two of the four"."""
    before = [t.word for t in tokens[max(0, j - 2) : j]]
    return before[-1:] == ["of"] or (before[:1] == ["of"] and before[1] in _DETERMINERS)


def _out_of(tokens: Sequence[Token], i: int) -> bool:
    before = [t.word for t in tokens[max(0, i - 3) : i]]
    return "of" in before and ("out" in before or i <= 3)


def _single(tokens: Sequence[Token]) -> bool:
    return any(
        t.word in {"a", "an"} and any(ITEM in x.marks for x in tokens[i + 1 : i + 4])
        for i, t in enumerate(tokens)
    )
