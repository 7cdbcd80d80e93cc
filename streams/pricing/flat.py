"""Prices claims about the order as a whole: lateness, fees, and the whole order back."""

from schemas.grievance import Claim
from schemas.pack import FeeDifference, LateBands, MissingUnits, Pricing, WrongUnits
from streams.facts import moment, whole
from streams.pricing.draft import Asked, Want
from streams.pricing.holdings import FEE, LATE, OTHER_FEES, WHOLE
from streams.pricing.record import PricedRecord


def price_late(rule: LateBands, record: PricedRecord) -> Asked:
    """The credit of the highest band reached by the whole minutes past the promise."""
    most = max((band.amount_minor for band in rule.bands), default=0)
    late = record.facts.get("late_minutes")
    if late is None:
        problem = "the record lacks what lateness is counted from"
        return Asked("late", (Want(LATE, 0, most),), "", None, problem)
    if _ends_after_the_record(record):
        problem = "the record ends the order at a time after it was taken"
        return Asked("late", (Want(LATE, 0, most),), "", None, problem)
    reached = [band for band in rule.bands if band.from_minutes <= late]
    band = max(reached, key=lambda band: band.from_minutes, default=None)
    if band is None:
        first = min((band.from_minutes for band in rule.bands), default=0)
        basis = f"{late} minutes past the promise, under the first band ({first}): {record.show(0)}"
        return Asked("late", (Want(LATE, 0),), basis)
    basis = (
        f"{late} minutes past the promise, in the band from {band.from_minutes}: "
        f"{record.show(band.amount_minor)}"
    )
    return Asked("late", (Want(LATE, band.amount_minor),), basis)


def _ends_after_the_record(record: PricedRecord) -> bool:
    """A delivery or cancellation in the record's own future: one of its times is wrong."""
    taken = moment(record.evidence.get("captured_at"))
    ends = (moment(record.evidence.get(field)) for field in ("delivered_at", "cancelled_at"))
    return taken is not None and any(end is not None and end > taken for end in ends)


def price_fees(record: PricedRecord) -> Asked:
    """Charged − due: per fee where the record says what is due of each, else over the order."""
    paid, due = (
        whole(record.evidence.get(field)) for field in ("paid_total_minor", "paid_total_minor_due")
    )
    fees = [fee for fee in record.evidence.get("fee_lines") or () if isinstance(fee, dict)]
    if paid and any(fee["amount_minor"] > paid for fee in fees):
        problem = "a fee is above all that was paid"
        return Asked("fee", (Want(OTHER_FEES, 0, record.available or 0),), "", None, problem)
    known = [fee for fee in fees if whole(fee.get("due_minor")) is not None]
    if known and len(known) == len(fees):
        if record.holdings.has_single_fees():
            # Fees are told apart by their place in the record, and this may be another record.
            problem = "another dispute has fees of this order; which ones, the record does not say"
            return Asked("fee", (Want(OTHER_FEES, 0, record.available or 0),), "", None, problem)
        wants = tuple(
            Want(f"{FEE}:{i}", max(0, fee["amount_minor"] - max(0, fee["due_minor"])))
            for i, fee in enumerate(fees, 1)
        )
        basis = "; ".join(
            f"{fee['name']} charged {record.show(fee['amount_minor'])}, due "
            f"{record.show(fee['due_minor'])}"
            for fee in fees
        )
        owed = tuple(want for want in wants if want.amount)
        total = record.show(sum(want.amount for want in owed))
        return Asked("fee", owed or wants[:1], f"{basis}: {total}")
    if paid is None or due is None:
        most = record.available or 0
        problem = "the record lacks what was due (paid_total_minor_due)"
        return Asked("fee", (Want(FEE, 0, most),), "", None, problem)
    # A refund that names no line may have been this fee; of an order that is owed whole, any was part.
    back = record.refunds.external_minor if record.whole_order else record.refunds.loose_minor
    owed_minor = max(0, paid - due - back)
    basis = f"charged {record.show(paid)}, due {record.show(due)}"
    if back:
        basis += f", refunded {record.show(back)}"
    basis += f": {record.show(owed_minor)}"
    return Asked("fee", (Want(FEE, owed_minor),), basis)


def price_whole_order(claim: Claim, rule: Pricing, record: PricedRecord) -> Asked | None:
    """Everything paid − refunded, where the claim is about the whole order and the record shows that
    nothing was delivered; None where the claim is not about the whole order.

    A billing claim on an order whose status says that it was cancelled or not delivered is about the
    whole order even if it does not say so: what is charged for is not there. Where the record says what
    is due all the same (a cancellation fee), the claim is about the difference, like any other.
    """
    if not isinstance(rule, MissingUnits | WrongUnits | FeeDifference):
        return None
    if isinstance(rule, FeeDifference):
        stated = record.evidence.get("paid_total_minor_due") is not None
        asked = claim.scope == "order" or (claim.line_id is None and _by_status(record))
        if stated or not asked or not record.whole_order:
            return None
    elif claim.scope != "order":
        return None
    available = record.available or 0
    if not record.whole_order:
        problem = (
            "the whole order is claimed, and the record does not show that it was not delivered"
        )
        return Asked("whole", (Want(WHOLE, 0, available),), "", None, problem)
    paid = whole(record.evidence.get("paid_total_minor")) or 0
    gone = paid - available
    less = f" less refunded, paid or pending {record.show(gone)}" if gone else ""
    basis = f"the whole order: paid {record.show(paid)}{less} = {record.show(available)}"
    return Asked("whole", (Want(WHOLE, available),), basis)


def _by_status(record: PricedRecord) -> bool:
    rule = record.pack.whole_order
    status = str(record.evidence.get("order_status") or "").casefold()
    return rule is not None and any(status.startswith(p.casefold()) for p in rule.statuses)
