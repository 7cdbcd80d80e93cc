"""The gateway port in memory, for tests of the stages behind it; the contract suite holds for it."""

from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime

from streams.payments.port import GatewayError, GatewayRefused, KeyConflict, Refund, RefundRequest

PAID_AT = datetime(2026, 1, 1, tzinfo=UTC)


class MemoryGateway:
    """`paid` is the money that moved; `calls` every call in order, as `look_up KEY`, `refund KEY`.

    `failures` are raised by the next calls of `refund` in turn, before paying; `losses` likewise,
    after paying. `refusals` maps an order to a code.
    """

    def __init__(self, refusals: Mapping[str, str] | None = None) -> None:
        self.paid: list[RefundRequest] = []
        self.calls: list[str] = []
        self.failures: list[GatewayError] = []
        self.losses: list[GatewayError] = []
        self.refusals = dict(refusals or {})

    async def look_up(self, request: RefundRequest) -> Refund | None:
        self.calls.append(f"look_up {request.key}")
        for number, paid in enumerate(self.paid):
            if paid.reference == request.reference:
                return _refund(paid, number)
        return None

    async def refund(self, request: RefundRequest) -> Refund:
        self.calls.append(f"refund {request.key}")
        if self.failures:
            raise self.failures.pop(0)
        if code := self.refusals.get(request.order_id):
            raise GatewayRefused(code, "refused by the test")
        for number, before in enumerate(self.paid):
            if before.key == request.key:
                if before != request:
                    raise KeyConflict(request.key, "this key came before with another request")
                return _refund(before, number)
        self.paid.append(request)
        if self.losses:
            raise self.losses.pop(0)
        return _refund(request, len(self.paid) - 1)

    async def refunds(self, since: datetime | None = None) -> AsyncIterator[Refund]:
        for number, request in enumerate(self.paid):
            if since is None or since <= PAID_AT:
                yield _refund(request, number)


def _refund(request: RefundRequest, number: int) -> Refund:
    return Refund(
        key=request.key,
        amount_minor=request.amount_minor,
        currency=request.currency,
        gateway_ref=f"memory-{number}",
        created_at=PAID_AT,
        simulated=request.simulated,
        order_id=request.order_id,
        scopes=request.scopes,
        account=request.account,
    )
