"""letters ► delivery ► receipts. A letter may be sent twice and has one receipt."""

import logging
import math
import os

from schemas.letter import Letter
from schemas.receipt import Receipt
from schemas.topics import LETTERS, RECEIPTS
from streams.delivery.port import NotDelivered
from streams.delivery.registry import open_delivery
from streams.emit import Emit, emit
from topologies.async_stage import AsyncStage, Message, RetryLater, StageSettings
from topologies.network_stage import network_stage, now
from topologies.settings import Settings

log = logging.getLogger("refund_bench.delivery")


def stage(settings: Settings) -> AsyncStage:
    """The delivery app. A letter that was not taken is sent again for as long as it takes; one that is
    refused for good is a dead letter, which an operator can replay.

    Raises:
        streams.delivery.port.Misconfigured: REFUND_BENCH_DELIVERY names no way out.
    """
    delivery = open_delivery(os.environ)

    async def handle(letter: Letter, message: Message) -> list[Emit]:
        try:
            reference = await delivery.send(letter)
        except NotDelivered as failed:
            log.warning(
                "letter not delivered",
                extra={
                    "letter_id": letter.letter_id,
                    "attempt": message.attempt,
                    "reason": failed.reason,
                },
            )
            raise RetryLater("not_delivered", failed.retry_after_s) from failed
        receipt = Receipt(
            at=now(),
            dispute_id=letter.dispute_id,
            order_id=letter.order_id,
            customer_id=letter.customer_id,
            settles_under=letter.settles_under,
            pack=letter.pack,
            simulated=letter.simulated,
            letter_id=letter.letter_id,
            channel=delivery.channel,
            reference=reference,
            attempts=message.attempt,
        )
        return [emit(RECEIPTS, receipt)]

    return network_stage(
        "delivery",
        LETTERS,
        Letter,
        handle,
        settings,
        StageSettings(slots=16, deadline_s=math.inf),
    )
