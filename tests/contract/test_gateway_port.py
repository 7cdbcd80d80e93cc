"""What every payment gateway adapter must do; the same suite over each of them."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from streams.payments.port import GatewayRefused, GatewayUnavailable, KeyConflict, Refund
from tests.contract.conftest import Subject
from tests.support.gateway import a_request

pytestmark = pytest.mark.anyio


async def test_a_refund_is_paid_as_asked(subject: Subject) -> None:
    request = subject.ask()
    refund = await subject.gateway.refund(request)
    assert (refund.key, refund.amount_minor, refund.currency) == (request.key, 68_900, "INR")
    assert (refund.order_id, refund.account) == (request.order_id, request.account)
    assert refund.simulated is request.simulated
    assert refund.created_at.tzinfo is not None
    assert subject.moved(request) == 1


async def test_a_key_nobody_used_is_not_found(subject: Subject) -> None:
    assert await subject.gateway.look_up(subject.ask()) is None


async def test_look_up_finds_what_was_paid(subject: Subject) -> None:
    request = subject.ask()
    assert await subject.gateway.refund(request) == await subject.gateway.look_up(request)


async def test_the_same_request_again_answers_with_the_same_refund(subject: Subject) -> None:
    request = subject.ask()
    assert await subject.gateway.refund(request) == await subject.gateway.refund(request)
    assert subject.moved(request) == 1


async def test_the_same_key_twice_at_once_in_flight_moves_money_once(subject: Subject) -> None:
    request = subject.ask()

    async def paid() -> Refund:
        while True:
            try:
                return await subject.gateway.refund(request)
            except GatewayUnavailable:  # some say that the first is still under way
                await asyncio.sleep(0.02)

    answers = await asyncio.gather(*[paid() for _ in range(8)])
    assert len({answer.gateway_ref for answer in answers}) == 1
    assert subject.moved(request) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"amount_minor": 1},
        {"currency": "NGN"},
        {"account": "customer-8"},
        {"order_id": "1841"},
        {"simulated": None},
        {"scopes": ["LATE"]},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_the_same_key_for_something_else_moves_nothing(
    subject: Subject, change: dict[str, Any]
) -> None:
    first = subject.ask()
    paid = await subject.gateway.refund(first)
    if "simulated" in change:
        change = {"simulated": not first.simulated}
    # Stripe's adapter sees a wrong currency, and a simulated ruling, before Stripe sees the key.
    early = subject.name == "stripe" and not {"currency", "simulated"}.isdisjoint(change)
    with pytest.raises(GatewayRefused if early else KeyConflict):
        await subject.gateway.refund(subject.ask(key=first.key, **change))
    assert await subject.gateway.look_up(first) == paid
    assert subject.moved(first) == 1


async def test_the_order_of_scopes_is_not_another_request(subject: Subject) -> None:
    first = subject.ask()
    again = subject.ask(key=first.key, scopes=["L1#2", "LATE", "L1#1"])
    assert await subject.gateway.refund(first) == await subject.gateway.refund(again)


async def test_other_keys_of_one_order_are_other_refunds(subject: Subject) -> None:
    refunds = [await subject.gateway.refund(subject.ask()) for _ in range(3)]
    assert len({refund.gateway_ref for refund in refunds}) == 3


async def test_failing_before_paying_is_an_unknown_outcome_that_pays_once_in_the_end(
    subject: Subject,
) -> None:
    """The gateways over HTTP keep the failure under the key, and would repeat it for a day."""
    request = subject.ask()
    subject.fail("before")
    with pytest.raises(GatewayUnavailable):
        await subject.gateway.refund(request)
    assert await subject.gateway.look_up(request) is None
    refund = await subject.gateway.refund(request)
    assert refund == await subject.gateway.look_up(request)
    assert subject.moved(request) == 1


async def test_failing_after_paying_is_found_and_not_paid_again(subject: Subject) -> None:
    request = subject.ask()
    subject.fail("after")
    with pytest.raises(GatewayUnavailable):
        await subject.gateway.refund(request)
    found = await subject.gateway.look_up(request)
    assert found is not None
    assert await subject.gateway.refund(request) == found
    assert subject.moved(request) == 1


async def test_too_many_requests_says_when_to_come_back(subject: Subject) -> None:
    request = subject.ask()
    subject.fail("limited")
    with pytest.raises(GatewayUnavailable) as limited:
        await subject.gateway.refund(request)
    assert limited.value.retry_after_s == 3
    assert subject.moved(request) == 0


async def test_what_was_paid_is_found_when_the_key_is_long_forgotten(subject: Subject) -> None:
    request = subject.ask()
    paid = await subject.gateway.refund(request)
    subject.forget_keys()
    assert await subject.gateway.look_up(request) == paid


@pytest.mark.parametrize("code", ["already_refunded", "account_closed", "amount_above_charge"])
async def test_a_refusal_is_definite_and_the_same_each_time(subject: Subject, code: str) -> None:
    request = subject.ask(order_id="refused-1")
    subject.refuse(request, code)
    for _ in range(2):
        with pytest.raises(GatewayRefused) as refused:
            await subject.gateway.refund(request)
        assert refused.value.code == code
    assert await subject.gateway.look_up(request) is None


async def test_what_was_paid_is_listed_with_its_order_and_scopes(subject: Subject) -> None:
    requests = [subject.ask(), subject.ask(order_id="1841", scopes=["LATE"])]
    paid = [await subject.gateway.refund(request) for request in requests]
    listed = [refund async for refund in subject.gateway.refunds(since=paid[0].created_at)]
    ours = [refund for refund in listed if refund.key in {request.key for request in requests}]
    assert ours == paid
    told = [(refund.order_id, set(refund.scopes)) for refund in ours]
    assert told == [(request.order_id, set(request.scopes)) for request in requests]
    later = max(refund.created_at for refund in paid) + timedelta(days=1)
    assert [refund async for refund in subject.gateway.refunds(since=later)] == []


@pytest.mark.parametrize("amount", [0, -1, 1.0, "1", True, 2**53])
def test_a_request_for_no_amount_cannot_be_made(amount: object) -> None:
    with pytest.raises(ValidationError):
        a_request(amount_minor=amount)
