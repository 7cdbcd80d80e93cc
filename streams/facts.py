"""What a record says, as named facts: its own top-level fields, and those derived from them.

Pack conditions and formulas read these names. Every derivation is total: a field that is missing or of
the wrong kind leaves the fact out, so that a comparison with it is false and a formula that needs it
goes to a person. Amounts are minor units, distances metres, weights kilograms.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

from schemas.pack import WholeOrder

Body = Mapping[str, Any]

DERIVED = frozenset(
    {
        "late_minutes", "delivered", "undelivered", "last_distance_m", "scan_present",
        "scan_complete", "fee_overcharge_minor", "line_ordered", "line_scanned", "line_packed",
        "line_recorded_missing", "line_wrong_units", "line_refunded", "line_short_kg",
        "reversed_effective_minor", "dispensed_effective_minor",
        "related_same_reference",
    }
)  # fmt: skip
"""Every name this module may add to a record's own fields."""


def facts(
    evidence: Body, line_id: str | None = None, whole_order: WholeOrder | None = None
) -> dict[str, Any]:
    """The fields of the record and the facts derived from them; `line_*` ones for the line named.

    `whole_order` is the pack's condition for `undelivered`; without it that fact is left out.
    """
    derived: dict[str, Any] = {
        "late_minutes": late_minutes(evidence),
        "last_distance_m": last_distance_m(evidence),
        "fee_overcharge_minor": _fee_overcharge(evidence),
        "scan_present": isinstance(evidence.get("packing_scan"), list | tuple) or None,
        "related_same_reference": _related_count(evidence),
        **_bank(evidence),
    }
    if whole_order is not None:
        derived["undelivered"] = undelivered(evidence, whole_order)
    derived["delivered"] = _delivered(evidence, derived.get("undelivered", False))
    lines = [line for line in _dicts(evidence, "line_items") if "line_id" in line]
    if derived["scan_present"]:
        missing = [recorded_missing(evidence, line) for line in lines]
        derived["scan_complete"] = bool(missing) and all(units == 0 for units in missing)
    line = next((line for line in lines if line["line_id"] == line_id), None)
    if line is not None:
        derived.update(_line(evidence, line))
    known = {name: value for name, value in derived.items() if value is not None}
    return {**evidence, **known}


def moment(value: Any) -> datetime | None:
    """A time with a zone, or None."""
    try:
        parsed = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return parsed if parsed.tzinfo is not None else None


def whole(value: Any) -> int | None:
    """A whole number, or None: booleans, floats and texts are not amounts or counts."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def weight(value: Any) -> Decimal | None:
    """A weight as the decimal it was written as; None where it is none, negative or not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        kg = Decimal(str(value))
    except InvalidOperation:
        return None
    return kg if kg.is_finite() and kg >= 0 else None


def late_minutes(evidence: Body) -> int | None:
    """Whole minutes past the promise, floored; negative when early. Without delivered_at it counts to
    cancelled_at, else to captured_at."""
    placed, sla = moment(evidence.get("placed_at")), whole(evidence.get("delivery_sla_minutes"))
    ends = (moment(evidence.get(f)) for f in ("delivered_at", "cancelled_at", "captured_at"))
    end = next((at for at in ends if at is not None), None)
    if placed is None or sla is None or end is None:
        return None
    return (end - placed) // timedelta(minutes=1) - sla


def last_distance_m(evidence: Body) -> Decimal | None:
    """How far from the customer the courier's last recorded position was."""
    trail = [
        (at, distance)
        for point in _dicts(evidence, "gps_trail")
        if (at := moment(point.get("at"))) is not None
        and (distance := weight(point.get("distance_to_customer_m"))) is not None
    ]
    return max(trail, key=lambda point: point[0])[1] if trail else None


def undelivered(evidence: Body, rule: WholeOrder) -> bool:
    """The whole-order condition: a status that says so, or no code at the door *recorded* and the last
    position too far away. An absent code is not recorded, and proves nothing."""
    status = str(evidence.get("order_status") or "").casefold()
    if any(status.startswith(prefix.casefold()) for prefix in rule.statuses):
        return True
    distance = last_distance_m(evidence)
    return (
        evidence.get(rule.door_code_field) is False
        and distance is not None
        and distance > Decimal(repr(rule.min_distance_m))
    )


def scan_rows(evidence: Body, line_id: str) -> list[Body]:
    """The packing scan's rows for a line; empty where the scan does not list it."""
    return [
        row
        for row in _dicts(evidence, "packing_scan")
        if row.get("line_id") == line_id and whole(row.get("packed_quantity")) is not None
    ]


def packed_units(evidence: Body, line_id: str) -> int | None:
    """Units of a line that the scan says were packed; None where the scan does not list it."""
    rows = scan_rows(evidence, line_id)
    return sum(int(row["packed_quantity"]) for row in rows) if rows else None


def recorded_missing(evidence: Body, line: Body) -> int | None:
    """Units of a line that the record shows missing: ordered − packed by the scan; where the scan does
    not list the line, the pickup weight's bound ⌊(1 − actual/expected) × ordered⌋; else None."""
    ordered = whole(line.get("quantity"))
    if ordered is None or line.get("sold_by") == "weight":
        return None
    packed = packed_units(evidence, line["line_id"])
    if packed is not None:
        return max(0, ordered - packed)
    expected = weight(evidence.get("pickup_weight_expected_kg"))
    actual = weight(evidence.get("pickup_weight_actual_kg"))
    if expected is None or actual is None or expected == 0:
        return None
    short = 1 - Fraction(actual) / Fraction(expected)
    return max(0, int(short * ordered))


def wrong_units(evidence: Body, line: Body) -> int | None:
    """Units packed under another name than the line's; None where the scan does not list the line."""
    rows = scan_rows(evidence, line["line_id"])
    if not rows:
        return None
    name = _name(line.get("name"))
    return sum(
        int(row["packed_quantity"])
        for row in rows
        if row.get("packed_name") is not None and _name(row["packed_name"]) != name
    )


def short_kg(line: Body) -> Decimal | None:
    """Kilograms short of what was ordered of a line sold by weight; None where not recorded."""
    ordered, packed = weight(line.get("ordered_kg")), weight(line.get("packed_kg"))
    if line.get("sold_by") != "weight" or ordered is None or packed is None or ordered == 0:
        return None
    return ordered - packed


def reversed_minor(record: Body) -> int:
    """What was returned of a transaction already. `reversal_posted: true` means all of it."""
    if record.get("reversal_posted") is True:
        return whole(record.get("amount_minor")) or 0
    return max(0, whole(record.get("reversed_minor")) or 0)


def reversal_untold(record: Body) -> bool:
    """The record dates a reversal, or its status is one, and does not say of how much."""
    reversed_by_status = str(record.get("status") or "").strip().casefold().startswith("revers")
    return not reversed_minor(record) and bool(
        record.get("reversal_posted_at") or reversed_by_status
    )


def same_reference(evidence: Body) -> list[Body]:
    """The related transactions that carry the same reference."""
    return [other for other in _dicts(evidence, "related") if other.get("same_reference") is True]


def _name(value: Any) -> str:
    return " ".join(str(value).casefold().split())


def _dicts(evidence: Body, field: str) -> Iterator[Body]:
    value = evidence.get(field)
    if isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, dict))


def _delivered(evidence: Body, not_delivered: bool) -> bool | None:
    if not_delivered:
        return False
    status = str(evidence.get("order_status") or "").casefold()
    if evidence.get("delivered_at") is not None or status.startswith("delivered"):
        return True
    return False if evidence.get("cancelled_at") is not None else None


def _fee_overcharge(evidence: Body) -> int | None:
    paid = whole(evidence.get("paid_total_minor"))
    due = whole(evidence.get("paid_total_minor_due"))
    return None if paid is None or due is None else paid - due


def _related_count(evidence: Body) -> int | None:
    return len(same_reference(evidence)) if "related" in evidence else None


def _line(evidence: Body, line: Body) -> dict[str, Any]:
    packed = packed_units(evidence, line["line_id"])
    refunds = [r for r in _dicts(evidence, "refunds") if r.get("line_id") == line["line_id"]]
    return {
        "line_ordered": whole(line.get("quantity")),
        "line_scanned": packed is not None,
        "line_packed": packed,
        "line_recorded_missing": recorded_missing(evidence, line),
        "line_wrong_units": wrong_units(evidence, line),
        "line_refunded": sum(whole(refund.get("quantity")) or 0 for refund in refunds),
        "line_short_kg": short_kg(line),
    }


def _bank(evidence: Body) -> dict[str, int | None]:
    """What left a transaction again, as far as the record tells; 0 dispensed where the record says that
    no cash came, unknown where it says that some did but not how much."""
    amount = whole(evidence.get("amount_minor"))
    if amount is None:
        return {}
    dispensed = whole(evidence.get("dispensed_minor"))
    if dispensed is None and evidence.get("cash_dispensed") is False:
        dispensed = 0
    elif dispensed == 0 and evidence.get("cash_dispensed") is True:
        dispensed = None  # the record contradicts itself
    return {
        "reversed_effective_minor": reversed_minor(evidence),
        "dispensed_effective_minor": dispensed,
    }
