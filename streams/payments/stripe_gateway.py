"""The gateway port over Stripe's refunds, by the official SDK.

The charge (`ch_…`) or payment intent (`pi_…`) comes with the request. Before each refund its own
refunds are listed and our reference is looked for in their metadata: that list is consistent at once,
which Stripe's search is not. The charge itself is read too, for its currency, whose it is and what is
left of it. Messages of Stripe's are never passed on; its codes are.

A refund that Stripe has taken on counts as paid; one that ends as failed or canceled later shows in
`reconcile`, and when it is looked up again, as refused.
"""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self

import aiohttp
import stripe

from streams import retry_after
from streams.payments.kept_failures import past_kept_failures
from streams.payments.port import (
    GatewayError,
    GatewayRefused,
    GatewayUnavailable,
    KeptFailure,
    KeyConflict,
    Refund,
    RefundRequest,
    as_asked,
)
from streams.payments.stripe_metadata import REFERENCE, metadata_of, scopes_in

PAGE = 100
"""The most that Stripe lists at a time."""
NEVER_PAID = frozenset({"failed", "canceled"})
TIMES = {"UGX": 100}
"""What Stripe counts in hundredths although the currency has none: 5 shillings are 500
(docs.stripe.com/currencies, special cases)."""
LAST_DIGIT_ZERO = frozenset({"KWD", "BHD", "OMR", "JOD", "TND"})
"""Currencies of three decimals, of which Stripe takes whole tens only (same page). We never round what was
decided: another amount is a person's to name."""
OUR_CODE = {
    "charge_already_refunded": "already_refunded",
    "amount_too_large": "amount_above_charge",
    "resource_missing": "unknown_charge",
}
"""Stripe's words for what the port has a word of its own for."""


class StripeGateway:
    """`url` replaces Stripe's address, for a stub. The SDK's own retries are off: payout has its own."""

    def __init__(self, api_key: str, url: str | None = None, timeout_s: float = 20.0) -> None:
        # The SDK's own types are looser than what we hand it; what comes back is checked as a Refund.
        self._http: Any = stripe.AIOHTTPClient(timeout=timeout_s)
        addresses: Any = {"api": url} if url else None
        self._client: Any = stripe.StripeClient(
            api_key, http_client=self._http, max_network_retries=0, base_addresses=addresses
        )

    async def look_up(self, request: RefundRequest) -> Refund | None:
        charge = _charge_of(request)
        try:
            page = await self._client.v1.refunds.list_async({**charge, "limit": PAGE})
            ours = [
                each
                async for each in page.auto_paging_iter()
                if _told(each).get(REFERENCE) == request.reference
            ]
        except Exception as error:
            raise _meaning(error, request.key) from error
        if not ours:
            return None
        # One that failed says nothing where another under the same reference was taken on.
        first = min(ours, key=lambda each: (each.status in NEVER_PAID, each.created))
        if first.status in NEVER_PAID:
            raise GatewayRefused(f"refund_{first.status}", "Stripe took it on and could not pay it")
        return _refund(first)

    async def refund(self, request: RefundRequest) -> Refund:
        if request.simulated:
            raise GatewayRefused("simulated_not_allowed", "Stripe moves real money")
        if request.currency in LAST_DIGIT_ZERO and request.amount_minor % 10:
            raise GatewayRefused("amount_not_possible", "Stripe pays this currency in tens only")
        charge = _charge_of(request)
        await self._check(request, charge)
        return await past_kept_failures(
            self, request, lambda key: self._attempt(request, charge, key)
        )

    async def refunds(self, since: datetime | None = None) -> AsyncIterator[Refund]:
        """Those with our reference; what others refund on the account is theirs to explain."""
        asked: Any = {"limit": PAGE}
        if since is not None:
            asked["created"] = {"gte": int(since.timestamp())}
        found: list[Refund] = []  # Stripe lists the newest first
        try:
            page = await self._client.v1.refunds.list_async(asked)
            async for each in page.auto_paging_iter():
                if REFERENCE in _told(each) and each.status not in NEVER_PAID:
                    found.append(_refund(each))
        except Exception as error:
            raise _meaning(error, "") from error
        for refund in reversed(found):
            yield refund

    async def aclose(self) -> None:
        await self._http.close_async()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _attempt(self, request: RefundRequest, charge: Any, idempotency_key: str) -> Refund:
        try:
            amount = request.amount_minor * TIMES.get(request.currency, 1)
            made = await self._client.v1.refunds.create_async(
                {**charge, "amount": amount, "metadata": metadata_of(request)},
                {"idempotency_key": idempotency_key},
            )
        except Exception as error:
            raise _meaning(error, request.key) from error
        if made.status in NEVER_PAID:
            raise GatewayRefused(f"refund_{made.status}", "Stripe took it on and could not pay it")
        return as_asked(_refund(made), request)

    async def _check(self, request: RefundRequest, charge: Any) -> None:
        """The charge is in our currency, this customer's and this order's where it says whose it is."""
        try:
            if "payment_intent" in charge:
                intent = await self._client.v1.payment_intents.retrieve_async(
                    charge["payment_intent"], {"expand": ["latest_charge"]}
                )
                found: Any = intent.latest_charge
                told = {**_told(intent), **(_told(found) if found else {})}
            else:
                found = await self._client.v1.charges.retrieve_async(charge["charge"])
                told = _told(found)
        except Exception as error:
            raise _meaning(error, request.key) from error
        if found is None:
            raise GatewayRefused("unknown_charge", "nothing was charged under the payment intent")
        if found.currency.upper() != request.currency:
            raise GatewayRefused("currency_mismatch", "the charge is in another currency")
        if told.get("customer_id", request.account) != request.account:
            raise GatewayRefused("unknown_account", "the charge is another customer's")
        if told.get("order_id", request.order_id) != request.order_id:
            raise GatewayRefused("unknown_charge", "the charge is another order's")


def _charge_of(request: RefundRequest) -> Any:
    """The charge as Stripe's parameters name it. An order whose id is Stripe's own needs no reference."""
    reference = request.charge or request.order_id
    if reference.startswith("pi_"):
        return {"payment_intent": reference}
    if reference.startswith(("ch_", "py_")):
        return {"charge": reference}
    raise GatewayRefused(
        "unknown_charge", "the evidence names no charge (payment_reference) of Stripe's"
    )


def _told(about: Any) -> dict[str, str]:
    """The metadata of something of Stripe's."""
    return about.metadata.to_dict() if about.metadata else {}


def _refund(made: Any) -> Refund:
    told, currency = _told(made), made.currency.upper()
    amount, hundredths = divmod(made.amount, TIMES.get(currency, 1))
    return Refund(
        key=told.get(REFERENCE, made.id),
        # Hundredths are nothing of ours; counted as one more, they cannot be taken for what was asked.
        amount_minor=amount + (hundredths > 0),
        currency=currency,
        gateway_ref=made.id,
        created_at=datetime.fromtimestamp(made.created, UTC),
        simulated=False,
        order_id=told.get("order_id"),
        account=told.get("customer_id"),
        scopes=scopes_in(told),
    )


def _meaning(error: Exception, key: str) -> GatewayError:
    """What a failure says about the money; whatever does not refuse for certain leaves it open."""
    if isinstance(error, GatewayError):
        return error
    if isinstance(error, stripe.IdempotencyError):
        return KeyConflict(key, "Stripe knows this key with another request")
    if isinstance(error, stripe.InvalidRequestError | stripe.CardError):
        code = OUR_CODE.get(error.code or "", error.code)
        if code is None:
            # "Refund amount is greater than unrefunded amount on charge" has no code of its own.
            code = "amount_above_charge" if error.param == "amount" else "invalid_request"
        return GatewayRefused(code, "Stripe refused it")
    if isinstance(error, stripe.StripeError):
        headers = error.headers or {}
        told = f"Stripe: {type(error).__name__}, status {error.http_status}"
        if (error.http_status or 0) >= 500 and headers.get("Idempotent-Replayed") == "true":
            return KeptFailure(told)
        return GatewayUnavailable(told, retry_after.seconds(headers.get("Retry-After")))
    if isinstance(error, aiohttp.ClientError | TimeoutError | OSError):
        return GatewayUnavailable(f"Stripe: {type(error).__name__}")
    return GatewayUnavailable(f"Stripe: unreadable answer, {type(error).__name__}")
