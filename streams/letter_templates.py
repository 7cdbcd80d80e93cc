"""The letters that need no model: a pack's templates, filled from what may be told.

A template is one sentence a line. A line whose placeholder has nothing to say is left out;
`{name?}` may be empty. `[unpaid]` lines are for letters without a payment, `[short]` lines only make
up for a letter that would have fewer than three sentences.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.letter import LetterRequest, ToldLine
from schemas.money import show
from streams.policies.loader import LoadedPack

WORDS = "words"
PARTIES = "parties"
SHORTEST = 3
_ROW = re.compile(r"^\|([^|]*)\|([^|]*)\|([^|]*)\|\s*$", re.MULTILINE)
_PLACE = re.compile(r"\{(\w+)(\??)\}")
_FALLBACK = "A colleague will look at your complaint and answer you."


class TemplateMissing(ValueError):
    """The pack has no template of that kind; names the file to add."""


@dataclass(frozen=True)
class LetterWords:
    """How a pack's letters name its categories, what would mention one, and whom not to blame."""

    topics: dict[str, str] = field(default_factory=dict)
    mentions: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def parties(self) -> tuple[str, ...]:
        return self.mentions.get(PARTIES, ())

    def topic(self, category: str) -> str:
        return self.topics.get(category) or category.replace("_", " ").lower()


def letter_words(pack: LoadedPack) -> LetterWords:
    """`templates/words.md` of a pack; a pack without one speaks of its categories by their names."""
    topics: dict[str, str] = {}
    mentions: dict[str, tuple[str, ...]] = {}
    for name, topic, words in _ROW.findall(pack.templates.get(WORDS, "")):
        key = name.strip()
        if key and key != "category" and not key.startswith("-"):
            topics[key] = topic.strip()
            mentions[key] = tuple(word for part in words.split(",") if (word := part.strip()))
    return LetterWords(topics, mentions)


def _listed(parts: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(parts))
    return (
        distinct[0]
        if len(distinct) == 1
        else f"{', '.join(distinct[:-1])} and {distinct[-1]}"
        if distinct
        else ""
    )


def _breakdown(paid: Sequence[ToldLine], request: LetterRequest, words: LetterWords) -> str:
    """The decision's own line amounts, where there is more than one and they make up what was paid."""
    if len(paid) < 2 or sum(line.amount_minor for line in paid) != request.paid_minor:
        return ""
    shares = [
        f"{show(line.amount_minor, request.currency)} for {words.topic(line.category)}"
        for line in paid
    ]
    return f" ({_listed(shares)})"


def _values(request: LetterRequest, words: LetterWords) -> dict[str, str]:
    resolved = [line for line in request.lines if line.state == "resolved"]
    paid = [line for line in resolved if line.amount_minor > 0] if request.paid_minor else []
    unpaid = [line for line in resolved if line.amount_minor == 0]
    pending = [line for line in request.lines if line.state == "with_a_person"]
    waits = bool(pending) or request.kind == "handed_over"
    return {
        "order_id": request.order_id,
        "by": request.promises.get("by", ""),
        "total": show(request.paid_minor, request.currency) if request.paid_minor else "",
        "breakdown": _breakdown(paid, request, words),
        "paid_for": _listed([words.topic(line.category) for line in paid or resolved])
        if request.paid_minor
        else "",
        "unpaid_for": _listed([words.topic(line.category) for line in unpaid]),
        "pending": _listed([words.topic(line.category) for line in pending]),
        "arrives": request.promises.get("refund", "") if request.paid_minor else "",
        "answer_by": request.promises.get("review", "") if waits else "",
    }


def render(request: LetterRequest, pack: LoadedPack) -> str:
    """The template of the request's kind, filled.

    Raises:
        TemplateMissing: the pack has none of that kind.
    """
    name = request.template or request.kind
    template = pack.templates.get(name)
    if template is None:
        raise TemplateMissing(
            f"pack {pack.pack.policy} v{pack.pack.version} has no templates/{name}.md; add it"
        )
    values = _values(request, letter_words(pack))
    kept: list[tuple[bool, str]] = []
    for line in filter(None, (line.strip() for line in template.splitlines())):
        spare, body = line.startswith("[short] "), line.removeprefix("[short] ")
        if body.startswith("[unpaid] "):
            if request.paid_minor:
                continue
            body = body.removeprefix("[unpaid] ")
        if all(values.get(name) or optional for name, optional in _PLACE.findall(body)):
            kept.append((spare, _PLACE.sub(lambda found: values.get(found[1], ""), body)))
    lacking = SHORTEST - sum(not spare for spare, _ in kept)
    sentences: list[str] = []
    for spare, body in kept:
        if spare and lacking <= 0:
            continue
        lacking -= spare
        sentences.append(body)
    return " ".join(sentences) or _FALLBACK
