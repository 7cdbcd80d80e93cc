"""The stand-in's extraction: from what the clauses say to grievances that stand alone."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from schemas.grievance import LeftOutKind
from streams.llm.offline_rules.claims import Said
from streams.llm.offline_rules.counts import quantity
from streams.llm.offline_rules.goods import Line, join_lists, lines_of, mark, mentions
from streams.llm.offline_rules.grouping import one_of_each_group
from streams.llm.offline_rules.hearing import listen
from streams.llm.offline_rules.lexicon import Lexicon, lexicon
from streams.llm.offline_rules.patterns import any_of
from streams.llm.offline_rules.tokens import Clause, Statement, Token, span, statements
from streams.llm.port import DraftGrievance, DraftLeftOut, ExtractionDraft, ExtractionTask

MOST_CLAUSES = 3_000
"""Above this nobody wrote a complaint, and reading it would hold up everybody else's."""


class TooLong(ValueError):
    """The text has more clauses than the stand-in reads."""


@dataclass(frozen=True)
class Found:
    """A claim with what it is about."""

    said: Said
    line: Line | None = None
    quantity: int | None = None
    counted: bool = False
    scope: Literal["line", "order"] = "line"
    named: bool = False
    """The clause itself names the line."""


def read(task: ExtractionTask) -> ExtractionDraft:
    """Split the complaint of a task; the same task always gives the same draft.

    Raises:
        TooLong: over `MOST_CLAUSES`.
    """
    words = lexicon(task.stand_in)
    lines = lines_of(task.record)
    goods = {brief.name for brief in task.categories if brief.about_goods}
    known = {brief.name for brief in task.categories}
    heard = statements(task.text)
    if sum(len(statement.clauses) for statement in heard) > MOST_CLAUSES:
        raise TooLong(f"the complaint has more than {MOST_CLAUSES} clauses; a person must read it")
    marked = [_marked(statement, lines) for statement in heard]
    ears = listen(task.text, marked, words)
    said = [claim for claim in ears.claims if claim.category.name in known]
    said, spare = one_of_each_group(said, words, task.record)
    left_out = [*ears.left_out, *spare]
    claims: list[Found] = []
    for claim in said:
        claims += (
            _about(claim, marked, lines, words) if claim.category.name in goods else [_plain(claim)]
        )
    claims, demands = _merge(claims)
    left_out += demands
    safe = _safety(claims, marked, words)
    return ExtractionDraft(
        grievances=tuple(
            _draft(task.text, claim, claim in safe, claim.said.category.name in goods)
            for claim in sorted(claims, key=lambda c: span(c.said.clause))
        ),
        left_out=tuple(
            DraftLeftOut(kind=kind, quote=task.text[slice(*span(clause))])
            for kind, clause in sorted(left_out, key=lambda pair: span(pair[1]))
        ),
    )


def _marked(statement: Statement, lines: Sequence[Line]) -> Statement:
    """The sentence with its goods marked, and lists of goods kept in one clause."""
    return Statement(
        join_lists([mark(clause, lines) for clause in statement.clauses]), statement.is_question
    )


def _plain(claim: Said) -> Found:
    whole = any_of(claim.category.whole_order, claim.clause)
    return Found(claim, scope="order" if whole else "line")


def _about(
    claim: Said, marked: Sequence[Statement], lines: Sequence[Line], words: Lexicon
) -> list[Found]:
    """Tie a claim about goods to the lines it names, else to the ones spoken of, else to the only one."""
    statement = marked[claim.statement]
    if any_of(claim.category.whole_order, claim.clause) and not mentions(claim.clause, lines):
        return [Found(claim, scope="order")]
    before = marked[claim.statement - 1].words if claim.statement else ()
    wider = (*before, *statement.words)
    named = mentions(claim.clause, lines)
    is_named = bool(named)
    if not named and not any(token.word in words.extras for token in claim.clause):
        named = mentions(statement.words, lines)[:1]
        if not named and len(lines) > 1:
            named = mentions(before, lines)[-1:]
        if not named and len(lines) == 1:
            return [_counted(claim, wider, lines[0], False)]
    if not named:
        return [Found(claim)]
    if len(named) == 1:
        return [_counted(claim, wider, named[0].line, is_named)]
    ends = [0, *(mention.end for mention in named)]
    parts = [claim.clause[start : m.end] for start, m in zip(ends, named, strict=False)]
    return [
        _counted(claim, part, mention.line, is_named, part)
        for part, mention in zip(parts, named, strict=True)
    ]


def _counted(
    claim: Said, wider: Sequence[Token], line: Line | None, named: bool, near: Sequence[Token] = ()
) -> Found:
    if line is None:
        return Found(claim, named=named)
    units, said = quantity(near or claim.clause, wider, line, claim.category.words.counts_received)
    return Found(claim, line, units, said, named=named)


def _merge(claims: Sequence[Found]) -> tuple[list[Found], list[tuple[LeftOutKind, Clause]]]:
    """One grievance for each category and line; what only repeats one inside a demand is that demand."""
    kept: list[Found] = []
    demands: list[tuple[LeftOutKind, Clause]] = []
    for claim in sorted(claims, key=lambda c: (c.said.demanding, span(c.said.clause))):
        same = [other for other in kept if other.said.category.name == claim.said.category.name]
        twin = next((other for other in same if _same(other, claim)), None)
        if twin is None:
            kept.append(claim)
            continue
        if claim.said.demanding and not twin.said.demanding:
            demands.append(("demand", claim.said.clause))
        else:
            kept[kept.index(twin)] = _joined(twin, claim)
    whole = {claim.said.category.name for claim in kept if claim.scope == "order"}
    return [c for c in kept if c.scope == "order" or c.said.category.name not in whole], demands


def _same(a: Found, b: Found) -> bool:
    if a.scope == "order" or b.scope == "order":
        return True
    if a.line and b.line:
        return a.line.line_id == b.line.line_id
    return not (a.named and b.named) or a.line is b.line


def _joined(a: Found, b: Found) -> Found:
    """The fuller of two accounts of one matter, under the words of the first."""
    if "order" in (a.scope, b.scope):
        return replace(a, scope="order", line=None, quantity=None)
    fuller = b if (b.counted and not a.counted) or (a.line is None and b.line is not None) else a
    return replace(
        a,
        line=fuller.line,
        quantity=fuller.quantity,
        counted=fuller.counted,
        named=a.named or b.named,
    )


def _safety(claims: Sequence[Found], marked: Sequence[Statement], words: Lexicon) -> set[Found]:
    """The claims that a safety matter in the complaint belongs to: its own sentence's, else the one before."""
    found: set[Found] = set()
    for number, statement in enumerate(marked):
        if not any_of(words.safety, statement.words):
            continue
        here = [claim for claim in claims if claim.said.statement == number]
        before = [claim for claim in claims if claim.said.statement <= number]
        found |= set(here or before[-1:] or claims[:1])
    return found


def _draft(text: str, claim: Found, safety: bool, goods: bool) -> DraftGrievance:
    start, end = span(claim.said.clause)
    return DraftGrievance(
        category=claim.said.category.name,
        text=claim.said.category.words.about.replace("{goods}", _named(claim)),
        quote=text[start:end],
        line_id=claim.line.line_id if claim.line else None,
        quantity=claim.quantity if claim.line else None,
        scope=claim.scope,
        safety=safety,
    )


def _named(claim: Found) -> str:
    """What a claim is about, in words that need no complaint beside them."""
    line = claim.line
    if claim.scope == "order":
        return "The whole order"
    if line is None:
        return "Something in the order that is not tied to one line of it"
    if line.by_weight:
        return f"Part of the weight of the {line.name} ordered"
    units = claim.quantity or line.quantity
    if units > line.quantity:
        return f"{units} {line.name}, of which {line.quantity} were ordered,"
    if units < line.quantity:
        return f"{units} of the {line.quantity} {line.name} ordered"
    return f"All {units} {line.name} ordered" if units > 1 else f"The {line.name} ordered"
