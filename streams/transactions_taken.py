"""Transactions whose payment was decided, per customer: where disputes meet that settle apart.

Disputes on related transactions settle under the smallest id, so that what is paid once meets in one order
book. Where the records of two transactions do not agree on who is related, they settle under two ids, and
either book could pay the same transaction. Both are one customer's, so they meet at the allowance: the
first stands, and the other is for a person, who may not pay it either.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from schemas.base import Id, Model, UtcDatetime
from schemas.pack import PolicyPack
from schemas.settlement import PriceLine, Proposal
from streams.pricing.holdings import TRANSACTION
from streams.pricing.people import escalated_categories, hand_to_person, most

RULE = "evidence_invalid"
"""What decides an automatic proposal that meets another: the records contradict each other."""
REFUSED = "review_refused:transaction_taken"
"""What becomes of a person's; the dispute still waits."""


class Taken(Model):
    """Where the payment of a transaction was decided, and until when that is remembered."""

    settles_under: Id
    until: UtcDatetime


class Stopped(Model):
    """What becomes of a proposal that is stopped: nothing of it is paid, a person decides."""

    lines: tuple[PriceLine, ...]
    decision_rule: str
    escalated: tuple[str, ...]


def stopped(
    taken: Mapping[str, Taken], proposal: Proposal, lines: tuple[PriceLine, ...]
) -> Stopped | None:
    """The end of a proposal whose `lines` would pay a transaction that another order book has; None where
    none does. What is left of its lines waits for a person."""
    elsewhere = frozenset(
        scope
        for scope in _scopes(lines)
        if scope in taken and taken[scope].settles_under != proposal.settles_under
    )
    if not elsewhere:
        return None
    waiting = tuple(_without(line, elsewhere) if _pays(line) else line for line in lines)
    if proposal.review_id is None:
        waiting = hand_to_person(waiting, RULE)
    return Stopped(
        lines=waiting,
        decision_rule=RULE if proposal.review_id is None else REFUSED,
        escalated=escalated_categories(waiting),
    )


def remember(
    taken: Mapping[str, Taken],
    lines: Iterable[PriceLine],
    settles_under: str,
    pack: PolicyPack,
    now: datetime,
) -> dict[str, Taken]:
    """The register with what these lines pay, for as long as settlement remembers the order."""
    until = now + timedelta(days=pack.limits.max_order_age_days + pack.windows.retire_days)
    kept = {scope: entry for scope, entry in taken.items() if entry.until > now}
    mine = Taken(settles_under=settles_under, until=until)
    return kept | dict.fromkeys(_scopes(lines), mine)


def _pays(line: PriceLine) -> bool:
    return line.disposition == "pay"


def _scopes(lines: Iterable[PriceLine]) -> list[str]:
    return [
        share.scope
        for line in lines
        if _pays(line)
        for share in line.scopes
        if share.scope.startswith(TRANSACTION)
    ]


def _without(line: PriceLine, elsewhere: frozenset[str]) -> PriceLine:
    kept = tuple(share for share in line.scopes if share.scope not in elsewhere)
    gone = sorted({share.scope for share in line.scopes} & elsewhere)
    amount = sum(share.amount_minor for share in kept)
    told = f"; {', '.join(gone)} was decided in a dispute that settles apart" if gone else ""
    return line.model_copy(
        update={
            "disposition": "person",
            "amount_minor": amount if line.ruling == "UPHELD" else 0,
            "amount_if_upheld_minor": amount,
            "ceiling_minor": sum(most(share) for share in kept),
            "scopes": kept,
            "basis": line.basis + told,
            "person_reason": "transaction_taken",
        }
    )
