"""What each clause of a complaint says: a claim of some category, something to leave out, or neither."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.grievance import LeftOutKind
from streams.llm.offline_rules.lexicon import Heard, Lexicon
from streams.llm.offline_rules.patterns import Hit, Phrase, best, render
from streams.llm.offline_rules.tokens import Clause, Statement, Token
from streams.llm.offline_rules.vocabulary import (
    DEMAND,
    GREETING,
    KINDS,
    OTHER_ORDER,
    THIS_ORDER,
    YESTERDAY,
)
from streams.screening import rules_in


@dataclass(frozen=True)
class Said:
    """A clause that makes a claim."""

    category: Heard
    clause: Clause
    statement: int
    weight: int
    demanding: bool = False
    """The claim stands inside a demand: "refund me for the missing raita"."""


@dataclass
class Ears:
    """Everything heard in a complaint, in its order."""

    claims: list[Said] = field(default_factory=list)
    left_out: list[tuple[LeftOutKind, Clause]] = field(default_factory=list)
    demands: list[tuple[Said, Clause]] = field(default_factory=list)


def any_of(phrases: Sequence[Phrase], tokens: Sequence[Token]) -> bool:
    line = render(tokens)
    return any(phrase.find(line, tokens) for phrase in phrases)


def _allowed(category: Heard, line: str, tokens: Sequence[Token]) -> bool:
    return not any(phrase.regex.search(line) for phrase in category.unless)


def claims_in(clause: Clause, statement: int, categories: Sequence[Heard]) -> list[Said]:
    """The claims of a clause: the phrase that says most wins its words; another claim needs words of its own."""
    line = render(clause)
    hits: list[tuple[Heard, Hit]] = []
    for category in categories:
        if not _allowed(category, line, clause):
            continue
        hit = best((*category.strong, *category.whole_order), line, clause)
        if hit:
            hits.append((category, hit))
    taken: set[int] = set()
    found: list[Said] = []
    for category, hit in sorted(hits, key=lambda pair: -pair[1].weight):
        if taken & set(hit.literals):
            continue
        taken |= set(hit.literals)
        found.append(Said(category, clause, statement, hit.weight))
    return found


def left_out_kind(clause: Clause) -> LeftOutKind | None:
    """Why a clause that makes no claim is left out, or None where nothing marks it."""
    return next((kind for kind, phrases in KINDS if any_of(phrases, clause)), None)


def is_demand(clause: Clause) -> bool:
    line = render(clause)
    return any((hit := phrase.find(line, clause)) and hit.start <= 2 for phrase in DEMAND)


def _is_greeting(tokens: Sequence[Token]) -> bool:
    return all(token.word in GREETING for token in tokens)


def _other_order(statement: Statement, all_words: Sequence[Token]) -> list[bool]:
    """Per clause, whether it speaks of another order."""
    also_this = any_of(THIS_ORDER, all_words)
    flags: list[bool] = []
    other = False
    for clause in statement.clauses:
        if any_of(OTHER_ORDER, clause) or (also_this and any_of(YESTERDAY, clause)):
            other = True
        elif any_of(THIS_ORDER, clause):
            other = False
        flags.append(other)
    return flags


def listen(text: str, found: Sequence[Statement], lexicon: Lexicon) -> Ears:
    """Sort every clause of the complaint into claims and what is left out."""
    ears = Ears()
    words = [token for statement in found for token in statement.words]
    ungrouped = [c for c in lexicon.categories if not c.words.group]
    for number, statement in enumerate(found):
        if not _is_greeting(statement.words):
            _hear(ears, text, number, statement, words, ungrouped, lexicon)
    return ears


def _hear(
    ears: Ears, text: str, number: int, statement: Statement, words: Sequence[Token],
    ungrouped: Sequence[Heard], lexicon: Lexicon,
) -> None:  # fmt: skip
    start, end = statement.span
    other = _other_order(statement, words)
    instructed = bool(rules_in(text[start : min(end + 1, len(text))]))
    kinds: list[LeftOutKind | None] = []
    claimed: list[bool] = []
    found: list[Said] = []
    for clause, is_other in zip(statement.clauses, other, strict=True):
        if is_other or (
            instructed
            and (any(k == "instruction" for k in kinds) or _instructs(text, clause, statement))
        ):
            kinds.append("other_order" if is_other else "instruction")
            claimed.append(False)
            continue
        said = claims_in(clause, number, ungrouped) + grouped_in(clause, number, lexicon)
        if said and is_demand(clause):
            said = [Said(s.category, s.clause, s.statement, s.weight, True) for s in said]
        found += said
        claimed.append(bool(said))
        kinds.append(None if said else left_out_kind(clause))
    if not found and not any(k in ("instruction", "other_order") for k in kinds):
        found = _whole_sentence(statement, number, ungrouped)
        if found and not any(kinds):
            claimed = [True] * len(claimed)
    ears.claims += found
    ears.left_out += _leave_out(statement, kinds, claimed, bool(found))


def _instructs(text: str, clause: Clause, statement: Statement) -> bool:
    """Whether the instruction of a sentence begins in or before this clause."""
    end = statement.span[1]
    rest = text[clause[0].start : min(end + 1, len(text))]
    following = text[clause[-1].end : min(end + 1, len(text))]
    return bool(rules_in(rest)) and not (set(rules_in(rest)) <= set(rules_in(following)))


def _whole_sentence(statement: Statement, number: int, categories: Sequence[Heard]) -> list[Said]:
    tokens = statement.words
    line = render(tokens)
    for category in categories:
        if _allowed(category, line, tokens) and (hit := best(category.sentence, line, tokens)):
            return [Said(category, tokens, number, hit.weight)]
    return []


def grouped_in(clause: Clause, statement: int, lexicon: Lexicon) -> list[Said]:
    """Signs of the categories of which the whole text can mean only one; decided in `reader`."""
    line = render(clause)
    found: list[Said] = []
    for category in lexicon.categories:
        if not category.words.group or not _allowed(category, line, clause):
            continue
        strong = sum(1 for phrase in category.strong if phrase.find(line, clause))
        weak = sum(1 for phrase in category.weak if phrase.find(line, clause))
        if strong or weak:
            found.append(Said(category, clause, statement, 3 * min(strong, 2) + min(weak, 2)))
    return found


def _leave_out(
    statement: Statement,
    kinds: Sequence[LeftOutKind | None],
    claimed: Sequence[bool],
    any_claim: bool,
) -> list[tuple[LeftOutKind, Clause]]:
    """One entry a statement: neighbours of one kind are one, and unmarked clauses belong to what is beside them."""
    runs: list[tuple[LeftOutKind, list[Token]]] = []
    pending: list[Token] = []
    after_claim = False
    for clause, kind, is_claim in zip(statement.clauses, kinds, claimed, strict=True):
        if is_claim:
            after_claim, pending = True, []
        elif kind is None:
            if runs and not after_claim:
                runs[-1][1].extend(clause)
            else:
                pending.extend(clause)
        elif runs and runs[-1][0] == kind and not after_claim:
            runs[-1][1].extend(clause)
        else:
            runs.append((kind, [*pending, *clause]))
            pending, after_claim = [], False
    if not runs and not any_claim and pending:
        runs.append(("context", pending))
    if statement.is_question:
        runs = [("rhetoric" if kind == "context" else kind, tokens) for kind, tokens in runs]
    return [(kind, tuple(tokens)) for kind, tokens in runs]
