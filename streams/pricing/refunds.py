"""What was refunded on an order already: the operator's refunds and our own payments, counted once.

A refund whose `refund_id` is one of our payment keys is our payment. The others are added. Where a
refund carries a line and no reference, it and our payments on that line may be the same money: the larger counts.
But a payment of ours that the record names is in it already, and stands for no other of its refunds.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streams.facts import whole
from streams.pricing.holdings import Holdings, line_of, unit_of
from streams.pricing.shares import Line


@dataclass(frozen=True)
class LineRefunds:
    """What is gone of one line."""

    refunded: frozenset[int] = frozenset()
    """Units the operator refunded: the lowest that were not paid yet."""
    held: frozenset[int] = frozenset()
    """Units other disputes of ours were paid, hold, or have before a person."""
    partly: bool = False
    """A unit was refunded in part, so that what is left of it is for a person to say."""
    external_minor: int = 0

    @property
    def taken(self) -> frozenset[int]:
        return self.refunded | self.held


@dataclass(frozen=True)
class Refunds:
    lines: Mapping[str, LineRefunds]
    external_minor: int
    """Refunded by others than us, over the whole order."""
    loose_minor: int
    """Of these, refunds that name no line of the order."""
    ours_minor: int
    """Paid, in flight or before a person, by other disputes of ours."""


def unite(evidence: Mapping[str, Any], lines: Sequence[Line], holdings: Holdings) -> Refunds:
    """Bring the record's `refunds` and our own payments together.

    Raises:
        ValueError: a refund whose amount is not a whole number of minor units, or is negative; or one
            reference that names one line twice: told twice or made twice, the record cannot say which.
    """
    recorded = _references(evidence)
    ours: dict[str, int] = defaultdict(int)
    ours_by_line: dict[str | None, int] = defaultdict(int)
    for held in holdings.scopes:
        if held.state != "proposed":
            ours[held.key] += held.amount_minor
            if held.key not in recorded:
                ours_by_line[line_of(held.scope)] += held.amount_minor
    matched: dict[str, int] = defaultdict(int)
    external: dict[str | None, list[tuple[int, int | None]]] = defaultdict(list)
    nameless: dict[str | None, list[tuple[int, int | None]]] = defaultdict(list)
    told: set[tuple[object, object]] = set()
    for refund in evidence.get("refunds") or ():
        amount = whole(refund.get("amount_minor")) if isinstance(refund, dict) else None
        if amount is None or amount < 0:
            raise ValueError("refunds: an amount is missing or is not an amount")
        reference, line_id = refund.get("refund_id"), refund.get("line_id")
        if reference and (reference, line_id) in told:
            raise ValueError("refunds: one refund_id names one line twice; send each refund once")
        told.add((reference, line_id))
        entry = (amount, whole(refund.get("quantity")))
        if reference in ours:
            matched[reference] += amount
        elif reference:
            external[line_id].append(entry)
        else:
            nameless[line_id].append(entry)
    for line_id, entries in nameless.items():
        # One that names no line could be anybody's, and is added: nothing says that it is ours.
        same = ours_by_line[line_id] if line_id is not None else 0
        beyond = sum(amount for amount, _ in entries) - same
        if not same:
            external[line_id] += entries
        elif beyond > 0:
            external[line_id].append((beyond, None))
    beyond_ours = sum(max(0, amount - ours[key]) for key, amount in matched.items())
    total = sum(amount for entries in external.values() for amount, _ in entries)
    by_line = {line.line_id: _on_line(line, external[line.line_id], holdings) for line in lines}
    return Refunds(
        lines=by_line,
        external_minor=total + beyond_ours,
        loose_minor=sum(
            amount
            for line_id in external
            if line_id not in by_line
            for amount, _ in external[line_id]
        ),
        ours_minor=sum(held.amount_minor for held in holdings.scopes),
    )


def _references(evidence: Mapping[str, Any]) -> frozenset[object]:
    return frozenset(
        refund.get("refund_id")
        for refund in evidence.get("refunds") or ()
        if isinstance(refund, Mapping) and isinstance(refund.get("refund_id"), str)
    )


def _on_line(
    line: Line, entries: Sequence[tuple[int, int | None]], holdings: Holdings
) -> LineRefunds:
    """A refund that says how many units takes that many; one that says only how much takes the units it
    pays in full, and what is left over is a unit refunded in part."""
    held = frozenset(
        unit
        for scope in holdings.scopes
        if line_of(scope.scope) == line.line_id and (unit := unit_of(scope.scope)) is not None
    )
    if not entries:
        return LineRefunds(held=held)
    free = [unit for unit in range(1, line.quantity + 1) if unit not in held]
    least = line.unit_share(line.quantity)  # shares fall along the line, by a cent at most
    refunded, partly = 0, False
    for amount, units in entries:
        if units:
            partly = partly or amount < units * least
            refunded += units
            continue
        while refunded < len(free) and line.unit_share(free[refunded]) <= amount:
            amount -= line.unit_share(free[refunded])
            refunded += 1
        partly = partly or (amount > 0 and refunded < len(free))
    return LineRefunds(
        refunded=frozenset(free[:refunded]),
        held=held,
        partly=partly,
        external_minor=sum(amount for amount, _ in entries),
    )
