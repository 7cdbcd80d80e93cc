"""Lines that a person decides: how they come to one, and what the person may approve, once per scope."""

from collections.abc import Iterable, Sequence

from schemas.settlement import PriceLine, ScopeShare


def hand_to_person(lines: Iterable[PriceLine], reason: str) -> tuple[PriceLine, ...]:
    """The lines with every upheld one before a person. What it is worth stays beside it; nothing of it
    is paid. `reason` is the decision's rule; a line's own reason, where it has one, stands."""
    return tuple(
        line.model_copy(
            update={
                "disposition": "person",
                "amount_if_upheld_minor": max(line.amount_minor, line.amount_if_upheld_minor),
                "person_reason": line.person_reason or reason,
            }
        )
        if line.ruling == "UPHELD"
        else line
        for line in lines
    )


def escalated_categories(lines: Iterable[PriceLine]) -> tuple[str, ...]:
    """The sorted, distinct categories that a person must decide."""
    return tuple(sorted({line.category for line in lines if line.disposition == "person"}))


def approvable(lines: Iterable[PriceLine]) -> tuple[ScopeShare, ...]:
    """Each scope that waits for a person once, with the most that any line asks for it (what `approve`
    pays) and the most that may be approved."""
    best: dict[str, ScopeShare] = {}
    for line in lines:
        if line.disposition != "person":
            continue
        for share in line.scopes:
            other = best.get(share.scope, share)
            best[share.scope] = ScopeShare(
                scope=share.scope,
                amount_minor=max(share.amount_minor, other.amount_minor),
                ceiling_minor=max(most(share), most(other)),
            )
    return tuple(best.values())


def most(share: ScopeShare) -> int:
    """The most a person may approve for the scope."""
    return max(share.amount_minor, share.ceiling_minor or 0)


def ceiling(lines: Sequence[PriceLine], room_minor: int | None = None) -> int:
    """The most a person may approve for all lines together; `room_minor` is what is left of the order
    now (its ceiling less everything paid or in flight on it), where that is known."""
    total = sum(most(share) for share in approvable(lines))
    return total if room_minor is None else min(total, room_minor)
