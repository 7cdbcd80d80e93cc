"""What each clause of a complaint says: a claim of some category, something to leave out, or neither."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from schemas.grievance import LeftOutKind
from streams.llm.offline_rules.claims import Said, across, claims_in, grouped_in, in_sentence
from streams.llm.offline_rules.lexicon import Heard, Lexicon
from streams.llm.offline_rules.patterns import Spoken, any_of
from streams.llm.offline_rules.tokens import (
    CLOCK,
    DURATION,
    ITEM,
    MONEY,
    NUMBER,
    WEIGHT,
    Clause,
    Statement,
    Token,
)
from streams.llm.offline_rules.vocabulary import (
    DEMAND,
    GREETING,
    KINDS,
    OTHER_ORDER,
    THIS_ORDER,
    YESTERDAY,
)
from streams.screening import rules_in

GROUPED_SENTENCE = 6
"""What a sign counts that takes a whole sentence: as two strong ones."""


@dataclass
class Ears:
    """Everything heard in a complaint, in its order."""

    claims: list[Said] = field(default_factory=list)
    left_out: list[tuple[LeftOutKind, Clause]] = field(default_factory=list)


def left_out_kind(clause: Clause) -> LeftOutKind | None:
    """Why a clause that makes no claim is left out, or None where nothing marks it."""
    spoken = Spoken.of(clause)
    return next((kind for kind, phrases in KINDS if any(p.find(spoken) for p in phrases)), None)


def is_demand(clause: Clause) -> bool:
    spoken = Spoken.of(clause)
    return any((hit := phrase.find(spoken)) and hit.start <= 2 for phrase in DEMAND)


def _other_order(statement: Statement, also_this: bool) -> list[bool]:
    """Per clause, whether it speaks of another order."""
    flags: list[bool] = []
    other = False
    for clause in statement.clauses:
        if any_of(OTHER_ORDER, clause) or (also_this and any_of(YESTERDAY, clause)):
            other = True
        elif any_of(THIS_ORDER, clause):
            other = False
        flags.append(other)
    return flags


def _instructed(text: str, statement: Statement) -> list[bool]:
    """Per clause, whether an instruction to the system has begun; what follows one belongs to it."""
    end = min(statement.span[1] + 1, len(text))
    if not rules_in(text[statement.span[0] : end]):
        return [False] * len(statement.clauses)
    flags: list[bool] = []
    for clause in statement.clauses:
        flags.append(any(flags) or _begins(text, clause, end))
    return flags


def _begins(text: str, clause: Clause, end: int) -> bool:
    """Whether the rest of the sentence reads like an instruction with this clause, and less so without."""
    rest = set(rules_in(text[clause[0].start : end]))
    return bool(rest) and not rest <= set(rules_in(text[clause[-1].end : end]))


def listen(text: str, found: Sequence[Statement], lexicon: Lexicon) -> Ears:
    """Sort every clause of the complaint into claims and what is left out."""
    ears = Ears()
    single = [category for category in lexicon.categories if not category.words.group]
    grouped = [category for category in lexicon.categories if category.words.group]
    also_this = any(any_of(THIS_ORDER, statement.words) for statement in found)
    for number, statement in enumerate(found):
        if all(token.word in GREETING for token in statement.words):
            continue
        barred = _barred(text, statement, also_this)
        claims, left_out = _hear(number, statement, barred, single, grouped)
        follows = bool(ears.left_out) and ears.left_out[-1][0] == "instruction"
        if follows and not claims and [kind for kind, _ in left_out] == ["demand"]:
            before = ears.left_out.pop()[1]
            left_out = [("instruction", (*before, *left_out[0][1]))]
        if _bears_on(claims or ears.claims, number, left_out):
            left_out = []
        ears.claims += claims
        ears.left_out += left_out
    return ears


_FIGURES = frozenset(NUMBER + CLOCK + MONEY + WEIGHT + DURATION + ITEM)


def _bears_on(
    claims: Sequence[Said], number: int, left_out: Sequence[tuple[LeftOutKind, Clause]]
) -> bool:
    """Whether a sentence that claims nothing itself gives figures or goods to the claim just before it."""
    if [kind for kind, _ in left_out] != ["context"] or not claims:
        return False
    figures = any(_FIGURES & set(token.marks) for token in left_out[0][1])
    return figures and claims[-1].statement == number - 1


def _barred(text: str, statement: Statement, also_this: bool) -> list[LeftOutKind | None]:
    """Per clause, why it can make no claim whatever it says."""
    others = _other_order(statement, also_this)
    orders = _instructed(text, statement)
    return [
        "other_order" if other else "instruction" if order else None
        for other, order in zip(others, orders, strict=True)
    ]


def _hear(
    number: int,
    statement: Statement,
    barred: Sequence[LeftOutKind | None],
    single: Sequence[Heard],
    grouped: Sequence[Heard],
) -> tuple[list[Said], list[tuple[LeftOutKind, Clause]]]:
    kinds: list[LeftOutKind | None] = []
    claimed: list[bool] = []
    found: list[Said] = []
    for clause, bar in zip(statement.clauses, barred, strict=True):
        said = (
            [] if bar else claims_in(clause, number, single) + grouped_in(clause, number, grouped)
        )
        if said and is_demand(clause):
            said = [replace(claim, demanding=True) for claim in said]
        found += said
        claimed.append(bool(said))
        kinds.append(bar or (None if said else left_out_kind(clause)))
    if not any(barred):
        whole = in_sentence(found, statement, number, single)
        if not found and whole and not any(kinds):
            claimed = [True] * len(claimed)
        found = whole
        if grouped and (told := across(statement, number, grouped)):
            found.append(replace(told, weight=GROUPED_SENTENCE))
    return found, _leave_out(statement, kinds, claimed, bool(found))


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
