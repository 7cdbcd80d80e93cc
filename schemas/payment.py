"""What the gateway answered: exactly one record per decision."""

from typing import Literal

from schemas.base import CurrencyCode, DisputeEvent, Id, Minor, UtcDatetime

PaymentStatus = Literal["paid", "not_required", "refused"]


class Payment(DisputeEvent):
    """Key: settles_under. `refused` is definite: the money will not move under this key."""

    payment_id: Id
    """The decision's id, which is the idempotency key and the gateway's reference."""
    status: PaymentStatus
    amount_minor: Minor
    currency: CurrencyCode
    gateway: Id
    gateway_ref: str | None = None
    refusal: str | None = None
    moved_at: UtcDatetime | None = None
    """When the money moved, by the gateway's clock."""
    found_before_call: bool = False
    """True when the look-up found the refund, so that no call was made."""
    attempts: int = 0
    review_id: Id | None = None
    received_at: UtcDatetime
