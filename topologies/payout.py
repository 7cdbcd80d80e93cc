"""decisions ► payout, in order per order ► payments. The same key may be asked for any number of times."""

import asyncio
import logging
import math
import os
import time
from collections.abc import Awaitable, Callable

from schemas.settlement import Decision
from schemas.topics import DECISIONS, PAYMENTS
from streams.emit import Emit, emit
from streams.payments.port import GatewayUnavailable, PaymentGateway
from streams.payments.registry import open_gateway
from streams.payout import pay
from streams.sealing import DecisionSeal, NotSealed
from topologies.async_stage import AsyncStage, Hold, Message, RetryLater, StageSettings
from topologies.network_stage import network_stage, now
from topologies.payout_gate import PayoutGate
from topologies.payout_watch import PayoutWatch
from topologies.settings import Settings

log = logging.getLogger("refund_bench.payout")


def handler(
    gateway: PaymentGateway, gateway_kind: str, seal: DecisionSeal, gate: PayoutGate
) -> Callable[[Decision, Message], Awaitable[list[Emit]]]:
    """What becomes of one decision.

    One without our seal becomes a dead letter and no payment record: a record would end the real
    payment of the key it names. Whatever else goes wrong is tried again, and never becomes a dead
    letter, since a request may be under way. While payouts are paused a decision that pays waits; one
    that pays nothing does not.
    """

    async def handle(decision: Decision, message: Message) -> list[Emit]:
        if not seal.holds(decision):
            log.error(
                "a decision that our allowance did not make",
                extra={"payment_id": decision.decision_id, "alarm": "decision_not_sealed"},
            )
            raise NotSealed(
                "decision_not_sealed: it does not come from this installation's allowance"
            )
        if decision.amount_minor:
            gate.open()
        try:
            payment = await pay(
                decision, gateway, gateway_kind, message.attempt, now, lambda: gate.begin(decision)
            )
        except Hold:
            raise
        except GatewayUnavailable as away:
            raise RetryLater("gateway_unavailable", away.retry_after_s) from away
        except Exception as error:
            log.exception(
                "fault while paying",
                extra={"payment_id": decision.decision_id, "alarm": "payout_error"},
            )
            raise RetryLater("payout_error") from error
        if payment.status == "refused":
            gate.refused(payment.payment_id)
        return [emit(PAYMENTS, payment)]

    return handle


def stage(settings: Settings) -> AsyncStage:
    """The payout app. A payment of unknown outcome is looked up and tried again for as long as it takes:
    no deadline turns it into anything else.

    Raises:
        streams.payments.port.Misconfigured: the gateway is unknown, or lacks a setting.
    """
    packs = settings.packs()

    def ceiling_of(decision: Decision) -> int | None:
        pack = packs.get(decision.pack.policy, decision.pack.pack_version).pack
        return pack.limits.payout_ceiling_minor

    gate = PayoutGate(ceiling_of, now, time.monotonic)
    watch = PayoutWatch(gate)
    pays = handler(
        open_gateway(settings.gateway_kind, settings.gateway_url, os.environ),
        settings.gateway_kind,
        DecisionSeal(settings.installation_key),
        gate,
    )

    async def handle(decision: Decision, message: Message) -> list[Emit]:
        watch.start(asyncio.get_running_loop())
        return await pays(decision, message)

    return network_stage(
        "payout",
        DECISIONS,
        Decision,
        handle,
        settings,
        StageSettings(slots=32, deadline_s=math.inf),
        in_order=True,
    )
