"""What other disputes on the same order were paid, hold in flight, or have before a person."""

from dataclasses import dataclass
from typing import Literal

WHOLE = "whole"
LATE = "LATE"
FEE = "fee"
OTHER_FEES = "fees"
"""What a person may give for fees beside those that another dispute has."""
UNNAMED = "order:"
"""Goods of the order that a claim could not tie to a line, by category."""
REVIEWED = "reviewed:"
"""What a person gave for an order as a whole, by dispute: it may have stood for anything on it."""
TRANSACTION = "tx:"
RESERVED = (f"{FEE}:", UNNAMED, REVIEWED, TRANSACTION)
"""How scopes begin that are not goods. A line whose id began so would be taken for one of them, and paid
outside the order's ceiling."""


@dataclass(frozen=True)
class HeldScope:
    """One pay scope that another dispute on the order has. Amounts are minor units."""

    scope: str
    amount_minor: int
    state: Literal["paid", "held", "proposed"]
    """`held`: decided, the gateway has not answered; `proposed`: a person decides."""
    key: str
    """The payment key it was or would be paid under (`<dispute>:auto`, `<dispute>:review:<id>`)."""


@dataclass(frozen=True)
class Holdings:
    """Empty for the first dispute on an order."""

    scopes: tuple[HeldScope, ...] = ()
    automatic_minor: int = 0
    """Earlier automatic payments on the order, paid or in flight; the cap counts them."""

    def holder(self, scope: str) -> HeldScope | None:
        """What stands in the way of paying this scope, or None.

        A scope is paid once, ever. The whole order stands in the way of every other scope of it; one
        fee stands in the way of the order's fees taken together, and the other way round.
        """
        return next((held for held in self.scopes if _conflict(held.scope, scope)), None)

    def has_single_fees(self) -> bool:
        """Another dispute has one or more fees of the order, each under a scope of its own."""
        return any(held.scope.startswith(f"{FEE}:") for held in self.scopes)

    def has_unnamed_goods(self) -> bool:
        """Another dispute has goods of the order that no line names: nobody can tell which units."""
        return any(held.scope.startswith(UNNAMED) for held in self.scopes)

    def has_reviewed(self) -> bool:
        """A person gave something for the order as a whole."""
        return any(held.scope.startswith(REVIEWED) for held in self.scopes)


NOTHING_HELD = Holdings()


def line_of(scope: str) -> str | None:
    """The line a unit or weight scope (`L1#2`, `L1#weight`) belongs to; None for any other scope."""
    line, hash_mark, _ = scope.rpartition("#")
    return line if hash_mark else None


def unit_of(scope: str) -> int | None:
    """The unit of `L1#2`; None for weight and for scopes that are not goods."""
    number = scope.rpartition("#")[2]
    return int(number) if line_of(scope) is not None and number.isdecimal() else None


def _conflict(held: str, wanted: str) -> bool:
    if held == wanted or (held == WHOLE and not wanted.startswith(TRANSACTION)):
        return True
    fees = {held, wanted}
    return FEE in fees and any(scope.startswith(FEE + ":") for scope in fees)
