"""decisions ► payout, in order per order ► payments. The same key may be asked for any number of times."""

import logging
import math

from schemas.settlement import Decision
from schemas.topics import DECISIONS, PAYMENTS
from streams.emit import Emit, emit
from streams.payments.http_gateway import HttpGateway
from streams.payments.port import GatewayUnavailable
from streams.payout import KEY_CONFLICT, pay
from topologies.async_stage import AsyncStage, Message, RetryLater, StageSettings
from topologies.network_stage import network_stage, now
from topologies.settings import Settings

log = logging.getLogger("refund_bench.payout")


def stage(settings: Settings) -> AsyncStage:
    """The payout app. A payment of unknown outcome is looked up and tried again for as long as it takes:
    no deadline turns it into anything else."""
    gateway = HttpGateway(settings.gateway_url)

    async def handle(decision: Decision, message: Message) -> list[Emit]:
        try:
            payment = await pay(decision, gateway, settings.gateway_kind, message.attempt, now)
        except GatewayUnavailable as away:
            raise RetryLater("gateway_unavailable", away.retry_after_s) from away
        if payment.refusal == KEY_CONFLICT:
            # Never retried and never paid over: the gateway holds something else under our key.
            log.error("payment key conflict", extra={"payment_id": payment.payment_id})
        return [emit(PAYMENTS, payment)]

    return network_stage(
        "payout",
        DECISIONS,
        Decision,
        handle,
        settings,
        StageSettings(slots=32, deadline_s=math.inf),
        in_order=True,
    )
