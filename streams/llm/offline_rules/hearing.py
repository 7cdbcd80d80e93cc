"""What each clause of a complaint says: a claim of some category, something to leave out, or neither."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from schemas.grievance import LeftOutKind
from streams.llm.offline_rules.claims import Said, across, claims_in, grouped_in, in_sentence
from streams.llm.offline_rules.lexicon import Lexicon
from streams.llm.offline_rules.patterns import Phrase, render
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


@dataclass
class Ears:
    """Everything heard in a complaint, in its order."""

    claims: list[Said] = field(default_factory=list)
    left_out: list[tuple[LeftOutKind, Clause]] = field(default_factory=list)


def any_of(phrases: Sequence[Phrase], tokens: Sequence[Token]) -> bool:
    line = render(tokens)
    return any(phrase.find(line, tokens) for phrase in phrases)


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
    for number, statement in enumerate(found):
        if not _is_greeting(statement.words):
            _hear(ears, text, number, statement, words, lexicon)
    return ears


def _hear(
    ears: Ears, text: str, number: int, statement: Statement, words: Sequence[Token],
    lexicon: Lexicon,
) -> None:  # fmt: skip
    single = [category for category in lexicon.categories if not category.words.group]
    grouped = [category for category in lexicon.categories if category.words.group]
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
        said = claims_in(clause, number, single) + grouped_in(clause, number, grouped)
        if said and is_demand(clause):
            said = [Said(s.category, s.clause, s.statement, s.weight, True) for s in said]
        found += said
        claimed.append(bool(said))
        kinds.append(None if said else left_out_kind(clause))
    if not any(kind in ("instruction", "other_order") for kind in kinds):
        whole = in_sentence(found, statement, number, single)
        if not found and whole and not any(kinds):
            claimed = [True] * len(claimed)
        found = whole
        if any(grouped) and (told := across(statement, number, grouped)):
            found.append(Said(told.category, told.clause, number, 6))
    ears.claims += found
    ears.left_out += _leave_out(statement, kinds, claimed, bool(found))


def _instructs(text: str, clause: Clause, statement: Statement) -> bool:
    """Whether the instruction of a sentence begins in or before this clause."""
    end = statement.span[1]
    rest = text[clause[0].start : min(end + 1, len(text))]
    following = text[clause[-1].end : min(end + 1, len(text))]
    return bool(rules_in(rest)) and not (set(rules_in(rest)) <= set(rules_in(following)))


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
