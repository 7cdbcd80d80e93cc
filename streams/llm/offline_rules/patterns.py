"""The phrase language of offline.toml: words, `a|b`, `stem*`, `...` for up to five words, `{class}`.

`{no} ... receiv*` finds "have still not received"; a phrase without `{no}` does not hold where the
text negates it ("was not rude"). `{start}` and `{end}` tie a phrase to the edge of its clause.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from streams.llm.offline_rules.tokens import CLOCK, DURATION, ITEM, MONEY, NUMBER, WEIGHT, Token

NEGATIONS = frozenset({
    "no", "not", "never", "none", "without", "neither", "nor", "nahi", "nahin", "nhi", "na", "dont",
    "didnt", "wasnt", "isnt", "wont", "cant", "zero", "hardly",
})  # fmt: skip
_SOFT = frozenset(
    {"only", "just", "sure", "even", "know", "idea", "one", "wonder", "doubt", "matter"}
)
"""After a negation these take its sting: "not only late", "no one", "no wonder"."""
_MARKED = "[#@$~%¤]*"
_CLASSES = {
    "{no}": "(?:" + "|".join(sorted(NEGATIONS)) + ")" + _MARKED,
    "{number}": rf"[^ ]*{re.escape(NUMBER)}[^ ]*",
    "{clock}": rf"[^ ]*{CLOCK}[^ ]*",
    "{money}": rf"[^ ]*{re.escape(MONEY)}[^ ]*",
    "{duration}": rf"[^ ]*{DURATION}[^ ]*",
    "{weight}": rf"[^ ]*{WEIGHT}[^ ]*",
    "{item}": rf"[^ ]*{ITEM}[^ ]*",
}
_GAP = r"(?:[^ ]+ ){0,5}?"
_BEFORE = 3
"""How many words before a phrase a negation still reaches it."""


@dataclass(frozen=True)
class Hit:
    """Where a phrase was found: token positions, and how much of it was words."""

    start: int
    end: int
    weight: int
    literals: tuple[int, ...]


@dataclass(frozen=True)
class Spoken:
    """A clause as phrases read it: each word with its marks, each followed by a space."""

    tokens: Sequence[Token]
    line: str
    words: frozenset[str]

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> "Spoken":
        line = "".join(f"{token.word}{token.marks} " for token in tokens)
        return cls(tokens, line, frozenset(token.word for token in tokens))


@dataclass(frozen=True)
class Phrase:
    """One compiled phrase."""

    source: str
    regex: re.Pattern[str]
    parts: int
    negated: bool
    needs: tuple[frozenset[str], ...]
    """Of each of these sets a text must hold a word; spares most texts the regular expression."""

    def _may_hold(self, spoken: Spoken) -> bool:
        return all(not spoken.words.isdisjoint(words) for words in self.needs)

    def occurs(self, spoken: Spoken) -> bool:
        """Whether the phrase is there at all, negated or not."""
        return self._may_hold(spoken) and self.regex.search(spoken.line) is not None

    def find(self, spoken: Spoken) -> Hit | None:
        """The first place in a clause where the phrase holds."""
        if not self._may_hold(spoken):
            return None
        line = spoken.line
        for match in self.regex.finditer(line):
            start = line.count(" ", 0, match.start())
            end = line.count(" ", 0, match.end())
            if self.negated or not _negates(spoken.tokens, start, end):
                literals = [line.count(" ", 0, match.start(i)) for i in range(1, self.parts + 1)]
                return Hit(start, end, self.parts, tuple(literals))
        return None


def _negates(tokens: Sequence[Token], start: int, end: int) -> bool:
    for i in range(max(0, start - _BEFORE), min(end, len(tokens))):
        if tokens[i].word in NEGATIONS:
            after = tokens[i + 1].word if i + 1 < len(tokens) else ""
            if after not in _SOFT:
                return True
    return False


def any_of(phrases: Sequence[Phrase], tokens: Sequence[Token]) -> bool:
    spoken = Spoken.of(tokens)
    return any(phrase.find(spoken) for phrase in phrases)


def _word(word: str) -> str:
    if word in _CLASSES:
        return _CLASSES[word]
    if word.endswith("*"):
        return re.escape(word[:-1]) + "[^ ]*"
    return re.escape(word) + _MARKED


def compile_phrase(source: str) -> Phrase:
    """A phrase ready to be looked for.

    Raises:
        ValueError: an empty phrase, or a class that does not exist.
    """
    pieces: list[str] = []
    needs: list[frozenset[str]] = []
    edges = ["(?:^|(?<= ))", ""]
    for element in source.split():
        if element == "{start}":
            edges[0] = "^"
        elif element == "{end}":
            edges[1] = "$"
        elif element == "...":
            pieces.append(_GAP)
        else:
            options = element.split("|")
            unknown = [
                option for option in options if option.startswith("{") and option not in _CLASSES
            ]
            if unknown or not all(options):
                raise ValueError(f"phrase {source!r}: {unknown or 'an empty word'} is not known")
            if not any(option[-1] in "*}" for option in options):
                needs.append(frozenset(options))
            pieces.append("((?:" + "|".join(_word(option) for option in options) + ")) ")
    parts = sum(piece != _GAP for piece in pieces)
    if not parts:
        raise ValueError(f"phrase {source!r} has no word")
    words = {option for element in source.split() for option in element.split("|")}
    negated = bool(words & {"{no}", "nothing", "nobody", "noone", *NEGATIONS})
    return Phrase(
        source, re.compile(edges[0] + "".join(pieces) + edges[1]), parts, negated, tuple(needs)
    )


def compile_all(sources: Sequence[str]) -> tuple[Phrase, ...]:
    return tuple(compile_phrase(source) for source in sources)
