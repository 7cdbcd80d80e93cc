"""The stand-in gateway: the one that takes simulated rulings, once it has said that it is a stand-in."""

from streams.payments.http_gateway import HttpGateway
from streams.payments.port import GatewayRefused, Refund, RefundRequest

STAND_IN = "embedded"
"""The kind of gateway, and what it answers when asked for its kind."""


class EmbeddedGateway(HttpGateway):
    """Calling a real gateway embedded in the settings does not make it one: it is asked, once a process."""

    _is_stand_in = False

    async def refund(self, request: RefundRequest) -> Refund:
        if request.simulated and not self._is_stand_in:
            status, body, _ = await self._call("GET", "/health")
            if status != 200 or body.get("kind") != STAND_IN:
                raise GatewayRefused(
                    "simulated_not_allowed", "it does not say that it is a stand-in"
                )
            self._is_stand_in = True
        return await super().refund(request)
