"""What the operator's records say. `kind` picks the model; unknown fields are kept and may be cited."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from schemas.base import CurrencyCode, Id, Minor, UtcDatetime

MAX_EVIDENCE_BYTES = 256 * 1024
MAX_NESTING = 64
"""Levels a record may have. Beyond some 250 its JSON can be read and no longer be written."""
IDENTITY_FIELDS = frozenset(
    {"kind", "order_id", "transaction_id", "customer_id", "currency", "captured_at"}
)
"""A record with nothing beyond these counts as no evidence."""

Quantity = Annotated[int, Field(strict=True, ge=0, le=10_000)]


def _no_flag(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("is yes or no, not a weight")
    return value


Weight = Annotated[float, BeforeValidator(_no_flag), Field(ge=0, le=100_000, allow_inf_nan=False)]
"""Kilograms. Whoever prices the raw record takes `true` for none recorded, which bounds nothing."""

Flag = Annotated[bool, Field(strict=True)]
"""Yes or no and nothing that stands for it: whoever prices the raw record takes `"true"` for no."""


def _as_read(value: object) -> object:
    if isinstance(value, str):
        return datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        raise ValueError("is not a time; write it as ISO 8601 with its offset")
    return value


Moment = Annotated[UtcDatetime, BeforeValidator(_as_read)]
"""A time as `streams.facts.moment` reads it from the raw record: seconds since an epoch are none."""


class Open(BaseModel):
    """A frozen record that keeps the fields we do not know."""

    model_config = ConfigDict(frozen=True, extra="allow")


class LineItem(Open):
    line_id: Id
    name: str
    quantity: Annotated[int, Field(strict=True, ge=1, le=10_000)]
    unit_price_minor: Minor
    discount_minor: Minor = 0
    tax_minor: Minor | None = None
    sold_by: Literal["unit", "weight"] = "unit"
    ordered_kg: Weight | None = None
    packed_kg: Weight | None = None


class PackedLine(Open):
    line_id: Id
    packed_quantity: Quantity
    packed_name: str | None = None


class FeeLine(Open):
    name: str
    amount_minor: Minor
    due_minor: Minor | None = None


class EarlierRefund(Open):
    """A refund made before this dispute; `refund_id` of one of ours is our payment key. Without one it
    cannot be told from ours, and the larger of both counts per line."""

    refund_id: Id | None = None
    amount_minor: Minor
    line_id: Id | None = None
    quantity: Quantity | None = None


class CustomerHistory(Open):
    refunded_30d_minor: Minor = 0
    disputes_30d: Quantity = 0


class Position(Open):
    at: Moment
    distance_to_customer_m: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Record(Open):
    """The fields any domain's evidence has."""

    kind: Id
    customer_id: Id
    currency: CurrencyCode
    captured_at: Moment
    payment_reference: Id | None = None
    """What the payment gateway calls the payment (Stripe: `ch_…` or `pi_…`); refunds are made on it."""


class FoodOrder(Record):
    kind: Literal["food-order"]
    order_id: Id
    placed_at: Moment
    delivery_sla_minutes: Annotated[int, Field(strict=True, ge=1, le=10_000)]
    line_items: Annotated[tuple[LineItem, ...], Field(min_length=1, max_length=200)]
    paid_total_minor: Minor
    delivered_at: Moment | None = None
    order_status: str | None = None
    cancelled_at: Moment | None = None
    coupon_minor: Minor = 0
    tax_minor: Minor = 0
    delivery_fee_minor: Minor = 0
    packaging_fee_minor: Minor = 0
    fee_lines: tuple[FeeLine, ...] = ()
    paid_total_minor_due: Minor | None = None
    packing_scan: tuple[PackedLine, ...] | None = None
    pickup_weight_expected_kg: Annotated[Weight, Field(gt=0)] | None = None
    """Above 0: an order that should weigh nothing bounds no claim, and is a fault of the record."""
    pickup_weight_actual_kg: Weight | None = None
    packaging_condition_recorded: Flag | None = None
    packaging_condition: str | None = None
    partner_rating_at_handover: float | None = None
    handover_otp_verified: Flag | None = None
    gps_trail: tuple[Position, ...] | None = None
    call_recording_summary: str | None = None
    customer_history: CustomerHistory = CustomerHistory()
    refunds: tuple[EarlierRefund, ...] = ()
    payment_method: str | None = None
    payment_status: str | None = None
    merchant_id: str | None = None
    courier_id: str | None = None
    city: str | None = None
    sources: tuple[dict[str, Any], ...] | None = None

    @model_validator(mode="after")
    def _lines_add_up(self) -> "FoodOrder":
        ids = [line.line_id for line in self.line_items]
        if len(ids) != len(set(ids)):
            raise ValueError("line_items: a line_id appears twice; give each line its own")
        gross = 0
        for line in self.line_items:
            value = line.quantity * line.unit_price_minor
            if line.discount_minor > value:
                raise ValueError(
                    f"line_items.{line.line_id}.discount_minor is above the line's value"
                )
            gross += value - line.discount_minor
        if self.coupon_minor > gross:
            raise ValueError("coupon_minor is above the value of the order's lines")
        if sum(refund.amount_minor for refund in self.refunds) > self.paid_total_minor:
            raise ValueError("refunds: more was refunded than paid_total_minor")
        known = set(ids)
        for field, refs in (("packing_scan", self.packing_scan or ()), ("refunds", self.refunds)):
            for ref in refs:
                if ref.line_id is not None and ref.line_id not in known:
                    raise ValueError(f"{field}: line_id {ref.line_id!r} is not in line_items")
        return self


class RelatedTransaction(Open):
    transaction_id: Id
    amount_minor: Minor
    same_reference: Flag = False
    reversal_posted: Flag | None = None
    reversed_minor: Minor | None = None
    debit_posted: Flag | None = None


class BankTransaction(Record):
    kind: Literal["bank-transaction"]
    transaction_id: Id
    amount_minor: Minor
    initiated_at: Moment
    rail: str
    status: str
    debit_posted: Flag | None = None
    credit_posted: Flag | None = None
    credit_confirmed_at: Moment | None = None
    reversal_posted: Flag | None = None
    reversal_posted_at: Moment | None = None
    reversed_minor: Minor | None = None
    due_minor: Minor | None = None
    dispensed_minor: Minor | None = None
    credited_minor: Minor | None = None
    on_us: Flag | None = None
    cash_dispensed: Flag | None = None
    journal_result: str | None = None
    terminal_result: str | None = None
    response_code: str | None = None
    authentication: str | None = None
    card_present: Flag | None = None
    beneficiary_name: str | None = None
    name_enquiry_shown: str | None = None
    related: tuple[RelatedTransaction, ...] = ()
    token_issued: Flag | None = None
    sources: tuple[dict[str, Any], ...] | None = None


KINDS: dict[str, type[Record]] = {"food-order": FoodOrder, "bank-transaction": BankTransaction}
"""The kinds with a model of their own; any other kind a pack names is read as a plain `Record`."""


def subject_of(body: dict[str, Any]) -> str | None:
    """The order or transaction an evidence body is about, or None where it names neither."""
    subject = body.get("order_id") or body.get("transaction_id")
    return subject if isinstance(subject, str) else None


def is_too_deep(body: Any, most: int = MAX_NESTING) -> bool:
    """True where a JSON value has more than `most` levels. Works at any depth, without recursion."""
    level: list[Any] = [body]
    for _ in range(most + 1):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def is_identity_only(body: dict[str, Any]) -> bool:
    """True where the body says nothing beyond which order it is about."""
    return not any(
        value is not None for field, value in body.items() if field not in IDENTITY_FIELDS
    )


def read_record(body: dict[str, Any]) -> Record:
    """The typed view of an evidence body.

    Raises:
        pydantic.ValidationError: names each field that is missing or wrong.
    """
    return KINDS.get(str(body.get("kind")), Record).model_validate(body)
