"""Where claims of one dispute meet: each scope is paid once, the larger, and the order has a ceiling.

The ceiling bites scope by scope in one fixed order, whatever the claims, with the late credit last. So a
claim that asks for more can only take from others, never give: raising one never raises another line.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from streams.pricing.draft import Draft, Want
from streams.pricing.holdings import LATE, TRANSACTION, WHOLE, line_of, unit_of
from streams.pricing.record import PricedRecord


@dataclass(frozen=True)
class Resolved:
    """What one draft gets. Minor units."""

    draft: Draft
    wants: tuple[Want, ...]
    notes: tuple[str, ...] = ()
    """What the other claims and the ceiling did to it."""
    alone_minor: int = 0
    """What it would be worth if it were the only one a person approves."""

    @property
    def amount(self) -> int:
        return sum(want.amount for want in self.wants)

    @property
    def ceiling(self) -> int:
        return sum(want.ceiling for want in self.wants)


def resolve(drafts: Sequence[Draft], record: PricedRecord) -> dict[str, Resolved]:
    """By grievance, what each claim that was not rejected gets, the upheld ones first."""
    upheld = _resolve_upheld(
        [draft for draft in drafts if draft.ruling == "UPHELD" and not draft.for_a_person], record
    )
    waiting = [draft for draft in drafts if draft.ruling != "REJECTED" and draft.for_a_person]
    together = _cap_ceilings(_resolve_escalated(waiting, record, upheld), upheld, record)
    return {item.draft.claim.grievance_id: item for item in together}


def _cap_ceilings(
    waiting: Sequence[Resolved], upheld: Sequence[Resolved], record: PricedRecord
) -> list[Resolved]:
    """What a person may approve beyond the priced amounts: all together, once per scope, no more than
    is left of the order, those that wait for a person served before those that code may pay."""
    items = [*waiting, *upheld]
    amounts: dict[str, int] = {}
    extras: dict[str, int] = {}
    for want in (want for item in items for want in item.wants):
        amounts[want.scope] = max(amounts.get(want.scope, 0), want.amount)
        extras[want.scope] = max(extras.get(want.scope, 0), want.ceiling)
    left = record.available
    if left is not None:
        left = max(
            0, left - sum(amount for scope, amount in amounts.items() if _of_order(scope, record))
        )
    capped: dict[str, int] = {}
    for group in (waiting, upheld):
        asked = {
            want.scope: extras[want.scope] - amounts[want.scope]
            for item in group
            for want in item.wants
            if want.scope not in capped
        }
        given = _under_ceiling(asked, left, record)
        capped.update(given)
        if left is not None:
            left -= sum(extra for scope, extra in given.items() if _of_order(scope, record))
    return [
        Resolved(
            item.draft,
            tuple(Want(w.scope, w.amount, amounts[w.scope] + capped[w.scope]) for w in item.wants),
            item.notes,
            item.alone_minor,
        )
        for item in items
    ]


def _resolve_upheld(drafts: Sequence[Draft], record: PricedRecord) -> list[Resolved]:
    """Share the scopes, and what is left of the order, out among the upheld, payable claims."""
    best = _largest(drafts, record)
    amounts = {scope: want.amount for scope, (want, _) in best.items()}
    paid = _under_ceiling(amounts, record.available, record)
    out: list[Resolved] = []
    for i, draft in enumerate(drafts):
        wants: list[Want] = []
        notes: list[str] = []
        lost = 0
        for want in draft.asked.wants:
            winner = _winner(want.scope, best)
            if winner != i:
                notes.append(_paid_once(want.scope, drafts[winner]))
                continue
            lost += want.amount - paid[want.scope]
            wants.append(Want(want.scope, paid[want.scope], want.ceiling))
        if lost:
            notes.append(f"{record.show(lost)} less: no more than paid − refunded is left")
        out.append(Resolved(draft, tuple(wants), _distinct(notes)))
    return out


def _resolve_escalated(
    drafts: Sequence[Draft], record: PricedRecord, upheld: Sequence[Resolved]
) -> list[Resolved]:
    """What each claim that a person decides would pay: nothing under a scope that an upheld claim has,
    and all of them together no more than the upheld ones leave of the order."""
    taken = {want.scope: item.draft for item in upheld for want in item.wants}
    spent = {want.scope: want.amount for item in upheld for want in item.wants}
    left = record.available
    if left is not None:
        left = max(
            0, left - sum(amount for scope, amount in spent.items() if _of_order(scope, record))
        )
    free = [
        tuple(want for want in draft.asked.wants if _holder(want.scope, taken, record) is None)
        for draft in drafts
    ]
    amounts: dict[str, int] = {}
    for want in (want for wants in free for want in wants):
        amounts[want.scope] = max(amounts.get(want.scope, 0), want.amount)
    together = _under_ceiling(amounts, left, record)
    out: list[Resolved] = []
    for draft, wants in zip(drafts, free, strict=True):
        notes = [
            _paid_once(want.scope, holder)
            for want in draft.asked.wants
            if (holder := _holder(want.scope, taken, record)) is not None
        ]
        alone = _under_ceiling({want.scope: want.amount for want in wants}, left, record)
        kept = tuple(
            Want(want.scope, min(want.amount, together[want.scope]), want.ceiling) for want in wants
        )
        out.append(Resolved(draft, kept, _distinct(notes), sum(alone.values())))
    return out


def _largest(drafts: Sequence[Draft], record: PricedRecord) -> dict[str, tuple[Want, int]]:
    """By scope, the claim that asks most for it; of equals the earlier. The whole order, where it is
    asked for, leaves no other scope of it."""
    best: dict[str, tuple[Want, int]] = {}
    for i, draft in enumerate(drafts):
        for want in draft.asked.wants:
            if want.scope not in best or want.amount > best[want.scope][0].amount:
                best[want.scope] = (want, i)
    if WHOLE in best:
        best = {
            scope: won
            for scope, won in best.items()
            if scope == WHOLE or not _of_order(scope, record)
        }
    return best


def _winner(scope: str, best: Mapping[str, tuple[Want, int]]) -> int:
    return best[scope if scope in best else WHOLE][1]


def _holder(scope: str, taken: Mapping[str, Draft], record: PricedRecord) -> Draft | None:
    """The upheld claim that has the scope, or the whole order it is part of."""
    found = taken.get(scope)
    return found or (taken.get(WHOLE) if _of_order(scope, record) else None)


def _under_ceiling(
    amounts: Mapping[str, int], left: int | None, record: PricedRecord
) -> dict[str, int]:
    """Each scope's amount as far as what is left of the order goes, the late credit last."""
    given: dict[str, int] = {}
    for scope in sorted(amounts, key=lambda scope: _place(scope, record)):
        given[scope] = amounts[scope]
        if left is not None and _of_order(scope, record):
            given[scope] = min(amounts[scope], left)
            left -= given[scope]
    return given


def _place(scope: str, record: PricedRecord) -> tuple[int, int, int, str]:
    """The one order in which scopes are served: goods by line and unit, fees and the rest, LATE."""
    line = record.lines.get(line_of(scope) or "")
    if line is not None:
        return 0, line.position, unit_of(scope) or 0, scope
    return (2 if scope == LATE else 1), 0, 0, scope


def _of_order(scope: str, record: PricedRecord) -> bool:
    """Whether the scope is paid out of the total of the order; a related transaction has its own."""
    return scope == record.subject_scope or not scope.startswith(TRANSACTION)


def _paid_once(scope: str, by: Draft) -> str:
    if scope == LATE and by.asked.scope == "whole":
        return "no late credit on top of the whole order"
    return f"{scope} is paid once, under {by.claim.category}"


def _distinct(notes: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(notes))
