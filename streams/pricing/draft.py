"""A grievance with what it would be paid for by itself, before scopes meet and the order's ceiling bites."""

from dataclasses import dataclass, field
from typing import Literal

from schemas.grievance import Claim
from schemas.pack import Category
from streams.pricing.holdings import Holdings

Ruling = Literal["UPHELD", "REJECTED", "ESCALATE"]
_STATES = {
    "paid": "was paid",
    "held": "is being paid",
    "proposed": "is before a person",
}
LineScope = Literal["unit", "weight", "late", "fee", "whole", "transaction", "none"]


@dataclass(frozen=True)
class Want:
    """One pay scope a claim asks for. Minor units."""

    scope: str
    amount: int
    ceiling: int = 0
    """The most a person may approve for it; at least `amount`."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ceiling", max(self.amount, self.ceiling))


@dataclass(frozen=True)
class Asked:
    """What pricing makes of one claim on its own."""

    scope: LineScope
    wants: tuple[Want, ...] = ()
    basis: str = ""
    quantity: int | None = None
    problem: str | None = None
    """Why code cannot price it, in words for an officer; `wants` then only say what a person may approve."""

    def without(self, holdings: Holdings) -> "Asked":
        """The same less every scope that another dispute on the order has."""
        free = tuple(want for want in self.wants if holdings.holder(want.scope) is None)
        if len(free) == len(self.wants):
            return self
        lost = next(want for want in self.wants if want not in free)
        holder = holdings.holder(lost.scope)
        words = (
            "" if holder is None else f"; {lost.scope} {_STATES[holder.state]} in another dispute"
        )
        return Asked(self.scope, free, self.basis + words, self.quantity, self.problem)


@dataclass(frozen=True)
class Draft:
    """A claim, its category and ruling as pricing takes them, and what it asks for."""

    claim: Claim
    category: Category | None
    ruling: Ruling
    asked: Asked = field(default_factory=lambda: Asked("none"))
    person_reason: str | None = None
    """Set: a person decides the line, whatever it is worth."""

    @property
    def for_a_person(self) -> bool:
        return self.ruling == "ESCALATE" or self.person_reason is not None
