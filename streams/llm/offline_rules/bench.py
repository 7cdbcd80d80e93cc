"""The stand-in's judging: the first rule of the category that the evidence at hand satisfies."""

import hashlib
from typing import Any

from streams.conditions import holds
from streams.facts import facts
from streams.llm.offline_rules.lexicon import JudgingRule, WordsTest, lexicon
from streams.llm.offline_rules.patterns import any_of, compile_all
from streams.llm.offline_rules.tokens import tokenise
from streams.llm.port import JudgingTask, RulingDraft

SILENT = 0.9
LEANING = 0.75
LENIENT = "lenient"


def rule_on(task: JudgingTask, disagreement: float, seed: int) -> RulingDraft:
    """The ruling of one seat. Seats differ in temper only: the lenient one leans to the customer where the
    record holds a field on the matter that settles nothing."""
    rules, lean_on = lexicon(task.stand_in).rules(task.category.name)
    known = facts(task.evidence, task.claim.line_id)
    for rule in rules:
        if _applies(rule, task, known):
            cited = tuple(field for field in rule.cite if _may_cite(field, task))
            if rule.ruling == "ESCALATE" or not cited:
                break
            if _disagrees(task, disagreement, seed):
                return RulingDraft(
                    ruling="ESCALATE",
                    confidence=SILENT,
                    citations=cited,
                    reason="Not certain enough to rule.",
                )
            return RulingDraft(
                ruling=rule.ruling, confidence=rule.confidence, citations=cited, reason=rule.reason
            )
    leaning = tuple(field for field in lean_on if _may_cite(field, task))
    if task.variant == LENIENT and leaning and task.claim.scope == "line":
        return RulingDraft(
            ruling="UPHELD", confidence=LEANING, citations=leaning,
            reason="The record does not speak against the customer.",
        )  # fmt: skip
    return RulingDraft(
        ruling="ESCALATE",
        confidence=SILENT,
        reason="The evidence neither supports nor contradicts the claim.",
    )


def _may_cite(field: str, task: JudgingTask) -> bool:
    return field in task.category.citations and task.evidence.get(field) is not None


def _applies(rule: JudgingRule, task: JudgingTask, known: dict[str, Any]) -> bool:
    if rule.scope is not None and rule.scope != task.claim.scope:
        return False
    if rule.line and task.claim.line_id is None:
        return False
    return all(holds(condition, known) for condition in rule.when) and (
        rule.words is None or _says(rule.words, task.evidence.get(rule.words.field))
    )


def _says(test: WordsTest, value: Any) -> bool:
    tokens = [token for token in tokenise(value) if token.is_word] if isinstance(value, str) else []
    return any_of(compile_all(test.any), tokens)


def _disagrees(task: JudgingTask, rate: float, seed: int) -> bool:
    """Whether this seat is the one that doubts this grievance: at most one, and only ever towards a person."""
    if rate <= 0 or not task.seats:
        return False
    digest = hashlib.sha256(f"{seed}:{task.grievance_id}".encode()).digest()
    chosen = task.seats[digest[8] % len(task.seats)]
    return int.from_bytes(digest[:8], "big") < rate * 2**64 and task.seat == chosen
