"""A dispute's tier: a pure function of the amount, raised by what is claimed, never lowered."""

from collections.abc import Iterable, Mapping
from typing import Any

from schemas.dispute import Tier
from schemas.grievance import Claim
from schemas.pack import PolicyPack


def tier_of(pack: PolicyPack, amount_minor: int) -> Tier:
    """The lowest band that takes the amount (its upper end is inclusive); 3 above all of them."""
    for band in sorted(pack.tiers, key=lambda band: band.tier):
        if band.max_minor is None or amount_minor <= band.max_minor:
            return band.tier
    return 3


def tier_at_intake(pack: PolicyPack, facts: Mapping[str, Any]) -> Tier:
    """The tier by the disputed amount as recorded; 1 where the pack has no such field, or the record
    lacks it (there is nothing to pay on it, and settlement raises the tier when more is known)."""
    amount = facts.get(pack.tier_amount_field) if pack.tier_amount_field else None
    if isinstance(amount, int) and not isinstance(amount, bool):
        return tier_of(pack, amount)
    return 1


def tier_at_settlement(
    pack: PolicyPack, tier: Tier, claims: Iterable[Claim], amounts: Iterable[int]
) -> Tier:
    """The tier raised by what was claimed, whatever its ruling, and by what is owed.

    `amounts` are the full amounts of the transactions that are owed: where several are, the tier goes
    by their sum.
    """
    raised = [tier, tier_of(pack, sum(amounts))] if pack.tier_amount_field else [tier]
    for claim in claims:
        category = pack.category(claim.category)
        if category is not None:
            raised.append(category.claimed_tier)
    return max(raised)
