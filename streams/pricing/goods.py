"""Prices claims about goods, unit by unit: missing, wrong, and bad on delivery.

Units of a line are numbered from 1. Those that are missing are the lowest, the delivered ones follow:
so a missing and a leaking portion of one line are different units, while a wrong and a leaking one may
be the same and are then paid once.
"""

from collections.abc import Mapping
from fractions import Fraction

from schemas.grievance import Claim
from schemas.pack import DeliveredUnits, MissingUnits, WrongUnits
from streams.facts import whole
from streams.pricing.draft import Asked, Want
from streams.pricing.holdings import UNNAMED, unit_of
from streams.pricing.record import PricedRecord
from streams.pricing.shares import Line

MAX_UNITS = 500
"""Units one claim may be priced for; a claim for more goes to a person."""

GoodsRule = MissingUnits | WrongUnits | DeliveredUnits
Missing = Mapping[str, int]
"""By line: how many units the upheld claims of this dispute say, and the record allows, are missing."""


def price_goods(
    claim: Claim, category: str, rule: GoodsRule, record: PricedRecord, missing: Missing
) -> Asked:
    """What a claim about goods asks for by itself."""
    line = record.lines.get(claim.line_id) if claim.line_id is not None else None
    if line is None or claim.scope == "order":
        return _unlined(category, record, claim)
    refunds = record.refunds.lines[line.line_id]
    paid = whole(record.evidence.get("paid_total_minor"))
    if paid and record.ceiling and line.unit_share(line.quantity) > paid:
        return _for_a_person(claim, record, line, "one unit is priced above all that was paid")
    if refunds.partly:
        return _for_a_person(claim, record, line, "a unit of the line was refunded in part")
    if record.holdings.has_unnamed_goods():
        problem = "another dispute has goods of this order that no line names; they may be these"
        return _for_a_person(claim, record, line, problem)
    if line.by_weight and isinstance(rule, MissingUnits):
        return _short_weight(claim, record, line)
    if isinstance(rule, DeliveredUnits) and record.facts.get("delivered") is not True:
        return _for_a_person(claim, record, line, "the record does not show a delivery")
    pool, bounds, said = _bounds(rule, record, line, missing)
    free = [unit for unit in pool if unit not in refunds.taken]
    if free and refunds.held and line.packed is None and line.recorded_missing is None:
        problem = "another dispute has units of this line; no record tells its units from these"
        return _for_a_person(claim, record, line, problem)
    count = max(0, min(*bounds, len(free), claim.quantity or line.quantity))
    if claim.quantity is None and count and _could_be(rule, record, line) > 1:
        return _for_a_person(claim, record, line, "how many units are meant is not said")
    if count > MAX_UNITS:
        return _for_a_person(claim, record, line, f"more than {MAX_UNITS} units are claimed")
    told = [f"claimed {claim.quantity or 'without a number'}", f"ordered {line.quantity}", *said]
    if refunds.taken:
        told.append(f"refunded, paid or pending {len(refunds.taken)}")
    return _units(rule, record, line, free[:count], told)


def missing_units(
    claim: Claim, category: str, rule: MissingUnits, record: PricedRecord
) -> tuple[str, int] | None:
    """The line and the highest unit that an upheld missing claim takes, so that no delivered unit is
    sought among them; None where it takes none."""
    asked = price_goods(claim, category, rule, record, {})
    units = [unit_of(want.scope) or 0 for want in asked.wants]
    if asked.problem is not None or asked.scope != "unit" or not units or claim.line_id is None:
        return None
    return claim.line_id, max(units)


def _could_be(rule: GoodsRule, record: PricedRecord, line: Line) -> int:
    """Units that a claim without a number may be about, whatever else is claimed: one more missing unit in
    another claim must not make it certain which is meant."""
    pool, bounds, _ = _bounds(rule, record, line, {})
    taken = record.refunds.lines[line.line_id].taken
    return min(*bounds, len([unit for unit in pool if unit not in taken]))


def _bounds(
    rule: GoodsRule, record: PricedRecord, line: Line, missing: Missing
) -> tuple[list[int], list[int], list[str]]:
    """The units a claim may be about, in the order they are taken; what bounds their number; and that
    in words.

    MISSING: ordered − refunded, recorded missing − refunded. WRONG: ordered − refunded, units packed
    under another name less those other disputes have. Delivered goods: ordered − missing.
    """
    refunds = record.refunds.lines[line.line_id]
    bounds, told = [line.quantity - len(refunds.taken)], []
    if isinstance(rule, MissingUnits):
        if line.recorded_missing is not None:
            bounds.append(line.recorded_missing - len(refunds.taken))
            told.append(f"recorded missing {line.recorded_missing}")
        return list(range(1, line.quantity + 1)), bounds, told
    unpacked = line.recorded_missing if line.packed is None else line.quantity - line.packed
    gone = max(missing.get(line.line_id, 0), unpacked or 0)
    delivered = list(range(gone + 1, line.quantity + 1))
    if isinstance(rule, DeliveredUnits):
        told += [f"delivered {len(delivered)}"] if gone else []
        return delivered, bounds, told
    if line.wrong_units is not None:
        bounds.append(line.wrong_units - len(refunds.held & set(delivered)))
        told.append(f"packed under another name {line.wrong_units}")
    # The lowest first; but where only a claim says which are missing, the highest, so that one more
    # missing unit moves a wrong one up the line, never down to a unit worth a cent more.
    rest = range(gone, 0, -1) if unpacked is None else range(1, gone + 1)
    return [*delivered, *rest], bounds, told


def _units(
    rule: GoodsRule, record: PricedRecord, line: Line, units: list[int], words: list[str]
) -> Asked:
    numerator, denominator = 1, 1
    if isinstance(rule, DeliveredUnits):
        numerator, denominator = min(rule.numerator, rule.denominator), rule.denominator
    wants = tuple(
        Want(
            f"{line.line_id}#{unit}",
            line.unit_share(unit) * numerator // denominator,
            line.unit_share(unit),
        )
        for unit in units
    )
    shares = [record.show(line.unit_share(unit)) for unit in units]
    each = shares[0] if len(set(shares)) == 1 else " + ".join(shares) if len(shares) < 6 else "each"
    part = "" if numerator == denominator else f" × {numerator}/{denominator}, each rounded down,"
    total = record.show(sum(want.amount for want in wants))
    basis = f"{', '.join(words)} → {len(units)} unit{'' if len(units) == 1 else 's'}"
    if units:
        basis += f" of {each}{part} = {total}"
    return Asked("unit", wants, f"{basis} ({line.words(record.pack.currency)})", len(units))


def _short_weight(claim: Claim, record: PricedRecord, line: Line) -> Asked:
    """The missing share of a line sold by weight, of each of its units, rounded down."""
    if not line.ordered_kg or line.packed_kg is None:
        problem = "the line is sold by weight and the record lacks the weights"
        return _for_a_person(claim, record, line, problem)
    short = max(Fraction(0), 1 - Fraction(line.packed_kg) / Fraction(line.ordered_kg))
    taken = record.refunds.lines[line.line_id].taken
    free = [unit for unit in range(1, line.quantity + 1) if unit not in taken]
    if len(free) > MAX_UNITS:
        return _for_a_person(claim, record, line, f"the line has more than {MAX_UNITS} units")
    wants = tuple(
        Want(f"{line.line_id}#{unit}", int(line.unit_share(unit) * short), line.unit_share(unit))
        for unit in free
    )
    basis = (
        f"{max(0, line.ordered_kg - line.packed_kg)} kg short of {line.ordered_kg} kg ordered: "
        f"{float(short * 100):.2f} % of {record.show(sum(want.ceiling for want in wants))}, rounded "
        f"down, = {record.show(sum(want.amount for want in wants))} "
        f"({line.words(record.pack.currency)})"
    )
    return Asked("weight", wants, basis, claim.quantity)


def _for_a_person(claim: Claim, record: PricedRecord, line: Line, problem: str) -> Asked:
    """Nothing is priced; a person may approve up to the worth of the claimed units that are not ours."""
    refunds = record.refunds.lines[line.line_id]
    free = [unit for unit in range(1, line.quantity + 1) if unit not in refunds.held]
    left = max(0, line.total - refunds.external_minor)
    wants = []
    for unit in free[: min(claim.quantity or line.quantity, MAX_UNITS)]:
        most = min(left, line.unit_share(unit))
        left -= most
        wants.append(Want(f"{line.line_id}#{unit}", 0, most))
    return Asked("weight" if line.by_weight else "unit", tuple(wants), "", claim.quantity, problem)


def _unlined(category: str, record: PricedRecord, claim: Claim) -> Asked:
    """A person may approve up to what is left of the order, once per category."""
    named = "no line" if claim.line_id is None else f"line {claim.line_id!r}"
    problem = f"the claim names {named} of the order that it can be tied to"
    want = Want(f"{UNNAMED}{category}", 0, record.available or 0)
    return Asked("none", (want,), "", claim.quantity, problem)
