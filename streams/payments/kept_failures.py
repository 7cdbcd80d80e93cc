"""Getting past a failure that a gateway keeps under an idempotency key and only ever repeats."""

from collections.abc import Awaitable, Callable

from streams.payments.port import (
    GatewayUnavailable,
    KeptFailure,
    PaymentGateway,
    Refund,
    RefundRequest,
    as_asked,
)

MOST_ATTEMPT_KEYS = 20


async def past_kept_failures(
    gateway: PaymentGateway,
    request: RefundRequest,
    attempt: Callable[[str], Awaitable[Refund]],
) -> Refund:
    """Call `attempt` with our key; with the next of `key:2`, `key:3` … where the gateway only repeats a
    failure it kept, since that key can never pay any more.

    What keeps the money from moving twice is the look-up by reference between any two of them: it
    finds what moved under an earlier key, because a gateway moves the money before it keeps the answer.
    """
    for number in range(1, MOST_ATTEMPT_KEYS + 1):
        try:
            return await attempt(request.key if number == 1 else f"{request.key}:{number}")
        except KeptFailure:
            found = await gateway.look_up(request)
            if found is not None:
                return as_asked(found, request)
    raise GatewayUnavailable("the gateway keeps a failure under every key")
