"""Stripe's adapter against a stub of its refund endpoints: what only Stripe does."""

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from streams.payments import stripe_gateway
from streams.payments.port import (
    GatewayRefused,
    GatewayUnavailable,
    KeyConflict,
    RefundRequest,
    as_asked,
)
from streams.payments.stripe_gateway import StripeGateway
from tests.support.gateway import a_request
from tests.support.stripe_stub import API_KEY, CHARGED, StripeStub

pytestmark = pytest.mark.anyio


def ask(**changes: Any) -> RefundRequest:
    return a_request(**{"simulated": False, "charge": "ch_inr_7", **changes})


@pytest.fixture
async def stub() -> AsyncIterator[StripeStub]:
    async with StripeStub().serving() as running:
        yield running


@pytest.fixture
async def stripe(stub: StripeStub) -> AsyncIterator[StripeGateway]:
    async with StripeGateway(API_KEY, stub.url, 5) as gateway:
        yield gateway


async def refusal(gateway: StripeGateway, request: RefundRequest) -> str:
    with pytest.raises(GatewayRefused) as refused:
        await gateway.refund(request)
    return refused.value.code


async def test_a_payment_intent_is_refunded_as_well(
    stub: StripeStub, stripe: StripeGateway
) -> None:
    request = ask(charge="pi_inr_1")
    assert await stripe.refund(request) == await stripe.look_up(request)
    assert stub.refunds[0]["payment_intent"] == "pi_inr_1"


async def test_an_order_whose_id_is_stripes_own_needs_no_reference(stripe: StripeGateway) -> None:
    request = ask(charge=None, order_id="ch_inr_9")
    assert (await stripe.refund(request)).order_id == "ch_inr_9"


async def test_without_a_charge_of_stripes_nothing_is_asked(
    stub: StripeStub, stripe: StripeGateway
) -> None:
    with pytest.raises(GatewayRefused, match="unknown_charge"):
        await stripe.look_up(ask(charge=None))
    assert await refusal(stripe, ask(charge=None)) == "unknown_charge"
    assert stub.requests == []


async def test_the_charge_must_be_in_our_currency_this_customers_and_this_orders(
    stub: StripeStub, stripe: StripeGateway
) -> None:
    assert await refusal(stripe, ask(charge="ch_ngn_1")) == "currency_mismatch"
    stub.metadata["ch_inr_2"] = {"customer_id": "somebody-else"}
    assert await refusal(stripe, ask(charge="ch_inr_2")) == "unknown_account"
    stub.metadata["ch_inr_3"] = {"order_id": "another"}
    assert await refusal(stripe, ask(charge="ch_inr_3")) == "unknown_charge"
    assert stub.refunds == []


async def test_shillings_are_hundredths_to_stripe(stub: StripeStub, stripe: StripeGateway) -> None:
    """Uganda's have no cents, and Stripe still wants 500 for 5."""
    request = ask(charge="ch_ugx_1", currency="UGX", amount_minor=5)
    assert (await stripe.refund(request)).amount_minor == 5
    assert stub.refunds[0]["amount"] == 500
    found = await stripe.look_up(request)
    assert found is not None
    assert (found.amount_minor, found.currency) == (5, "UGX")
    stub.refunds[0]["amount"] = 501
    with pytest.raises(KeyConflict):
        as_asked(await stripe.look_up(request) or found, request)


async def test_dinars_that_stripe_cannot_pay_to_the_fils_are_refused_and_not_rounded(
    stub: StripeStub, stripe: StripeGateway
) -> None:
    """Stripe wants the last of three decimals to be 0."""
    request = ask(charge="ch_kwd_1", currency="KWD", amount_minor=1_234)
    assert await refusal(stripe, request) == "amount_not_possible"
    assert stub.requests == []
    paid = await stripe.refund(ask(charge="ch_kwd_1", currency="KWD", amount_minor=1_230))
    assert (paid.amount_minor, stub.refunds[0]["amount"]) == (1_230, 1_230)


async def test_a_refund_that_failed_does_not_hide_one_that_was_taken_on(
    stub: StripeStub, stripe: StripeGateway
) -> None:
    request = ask()
    paid = await stripe.refund(request)
    stub.refunds.insert(0, {**stub.refunds[0], "id": "re_0", "status": "failed", "created": 1})
    assert await stripe.look_up(request) == paid


async def test_more_than_is_left_of_the_charge_is_refused(stripe: StripeGateway) -> None:
    await stripe.refund(ask(amount_minor=CHARGED - 1))
    assert await refusal(stripe, ask(amount_minor=2)) == "amount_above_charge"
    await stripe.refund(ask(amount_minor=1))
    assert await refusal(stripe, ask(amount_minor=1)) == "already_refunded"


async def test_a_simulated_ruling_does_not_reach_stripe(
    stub: StripeStub, stripe: StripeGateway
) -> None:
    assert await refusal(stripe, ask(simulated=True)) == "simulated_not_allowed"
    assert stub.requests == []


async def test_a_refund_is_found_behind_others_of_the_charge(
    stripe: StripeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stripe_gateway, "PAGE", 2)
    requests = [ask(amount_minor=1_000) for _ in range(7)]
    paid = [await stripe.refund(request) for request in requests]
    assert await stripe.look_up(requests[0]) == paid[0]
    assert [refund async for refund in stripe.refunds()] == paid


async def test_a_refund_that_ended_unpaid_is_refused_and_not_counted(
    stub: StripeStub, stripe: StripeGateway
) -> None:
    request = ask()
    await stripe.refund(request)
    stub.refunds[0]["status"] = "failed"
    with pytest.raises(GatewayRefused, match="refund_failed"):
        await stripe.look_up(request)
    assert [refund async for refund in stripe.refunds()] == []


@pytest.mark.parametrize("fault", ["html", "reset"])
async def test_what_says_nothing_leaves_it_open(
    stub: StripeStub, stripe: StripeGateway, fault: str
) -> None:
    stub.faults.append(fault)
    with pytest.raises(GatewayUnavailable):
        await stripe.refund(ask())


async def test_stripe_away_or_slow_leaves_it_open(stub: StripeStub) -> None:
    async with StripeGateway(API_KEY, "http://127.0.0.1:1", 1) as nowhere:
        with pytest.raises(GatewayUnavailable):
            await nowhere.look_up(ask())
    async with StripeGateway(API_KEY, stub.url, 0.015) as hasty:
        with pytest.raises(GatewayUnavailable):
            await hasty.refund(ask())


async def test_the_key_is_in_no_error_and_no_log(
    stub: StripeStub, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = "sk_live_this_must_never_be_seen"
    async with StripeGateway(secret, stub.url, 5) as stranger:
        with pytest.raises(GatewayUnavailable) as refused:
            await stranger.look_up(ask())
    seen: list[BaseException | None] = [refused.value]
    while seen[-1] is not None:
        seen.append(seen[-1].__cause__)
    assert "AuthenticationError" in str(refused.value)
    assert not any(secret in repr(each) + str(each) for each in seen)
    assert secret not in caplog.text + repr(stranger)


async def test_long_scopes_are_kept_in_parts(stripe: StripeGateway) -> None:
    scopes = [f"L{line}#{unit}" for line in range(40) for unit in range(5)]
    request = ask(scopes=scopes)
    assert (await stripe.refund(request)).scopes == tuple(sorted(scopes))
