"""What settlement remembers of an order: each dispute on it, its lines, and under which key they are paid."""

from collections.abc import Iterable
from typing import Literal

from schemas.base import Model, UtcDatetime
from schemas.docket import DELETED, Docket, Usage
from schemas.ids import auto_key
from schemas.payment import Payment
from schemas.review import Review
from schemas.settlement import Decision, PriceLine
from streams.pricing.holdings import HeldScope, Holdings
from streams.reviewing import Approval


class VerdictNote(Model):
    """What settlement keeps of a verdict; the first revision seen for a grievance stands."""

    ruling: Literal["UPHELD", "REJECTED", "ESCALATE"]
    simulated: bool
    usage: Usage


class DisputeBook(Model):
    """One dispute on the order."""

    docket: Docket | None = None
    verdicts: dict[str, VerdictNote] = {}
    window_over: bool = False
    proposed: bool = False
    lines: tuple[PriceLine, ...] = ()
    """As proposed, then as decided; `disposition` says what still waits for a person."""
    paid_under: dict[str, str] = {}
    """Grievance → the payment key its line was authorised under."""
    decisions: dict[str, Decision] = {}
    payments: dict[str, Payment] = {}
    told: tuple[str, ...] = ()
    """Decisions whose letter has been asked for."""
    approvals: tuple[Approval, ...] = ()
    """Reviews that wait for a second person."""
    reviews: tuple[str, ...] = ()
    """Every review seen, whether it took effect or was refused."""
    early: tuple[Review, ...] = ()
    """Reviews that came before the automatic part had ended here."""
    needs_person: bool = False
    """True while a person must act, also where no line is worth anything."""
    unpriced: bool = False
    """The dispute ended before pricing, so that no line says what a person may approve."""
    appealed: bool = False
    """An appeal waits for a person."""
    decided_by: tuple[str, ...] = ()
    """Who decided it; another person decides an appeal."""
    tier: int = 1
    order_ceiling_minor: int | None = None
    """All payments of ours on the order together stay within it; None where its scopes bound them."""
    subject_ceiling_minor: int | None = None
    """What is left of the order, or of the transaction, by its record; None where there is no usable one."""

    def pending(self) -> tuple[PriceLine, ...]:
        return tuple(line for line in self.lines if line.disposition == "person")


class OrderBook(Model):
    """Everything settlement knows of one order (or one family of related bank transactions)."""

    disputes: dict[str, DisputeBook] = {}
    retire_at: UtcDatetime | None = None


def merge(lines: Iterable[PriceLine], newer: Iterable[PriceLine]) -> tuple[PriceLine, ...]:
    """The lines with those a decision speaks of replaced."""
    by_grievance = {line.grievance_id: line for line in lines}
    by_grievance.update({line.grievance_id: line for line in newer})
    return tuple(by_grievance.values())


def to_person(dispute: DisputeBook, key: str) -> tuple[PriceLine, ...]:
    """The lines that a refused payment stood for, put before a person."""
    return tuple(
        line.model_copy(update={"disposition": "person", "person_reason": "payment_refused"})
        if line.disposition == "pay" and dispute.paid_under.get(line.grievance_id) == key
        else line
        for line in dispute.lines
    )


def holdings(book: OrderBook, dispute_id: str) -> Holdings:
    """What other disputes on the order were paid, hold, or have before a person."""
    scopes: list[HeldScope] = []
    automatic = 0
    for other_id, other in book.disputes.items():
        if other_id == dispute_id:
            continue
        for line in other.lines:
            key = other.paid_under.get(line.grievance_id, auto_key(other_id))
            if line.disposition == "person":
                scopes += [HeldScope(s.scope, s.amount_minor, "proposed", key) for s in line.scopes]
            elif line.disposition == "pay":
                paid = key in other.payments
                scopes += [
                    HeldScope(s.scope, s.amount_minor, "paid" if paid else "held", key)
                    for s in line.scopes
                ]
                automatic += line.amount_minor if key == auto_key(other_id) else 0
    return Holdings(scopes=tuple(scopes), automatic_minor=automatic)


def room_on_order(book: OrderBook, dispute_id: str, dispute: DisputeBook) -> int | None:
    """What may still be paid on the order, a person's approvals included; None where nothing says. Of
    several disputes the tightest record counts: a refund that one was priced before is gone all the same."""
    disputes = list({**book.disputes, dispute_id: dispute}.values())
    ceilings = [
        each.order_ceiling_minor for each in disputes if each.order_ceiling_minor is not None
    ]
    if not ceilings:
        return None
    return max(0, min(ceilings) - paid_on(disputes))


def paid_on(disputes: Iterable[DisputeBook]) -> int:
    """Everything paid or in flight in these disputes."""
    return sum(
        line.amount_minor for each in disputes for line in each.lines if line.disposition == "pay"
    )


_GONE = dict.fromkeys(("problem", "evidence", "raw_reply"))


def without_text(docket: Docket) -> Docket:
    """The docket in codes: neither the customer's words nor a problem that quotes them."""
    claims = tuple(claim.model_copy(update={"text": DELETED}) for claim in docket.claims)
    return docket.model_copy(update={"text": DELETED, "claims": claims, **_GONE})
