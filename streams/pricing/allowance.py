"""The customer's rule: what one customer may get automatically in the pack's rolling window."""

from collections.abc import Sequence
from dataclasses import dataclass

from schemas.pack import PolicyPack
from schemas.settlement import PriceLine
from streams.pricing.people import escalated_categories, hand_to_person
from streams.pricing.rules import above_customer_limit

CUSTOMER_RULE = "customer_window_total_above_limit"


@dataclass(frozen=True)
class Allowed:
    """The proposal after the rule. Amounts are minor units."""

    lines: tuple[PriceLine, ...]
    amount_minor: int
    decision_rule: str
    escalated: tuple[str, ...]
    needs_person: bool


def apply_allowance(
    *,
    pack: PolicyPack,
    lines: Sequence[PriceLine],
    amount_minor: int,
    proposed_minor: int,
    decision_rule: str,
    escalated: Sequence[str],
    needs_person: bool,
    history_minor: int,
    automatic_in_window_minor: int,
) -> Allowed:
    """Stop the proposal where it, the customer's automatic payments of the window (ours and those only
    the evidence knows of) are together above the limit, and no earlier rule of the pack decided it.

    `automatic_in_window_minor` does not count this proposal. Escalated lines count nowhere.
    """
    unchanged = Allowed(tuple(lines), amount_minor, decision_rule, tuple(escalated), needs_person)
    automatic = automatic_in_window_minor + history_minor
    if not above_customer_limit(pack, proposed_minor, automatic):
        return unchanged
    if not _comes_before(pack.rules, decision_rule):
        return unchanged
    handed = hand_to_person(lines, CUSTOMER_RULE)
    return Allowed(handed, 0, CUSTOMER_RULE, escalated_categories(handed), True)


def _comes_before(rules: Sequence[str], decided: str) -> bool:
    """Whether the customer's rule is one of the pack's and comes before the one that decided."""
    if CUSTOMER_RULE not in rules:
        return False
    return decided not in rules or rules.index(CUSTOMER_RULE) < rules.index(decided)
