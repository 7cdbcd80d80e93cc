"""Of categories that exclude each other, the one that a complaint and its record support best."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemas.grievance import LeftOutKind
from streams.conditions import holds
from streams.facts import facts
from streams.llm.offline_rules.claims import Said
from streams.llm.offline_rules.hearing import left_out_kind
from streams.llm.offline_rules.lexicon import Lexicon
from streams.llm.offline_rules.tokens import Clause

GROUP_THRESHOLD = 3
"""Less than one strong sign, or two weak ones and the record's, is no claim."""


def one_of_each_group(
    said: Sequence[Said], words: Lexicon, record: Mapping[str, Any]
) -> tuple[list[Said], list[tuple[LeftOutKind, Clause]]]:
    """Of the categories that exclude each other, the one that text and record support best."""
    known = facts(record)
    kept = [claim for claim in said if not claim.category.words.group]
    spare: list[tuple[LeftOutKind, Clause]] = []
    for group in dict.fromkeys(c.words.group for c in words.categories if c.words.group):
        members = [claim for claim in said if claim.category.words.group == group]
        scores: dict[str, int] = {}
        for category in words.categories:
            own = [claim for claim in members if claim.category.name == category.name]
            if own:
                record_says = [
                    b.score for b in category.words.boost if all(holds(c, known) for c in b.when)
                ]
                scores[category.name] = sum(claim.weight for claim in own) + sum(record_says)
        if not scores or max(scores.values()) < GROUP_THRESHOLD:
            spare += _unclaimed(members)
            continue
        winner = max(scores, key=lambda name: scores[name])
        own = [claim for claim in members if claim.category.name == winner]
        firm = [claim for claim in own if not claim.demanding] or own
        kept.append(_widest(max(firm, key=lambda claim: claim.weight), members))
        if any(not claim.demanding for claim in members):
            spare += [
                ("demand", clause)
                for clause in dict.fromkeys(c.clause for c in members if c.demanding)
            ]
    return kept, spare


def _widest(claim: Said, members: Sequence[Said]) -> Said:
    """The claim with every clause of its sentence that bears on it."""
    bearing = [m.clause for m in members if m.statement == claim.statement and not m.demanding]
    tokens = {token.start: token for clause in (*bearing, claim.clause) for token in clause}
    return replace(claim, clause=tuple(tokens[start] for start in sorted(tokens)))


def _unclaimed(members: Sequence[Said]) -> list[tuple[LeftOutKind, Clause]]:
    """Clauses that only hinted at a claim are left out as what else they are."""
    by_statement: dict[int, Clause] = {}
    for claim in members:
        by_statement.setdefault(claim.statement, claim.clause)
    return [(left_out_kind(clause) or "context", clause) for clause in by_statement.values()]
