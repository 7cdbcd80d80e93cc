"""Which gateway payout speaks to: `REFUND_BENCH_GATEWAY_KIND`. Never chosen silently."""

from collections.abc import Mapping

from streams.payments.embedded import STAND_IN, EmbeddedGateway
from streams.payments.http_gateway import HttpGateway
from streams.payments.port import Misconfigured, PaymentGateway

KINDS = (STAND_IN, "http", "stripe")


def open_gateway(kind: str, url: str, environment: Mapping[str, str]) -> PaymentGateway:
    """The gateway of this kind. `url` is where `embedded` and `http` are.

    Raises:
        Misconfigured: an unknown kind, or a setting is missing; the message names it.
    """
    if kind == STAND_IN:
        return EmbeddedGateway(url)
    if kind == "http":
        return HttpGateway(url, token=environment.get("REFUND_BENCH_GATEWAY_TOKEN") or None)
    if kind == "stripe":
        key = environment.get("STRIPE_API_KEY", "")
        if not key:
            raise Misconfigured(
                "STRIPE_API_KEY is not set; the gateway kind stripe needs a secret or restricted key "
                "that may read charges and write refunds"
            )
        from streams.payments.stripe_gateway import StripeGateway

        return StripeGateway(key, environment.get("REFUND_BENCH_STRIPE_URL") or None)
    raise Misconfigured(
        f"REFUND_BENCH_GATEWAY_KIND: there is no gateway {kind!r}; one of {', '.join(KINDS)}"
    )
