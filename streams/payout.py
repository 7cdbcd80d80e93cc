"""Payout: the one place that calls the payment gateway. The key is looked up before every call."""

from collections.abc import Callable
from datetime import datetime

from schemas.payment import Payment, PaymentStatus
from schemas.settlement import Decision
from streams.payments.port import (
    GatewayRefused,
    KeyConflict,
    PaymentGateway,
    Refund,
    RefundRequest,
    as_asked,
)

STAND_IN = "embedded"
"""The one kind of gateway that a simulated ruling may reach."""
KEY_CONFLICT = "key_conflict"
"""The refusal of a key under which the gateway holds another refund: nothing new moves, but money did."""


async def pay(
    decision: Decision,
    gateway: PaymentGateway,
    gateway_kind: str,
    attempts: int,
    now: Callable[[], datetime],
) -> Payment:
    """Exactly one payment record for a decision.

    Real gateways forget idempotency keys within a day and replay stored errors, so the key is looked
    up first, every time; only an unknown key is sent, and it is sent as our reference too.

    Raises:
        GatewayUnavailable: the outcome is not known; look up and try again, for as long as it takes.
    """

    def record(
        status: PaymentStatus,
        refund: Refund | None = None,
        refusal: str | None = None,
        found: bool = False,
    ) -> Payment:
        return Payment(
            at=now(),
            dispute_id=decision.dispute_id,
            order_id=decision.order_id,
            customer_id=decision.customer_id,
            settles_under=decision.settles_under,
            pack=decision.pack,
            simulated=decision.simulated,
            payment_id=decision.decision_id,
            status=status,
            amount_minor=decision.amount_minor if status == "paid" else 0,
            currency=decision.currency,
            gateway=gateway_kind,
            gateway_ref=refund.gateway_ref if refund else None,
            refusal=refusal,
            found_before_call=found,
            attempts=attempts,
            review_id=decision.review_id,
            received_at=decision.received_at,
        )

    if decision.amount_minor == 0:
        return record("not_required")
    if decision.simulated and gateway_kind != STAND_IN:
        return record("refused", refusal="simulated_not_allowed")
    request = RefundRequest(
        key=decision.decision_id,
        amount_minor=decision.amount_minor,
        currency=decision.currency,
        reference=decision.decision_id,
        order_id=decision.order_id,
        account=decision.customer_id,
        simulated=decision.simulated,
        scopes=[
            share.scope
            for line in decision.lines
            if line.disposition == "pay"
            for share in line.scopes
        ],
    )
    try:
        found = await gateway.look_up(request)
        if found is not None:
            return record("paid", as_asked(found, request), found=True)
        return record("paid", await gateway.refund(request))
    except GatewayRefused as refused:
        return record("refused", refusal=refused.code)
    except KeyConflict:
        return record("refused", refusal=KEY_CONFLICT)
