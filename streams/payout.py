"""Payout: the one place that calls the payment gateway. The key is looked up before every call."""

import logging
from collections.abc import Callable
from datetime import datetime

from schemas.payment import Payment, PaymentStatus
from schemas.settlement import Decision
from streams.payments.embedded import STAND_IN
from streams.payments.port import (
    GatewayRefused,
    KeyConflict,
    PaymentGateway,
    Refund,
    RefundRequest,
    as_asked,
)

log = logging.getLogger("refund_bench.payout")

KEY_CONFLICT = "key_conflict"
"""The refusal of a key under which the gateway holds another refund: nothing new moves, but money did."""
PAYOUT_ERROR = "payout_error"
"""The refusal of a decision that no request can be made of, so that none was ever sent."""


def refund_request(decision: Decision) -> RefundRequest:
    """What the gateway is asked for.

    Raises:
        ValueError: the decision cannot be asked for; a matter of its content, the same each time.
    """
    return RefundRequest(
        key=decision.decision_id,
        amount_minor=decision.amount_minor,
        currency=decision.currency,
        reference=decision.decision_id,
        order_id=decision.order_id,
        charge=decision.charge,
        account=decision.customer_id,
        simulated=decision.simulated,
        scopes=[
            share.scope
            for line in decision.lines
            if line.disposition == "pay"
            for share in line.scopes
        ],
    )


async def pay(
    decision: Decision,
    gateway: PaymentGateway,
    gateway_kind: str,
    attempts: int,
    now: Callable[[], datetime],
    begin: Callable[[], None] = lambda: None,
) -> Payment:
    """Exactly one payment record for a decision.

    Real gateways forget idempotency keys within a day and replay stored errors, so the key is looked
    up first, every time; only an unknown key is sent, and it is sent as our reference too.

    `begin` is called before money moves, and may raise to keep it from moving; what was paid before is
    recorded without it.

    A decision that no request can be made of is refused for good and goes to a person.

    Raises:
        GatewayUnavailable: the outcome is not known; look up and try again, for as long as it takes.
    """
    if decision.amount_minor == 0:
        return _record(decision, "not_required", gateway_kind, attempts, now)
    if decision.simulated and gateway_kind != STAND_IN:
        return _refused(decision, "simulated_not_allowed", gateway_kind, attempts, now)
    try:
        request = refund_request(decision)
    except Exception:
        log.error("no refund can be asked for", extra=_alarm(decision, PAYOUT_ERROR))
        return _refused(decision, PAYOUT_ERROR, gateway_kind, attempts, now)
    try:
        found = await gateway.look_up(request)
        if found is None:
            begin()
        refund = as_asked(found or await gateway.refund(request), request)
    except GatewayRefused as refused:
        return _refused(decision, refused.code, gateway_kind, attempts, now)
    except KeyConflict:
        # Never retried and never paid over: the gateway holds something else under our key.
        log.error("payment key conflict", extra=_alarm(decision, KEY_CONFLICT))
        return _refused(decision, KEY_CONFLICT, gateway_kind, attempts, now)
    return _record(decision, "paid", gateway_kind, attempts, now, refund, found is not None)


def _refused(
    decision: Decision, code: str, gateway_kind: str, attempts: int, now: Callable[[], datetime]
) -> Payment:
    record = _record(decision, "refused", gateway_kind, attempts, now)
    return record.model_copy(update={"refusal": code})


def _record(
    decision: Decision,
    status: PaymentStatus,
    gateway_kind: str,
    attempts: int,
    now: Callable[[], datetime],
    refund: Refund | None = None,
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
        moved_at=refund.created_at if refund else None,
        found_before_call=found,
        attempts=attempts,
        review_id=decision.review_id,
        received_at=decision.received_at,
    )


def _alarm(decision: Decision, code: str) -> dict[str, str]:
    return {
        "dispute_id": decision.dispute_id,
        "payment_id": decision.decision_id,
        "alarm": code,
    }
