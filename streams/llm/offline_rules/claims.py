"""Which categories of the pack a clause or a sentence speaks of."""

from collections.abc import Sequence
from dataclasses import dataclass

from streams.llm.offline_rules.lexicon import Heard
from streams.llm.offline_rules.patterns import Hit, Phrase, Spoken
from streams.llm.offline_rules.tokens import Clause, Statement


@dataclass(frozen=True)
class Said:
    """A clause that makes a claim."""

    category: Heard
    clause: Clause
    statement: int
    weight: int
    demanding: bool = False
    """The claim stands inside a demand: "refund me for the missing soup"."""


def _hits(phrases: Sequence[Phrase], spoken: Spoken) -> list[Hit]:
    return [hit for phrase in phrases if (hit := phrase.find(spoken))]


def _speaks(category: Heard, spoken: Spoken) -> bool:
    return not any(phrase.occurs(spoken) for phrase in category.unless)


def claims_in(clause: Clause, statement: int, categories: Sequence[Heard]) -> list[Said]:
    """The claims of a clause: the phrase that says most wins its words; another claim needs words of its own."""
    spoken = Spoken.of(clause)
    hits = [
        (category, hit)
        for category in categories
        if _speaks(category, spoken)
        for hit in _hits((*category.strong, *category.whole_order), spoken)
    ]
    taken: set[int] = set()
    found: dict[str, Said] = {}
    for category, hit in sorted(hits, key=lambda pair: -pair[1].weight):
        if category.name in found:
            taken |= set(hit.literals) if not taken & set(hit.literals) else set()
        elif not taken & set(hit.literals):
            taken |= set(hit.literals)
            found[category.name] = Said(category, clause, statement, hit.weight)
    return list(found.values())


def grouped_in(clause: Clause, statement: int, categories: Sequence[Heard]) -> list[Said]:
    """Signs of the categories of which the whole text can mean one only; `reader` decides which."""
    spoken = Spoken.of(clause)
    found: list[Said] = []
    for category in categories:
        if _speaks(category, spoken):
            strong = len(_hits(category.strong, spoken))
            weak = len(_hits(category.weak, spoken))
            if strong or weak:
                found.append(Said(category, clause, statement, 3 * min(strong, 2) + min(weak, 2)))
    return found


def across(statement: Statement, number: int, categories: Sequence[Heard]) -> Said | None:
    """The claim that only a sentence as a whole makes: "two were plain, I ordered aloo"."""
    found = _across(statement, number, [(c, (*c.sentence, *c.outweighs)) for c in categories])
    return found[0] if found else None


def _across(
    statement: Statement, number: int, asked: Sequence[tuple[Heard, Sequence[Phrase]]]
) -> tuple[Said, set[int]] | None:
    tokens = statement.words
    spoken = Spoken.of(tokens)
    hits = [
        (c, hit) for c, phrases in asked if _speaks(c, spoken) for hit in _hits(phrases, spoken)
    ]
    if not hits:
        return None
    category, hit = max(hits, key=lambda pair: pair[1].weight)
    return Said(category, tokens, number, hit.weight), {tokens[i].start for i in hit.literals}


def in_sentence(
    found: list[Said], statement: Statement, number: int, categories: Sequence[Heard]
) -> list[Said]:
    """The claims of a sentence: those of its clauses, unless the whole of it says more."""
    if not found:
        said = across(statement, number, categories)
        return [said] if said else []
    over = _across(statement, number, [(c, c.outweighs) for c in categories])
    if over is None:
        return found
    said, places = over
    outsaid = [claim for claim in found if places & {token.start for token in claim.clause}]
    if said.weight <= max((claim.weight for claim in outsaid), default=0):
        return found
    kept = [claim for claim in found if claim not in outsaid]
    return (
        kept if any(claim.category.name == said.category.name for claim in kept) else [*kept, said]
    )
