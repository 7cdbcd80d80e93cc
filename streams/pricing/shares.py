"""What each unit of an order is worth: its share of price, item discount, coupon and tax, to the cent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from schemas.evidence import LineItem
from schemas.money import allocate, show
from streams.facts import packed_units, recorded_missing, weight, wrong_units
from streams.pricing.holdings import RESERVED


@dataclass(frozen=True)
class Line:
    """One line of an order, valued. Amounts are minor units, for the line as a whole."""

    position: int
    line_id: str
    name: str
    quantity: int
    gross: int
    discount: int
    coupon: int
    """The coupon's share: the coupon over the item lines by net value, by largest remainder."""
    tax: int
    """The line's own `tax_minor`, else the order's tax over the lines by net value after the coupon."""
    by_weight: bool
    ordered_kg: Decimal | None
    packed_kg: Decimal | None
    packed: int | None
    """Units the scan says were packed; None where it does not list the line."""
    recorded_missing: int | None
    wrong_units: int | None

    @property
    def net(self) -> int:
        return self.gross - self.discount - self.coupon

    @property
    def total(self) -> int:
        return self.net + self.tax

    def unit_share(self, unit: int) -> int:
        """Worth of one unit (1-based): net and tax, each split by largest remainder. The parts are
        equal, so what is left over goes to the lower units."""
        return _equal_part(self.net, self.quantity, unit) + _equal_part(
            self.tax, self.quantity, unit
        )

    def words(self, currency: str) -> str:
        """How the unit share comes about."""
        parts = [f"{self.quantity} × {self.name}: {show(self.gross, currency)}"]
        if self.discount:
            parts.append(f"less item discount {show(self.discount, currency)}")
        if self.coupon:
            parts.append(f"less its share of the coupon {show(self.coupon, currency)}")
        if self.tax:
            parts.append(f"plus tax {show(self.tax, currency)}")
        total = f" = {show(self.total, currency)}" if len(parts) > 1 else ""
        return ", ".join(parts) + total


def value_lines(evidence: Mapping[str, Any]) -> tuple[Line, ...]:
    """The order's lines, valued; none where the record has no `line_items`.

    Raises:
        pydantic.ValidationError, ValueError: a line that is not one, a line id used twice, a discount
            above its line, a coupon above all of them, a tax above its goods, or an id that reads as
            another kind of pay scope.
    """
    bodies = [body for body in evidence.get("line_items") or () if isinstance(body, dict)]
    items = [LineItem.model_validate(body) for body in bodies]
    if len({item.line_id for item in items}) != len(items):
        raise ValueError("line_items: a line_id appears twice")
    gross = [item.quantity * item.unit_price_minor for item in items]
    net = [value - item.discount_minor for value, item in zip(gross, items, strict=True)]
    coupon, tax = (int(evidence.get(field) or 0) for field in ("coupon_minor", "tax_minor"))
    if any(item.line_id.startswith(RESERVED) for item in items):
        raise ValueError(f"line_items: a line_id begins with one of {', '.join(RESERVED)}")
    own_tax = zip(items, gross, strict=True)
    if tax > sum(gross) > 0 or any((item.tax_minor or 0) > value for item, value in own_tax):
        raise ValueError("line_items: a tax is above the price of the goods it is on")
    if any(value < 0 for value in net) or coupon > sum(net) > 0:
        raise ValueError("line_items: a discount or the coupon is above the goods it is taken from")
    coupons = _over(coupon, net)
    taxes = _over(tax, [value - share for value, share in zip(net, coupons, strict=True)])
    return tuple(
        Line(
            position=i,
            line_id=item.line_id,
            name=item.name,
            quantity=item.quantity,
            gross=gross[i],
            discount=item.discount_minor,
            coupon=coupons[i],
            tax=taxes[i] if item.tax_minor is None else item.tax_minor,
            by_weight=item.sold_by == "weight",
            ordered_kg=weight(item.ordered_kg),
            packed_kg=weight(item.packed_kg),
            packed=packed_units(evidence, item.line_id),
            recorded_missing=recorded_missing(evidence, bodies[i]),
            wrong_units=wrong_units(evidence, bodies[i]),
        )
        for i, item in enumerate(items)
    )


def _over(total: int, weights: Sequence[int]) -> list[int]:
    """The total over the lines by weight; over lines that are all worth nothing, nothing."""
    return allocate(total, weights) if sum(weights) else [0] * len(weights)


def _equal_part(total: int, parts: int, part: int) -> int:
    base, left = divmod(total, parts)
    return base + (part <= left)
