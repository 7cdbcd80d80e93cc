"""Which gateway is spoken to: named, complete, and never another than was meant."""

import pytest

from streams.payments.embedded import EmbeddedGateway
from streams.payments.http_gateway import HttpGateway
from streams.payments.port import Misconfigured
from streams.payments.registry import open_gateway
from streams.payments.stripe_gateway import StripeGateway
from tests.unit.cli.calling import Cli

URL = "http://127.0.0.1:1"


def test_each_kind_opens_its_own() -> None:
    assert isinstance(open_gateway("embedded", URL, {}), EmbeddedGateway)
    assert type(open_gateway("http", URL, {})) is HttpGateway
    stripe = open_gateway("stripe", URL, {"STRIPE_API_KEY": "sk_test_x"})
    assert isinstance(stripe, StripeGateway)


@pytest.mark.parametrize(
    ("kind", "said"),
    [("", "one of embedded, http, stripe"), ("Stripe", "no gateway"), ("stripe", "STRIPE_API_KEY")],
)
def test_what_is_unknown_or_incomplete_is_named(kind: str, said: str) -> None:
    with pytest.raises(Misconfigured, match=said):
        open_gateway(kind, URL, {})


@pytest.mark.parametrize(
    ("kind", "said"), [("paypal", "REFUND_BENCH_GATEWAY_KIND"), ("stripe", "STRIPE_API_KEY")]
)
def test_payout_does_not_start_on_a_wrong_gateway(
    kind: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUND_BENCH_INSTALLATION_KEY", "an installation key for tests")
    monkeypatch.setenv("REFUND_BENCH_GATEWAY_KIND", kind)
    monkeypatch.delenv("STRIPE_API_KEY", raising=False)
    ended = Cli()("run", "payout")
    assert ended.code == 2
    assert said in ended.err
