"""decisions ► payout, in order per order ► payments. The same key may be asked for any number of times."""

import logging
import math
from collections.abc import Awaitable, Callable

from schemas.settlement import Decision
from schemas.topics import DECISIONS, PAYMENTS
from streams.emit import Emit, emit
from streams.payments.http_gateway import HttpGateway
from streams.payments.port import GatewayUnavailable, PaymentGateway
from streams.payout import pay
from streams.sealing import DecisionSeal, NotSealed
from topologies.async_stage import AsyncStage, Message, RetryLater, StageSettings
from topologies.network_stage import network_stage, now
from topologies.settings import Settings

log = logging.getLogger("refund_bench.payout")


def handler(
    gateway: PaymentGateway, gateway_kind: str, seal: DecisionSeal
) -> Callable[[Decision, Message], Awaitable[list[Emit]]]:
    """What becomes of one decision.

    One without our seal becomes a dead letter and no payment record: a record would end the real
    payment of the key it names. Whatever else goes wrong is tried again, and never becomes a dead
    letter, since a request may be under way.
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
        try:
            payment = await pay(decision, gateway, gateway_kind, message.attempt, now)
        except GatewayUnavailable as away:
            raise RetryLater("gateway_unavailable", away.retry_after_s) from away
        except Exception as error:
            log.exception(
                "fault while paying",
                extra={"payment_id": decision.decision_id, "alarm": "payout_error"},
            )
            raise RetryLater("payout_error") from error
        return [emit(PAYMENTS, payment)]

    return handle


def stage(settings: Settings) -> AsyncStage:
    """The payout app. A payment of unknown outcome is looked up and tried again for as long as it takes:
    no deadline turns it into anything else."""
    gateway = HttpGateway(settings.gateway_url)
    return network_stage(
        "payout",
        DECISIONS,
        Decision,
        handler(gateway, settings.gateway_kind, DecisionSeal(settings.installation_key)),
        settings,
        StageSettings(slots=32, deadline_s=math.inf),
        in_order=True,
    )
