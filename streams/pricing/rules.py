"""The rules that decide a dispute, by name; a pack puts those it uses in order and the first match wins.

Source: the labelled cases' README, "Rules in order" of both packs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from schemas.dispute import Tier
from schemas.pack import PolicyPack
from schemas.settlement import PriceLine

Ending = Literal["person", "letter", "pay"]
"""`person`: the whole dispute stops for a person, the proposal beside it. `letter`: it closes without
payment. `pay`: upheld lines are paid, and a person decides the lines that are for one."""

NO_RULE = "no_rule_matched"
"""What a dispute is decided by where a pack's rules leave a gap: a person."""


@dataclass(frozen=True)
class Case:
    """What the rules may look at. Amounts are minor units."""

    pack: PolicyPack
    outcome: str | None
    claims: int
    screening_tripped: bool
    safety: bool
    tier: Tier
    lines: Sequence[PriceLine]
    proposed_minor: int
    automatic_minor: int
    """Earlier automatic payments on the order."""
    history_minor: int
    """Automatic payments of the customer's window that the evidence knows of."""
    stops: frozenset[str]
    """Rules that an upheld category of this dispute stops it with."""

    def for_a_person(self) -> bool:
        return any(line.disposition == "person" for line in self.lines)

    def payable_upheld(self) -> bool:
        """Some upheld line is for code to pay, be it 0."""
        return any(line.ruling == "UPHELD" and line.disposition != "person" for line in self.lines)


@dataclass(frozen=True)
class Rule:
    ending: Ending
    matches: Callable[[Case], bool]


def _outcome(name: str) -> Rule:
    return Rule("person", lambda case: case.outcome == name)


def above_customer_limit(pack: PolicyPack, proposed_minor: int, automatic_minor: int) -> bool:
    """This proposal and the customer's other automatic payments of the window are above the limit.

    Taken at its word: a customer whose payments are above the limit already is for a person even where
    this proposal is 0, since the rule stands before `no_grievance_upheld`.
    """
    limit = pack.limits.customer_limit_minor
    return limit is not None and proposed_minor + automatic_minor > limit


def _above_cap(case: Case) -> bool:
    cap = case.pack.limits.auto_approve_cap_minor
    total = case.proposed_minor + case.automatic_minor
    return cap is not None and total > cap


def _nothing_to_check(case: Case) -> bool:
    """No grievance; but a safety matter found by the word list is one, whatever the extraction says."""
    safety = case.safety and "safety_requires_human" in case.pack.rules
    return case.claims == 0 and not safety


RULES: dict[str, Rule] = {
    "evidence_unavailable": _outcome("evidence_unavailable"),
    "evidence_invalid": _outcome("evidence_invalid"),
    "order_too_old": _outcome("order_too_old"),
    "extraction_failed": _outcome("extraction_failed"),
    "screening_flag_requires_human": Rule("person", lambda case: case.screening_tripped),
    "tier_3_requires_human_approval": Rule("person", lambda case: case.tier >= 3),
    "tier_2_requires_human_approval": Rule("person", lambda case: case.tier == 2),
    "no_checkable_grievance": Rule("letter", _nothing_to_check),
    "safety_requires_human": Rule("person", lambda case: case.safety),
    "customer_window_total_above_limit": Rule(
        "person",
        lambda case: above_customer_limit(case.pack, case.proposed_minor, case.history_minor),
    ),
    "amount_above_auto_approve_cap": Rule("person", _above_cap),
    "no_grievance_upheld": Rule(
        "letter", lambda case: not case.payable_upheld() and not case.for_a_person()
    ),
    "all_grievances_escalated": Rule(
        "person", lambda case: not case.payable_upheld() and case.for_a_person()
    ),
    "auto_resolve_within_cap": Rule("pay", lambda case: True),
    "tier_1_auto_resolve": Rule("pay", lambda case: True),
}
"""Those without an outcome of intake or extraction are evaluated over the priced lines."""


def ending_of(pack: PolicyPack, rule: str) -> Ending:
    """How a dispute decided by this rule ends. A rule that only a category declares (`stops_with`), or
    that nobody knows, ends with a person."""
    return RULES[rule].ending if rule in RULES else "person"


def first_match(case: Case) -> str:
    """The name of the first rule, in the pack's order, that matches."""
    for name in case.pack.rules:
        rule = RULES.get(name)
        if name in case.stops or (rule is not None and rule.matches(case)):
            return name
    return NO_RULE
