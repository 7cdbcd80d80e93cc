"""What payout may ask of a payment gateway, and every way the answer can come."""

from collections.abc import AsyncIterator, Iterable
from datetime import datetime
from typing import Annotated, Protocol

from pydantic import AfterValidator, Field, model_validator

from schemas.base import CurrencyCode, Id, Minor, Model, UtcDatetime


def _sorted(scopes: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(scopes))


class RefundRequest(Model):
    """One refund. The same key must always come with the same everything else."""

    key: Id
    reference: Id
    """Our key again, sent as reference or metadata: gateways forget keys, not references."""
    amount_minor: Annotated[Minor, Field(gt=0)]
    currency: CurrencyCode
    order_id: Id
    charge: Id | None = None
    """What the gateway calls the payment that is refunded, where the evidence says so."""
    account: Id
    """The customer."""
    simulated: bool
    """True when a stand-in had a say; a real gateway refuses it."""
    scopes: Annotated[tuple[str, ...], AfterValidator(_sorted)] = ()
    """The pay scopes this money settles, so that the gateway's own file can be checked for them."""

    @model_validator(mode="before")
    @classmethod
    def _reference_is_the_key(cls, fields: object) -> object:
        if isinstance(fields, dict) and "reference" not in fields and "key" in fields:
            return {**fields, "reference": fields["key"]}
        return fields


class Refund(Model):
    """Money that moved, as the gateway tells it."""

    key: Id
    amount_minor: Minor
    currency: CurrencyCode
    gateway_ref: Id
    created_at: UtcDatetime
    """When the money moved, by the gateway's clock."""
    simulated: bool
    order_id: Id | None = None
    """The charge it was refunded on, where the gateway tells."""
    scopes: tuple[str, ...] = ()
    """The pay scopes it settled, where the gateway keeps what it was sent."""
    account: Id | None = None
    """Whose charge it was, where the gateway says so; then it is checked too."""


class Misconfigured(Exception):
    """The gateway lacks a setting; the message names it and the remedy, and quotes no secret."""


class GatewayError(Exception):
    """Whatever keeps a refund from being confirmed."""


class GatewayRefused(GatewayError):
    """Definite: no money moved under this key, and none will.

    Codes: already_refunded, account_closed, amount_above_charge, amount_not_possible,
    currency_mismatch, simulated_not_allowed, unknown_account, invalid_request, or the gateway's own.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class KeyConflict(GatewayError):
    """The key was used for another amount, currency, account or order. Never retried; alarmed."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(f"{key}: {message}")
        self.key = key
        self.message = message


class GatewayUnavailable(GatewayError):
    """Outcome unknown: the money may have moved. Look the key up before trying again."""

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class KeptFailure(GatewayUnavailable):
    """The gateway repeats a failure that it keeps under this idempotency key, and will until it forgets it."""


def as_asked(refund: Refund, request: RefundRequest) -> Refund:
    """The refund, if it is the one that was asked for.

    Raises:
        KeyConflict: the gateway holds something else under our key.
    """
    if (refund.key, refund.amount_minor, refund.currency) != (
        request.key,
        request.amount_minor,
        request.currency,
    ):
        asked = f"asked for {request.amount_minor} {request.currency}"
        held = f"the gateway holds {refund.amount_minor} {refund.currency} under {refund.key}"
        raise KeyConflict(request.key, f"{asked}, {held}")
    if refund.account not in (None, request.account):
        raise KeyConflict(request.key, "the gateway holds it for another account")
    if refund.order_id not in (None, request.order_id):
        raise KeyConflict(request.key, "the gateway holds it for another order")
    return refund


class PaymentGateway(Protocol):
    """One contract suite, `tests/contract/test_gateway_port.py`, holds for every adapter."""

    async def look_up(self, request: RefundRequest) -> Refund | None:
        """The refund made under this request's reference, however long ago and whatever its amount.

        Raises:
            GatewayUnavailable: not known; never answer None for that.
        """
        ...

    async def refund(self, request: RefundRequest) -> Refund:
        """Pay, or tell what was paid: the same request again answers with the same refund.

        Raises:
            GatewayRefused, KeyConflict: definite.
            GatewayUnavailable: the money may or may not have moved.
        """
        ...

    def refunds(self, since: datetime | None = None) -> AsyncIterator[Refund]:
        """Every refund made at or after `since`, oldest first: for reconciling, never for paying.

        Two refunds under one key both come. One made while this runs may come or not.

        Raises:
            GatewayUnavailable: the rest is not known.
        """
        ...
