"""A pack's offline.toml, read: what its categories sound like, and how its record decides them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field

from schemas.pack import Condition
from streams.llm.offline_rules.patterns import Phrase, compile_all


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WordsTest(Part):
    """A text field of the record that says one of these phrases."""

    field: str
    any: tuple[str, ...]


class JudgingRule(Part):
    """The first rule of a category whose tests all hold gives the ruling."""

    ruling: Literal["UPHELD", "REJECTED", "ESCALATE"]
    scope: Literal["line", "order"] | None = None
    """Only for claims of that scope."""
    line: bool = False
    """Only for claims that are tied to a line."""
    when: tuple[Condition, ...] = ()
    words: WordsTest | None = None
    cite: tuple[str, ...] = ()
    """Fields it rests on, of which those are cited that the judge was shown and that hold something."""
    confidence: float = Field(default=0.98, ge=0, le=1)
    reason: str


class Boost(Part):
    """What the record of the order itself says about which category a claim belongs to."""

    when: tuple[Condition, ...]
    score: int = 2


class CategoryWords(Part):
    name: str
    about: str
    """The claim in words that stand alone; `{goods}` is what it is about."""
    group: str | None = None
    """Of the categories of one group the text can mean one only: the best supported."""
    strong: tuple[str, ...]
    weak: tuple[str, ...] = ()
    """Counts only within a group, beside other signs."""
    sentence: tuple[str, ...] = ()
    """Tried on a whole sentence where no clause of it says anything."""
    outweighs: tuple[str, ...] = ()
    """Tried on a whole sentence, and believed over what a clause of it says with fewer words."""
    unless: tuple[str, ...] = ()
    whole_order: tuple[str, ...] = ()
    """Says that the claim is about the whole order."""
    counts_received: bool = False
    """Counts what came, so that a claim is the rest: "only one came"."""
    boost: tuple[Boost, ...] = ()
    lean_on: tuple[str, ...] = ()
    """Fields on which the lenient seat gives a customer the benefit of a silent record."""
    rule: tuple[JudgingRule, ...] = ()


class OfflineRulesFile(Part):
    safety: tuple[str, ...] = ()
    extras: tuple[str, ...] = ()
    category: tuple[CategoryWords, ...] = ()


@dataclass(frozen=True)
class Heard:
    """A category with its phrases compiled."""

    words: CategoryWords
    strong: tuple[Phrase, ...]
    weak: tuple[Phrase, ...]
    sentence: tuple[Phrase, ...]
    outweighs: tuple[Phrase, ...]
    unless: tuple[Phrase, ...]
    whole_order: tuple[Phrase, ...]

    @property
    def name(self) -> str:
        return self.words.name


@dataclass(frozen=True)
class Lexicon:
    """A pack's offline.toml, compiled."""

    safety: tuple[Phrase, ...]
    extras: frozenset[str]
    categories: tuple[Heard, ...]

    def rules(self, category: str) -> tuple[tuple[JudgingRule, ...], tuple[str, ...]]:
        """The judging rules of a category and the fields its lenient seat leans on."""
        found = next((c.words for c in self.categories if c.name == category), None)
        return (found.rule, found.lean_on) if found else ((), ())


def lexicon(offline: Mapping[str, Any]) -> Lexicon:
    """The compiled lexicon; the same file is compiled once.

    Raises:
        pydantic.ValidationError: the file has another shape.
        ValueError: a phrase that cannot be read.
    """
    return _compiled(orjson.dumps(offline))


@lru_cache(maxsize=32)
def _compiled(raw: bytes) -> Lexicon:
    file = OfflineRulesFile.model_validate_json(raw)
    return Lexicon(
        safety=compile_all(file.safety),
        extras=frozenset(file.extras),
        categories=tuple(
            Heard(
                words=words,
                strong=compile_all(words.strong),
                weak=compile_all(words.weak),
                sentence=compile_all(words.sentence),
                outweighs=compile_all(words.outweighs),
                unless=compile_all(words.unless),
                whole_order=compile_all(words.whole_order),
            )
            for words in file.category
        ),
    )
