"""What every payment gateway adapter must do; the same suite over each of them."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from pydantic import ValidationError

from streams.payments.http_gateway import HttpGateway
from streams.payments.port import KeyConflict, PaymentGateway
from tests.support.gateway import a_request
from tests.support.memory_gateway import MemoryGateway

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["memory", "http"])
def gateway(request: pytest.FixtureRequest) -> PaymentGateway:
    if request.param == "memory":
        return MemoryGateway()
    adapter: HttpGateway = request.getfixturevalue("http")
    return adapter


async def test_a_refund_is_paid_as_asked(gateway: PaymentGateway) -> None:
    request = a_request()
    refund = await gateway.refund(request)
    assert (refund.key, refund.amount_minor, refund.currency) == (request.key, 68_900, "INR")
    assert refund.simulated is True
    assert refund.created_at.tzinfo is not None


async def test_a_key_nobody_used_is_not_found(gateway: PaymentGateway) -> None:
    assert await gateway.look_up(a_request()) is None


async def test_look_up_finds_what_was_paid(gateway: PaymentGateway) -> None:
    request = a_request()
    assert await gateway.refund(request) == await gateway.look_up(request)


async def test_the_same_request_again_answers_with_the_same_refund(gateway: PaymentGateway) -> None:
    request = a_request()
    assert await gateway.refund(request) == await gateway.refund(request)


async def test_the_same_key_twice_at_once_moves_money_once(gateway: PaymentGateway) -> None:
    request = a_request()
    answers = await asyncio.gather(*[gateway.refund(request) for _ in range(8)])
    assert len({answer.gateway_ref for answer in answers}) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"amount_minor": 1},
        {"currency": "NGN"},
        {"account": "customer-8"},
        {"order_id": "1841"},
        {"simulated": False},
        {"scopes": ["LATE"]},
    ],
    ids=lambda change: next(iter(change)),
)
async def test_the_same_key_for_something_else_conflicts(
    gateway: PaymentGateway, change: dict[str, Any]
) -> None:
    first = a_request()
    paid = await gateway.refund(first)
    with pytest.raises(KeyConflict) as conflict:
        await gateway.refund(a_request(key=first.key, **change))
    assert conflict.value.key == first.key
    assert await gateway.look_up(first) == paid


async def test_the_order_of_scopes_is_not_another_request(gateway: PaymentGateway) -> None:
    first = a_request()
    again = a_request(key=first.key, scopes=["L1#2", "LATE", "L1#1"])
    assert await gateway.refund(first) == await gateway.refund(again)


async def test_other_keys_of_one_order_are_other_refunds(gateway: PaymentGateway) -> None:
    refunds = [await gateway.refund(a_request()) for _ in range(3)]
    assert len({refund.gateway_ref for refund in refunds}) == 3


async def test_what_was_paid_is_listed_with_its_order_and_scopes(gateway: PaymentGateway) -> None:
    requests = [a_request(), a_request(order_id="1841", scopes=["LATE"])]
    paid = [await gateway.refund(request) for request in requests]
    listed = [refund async for refund in gateway.refunds(since=paid[0].created_at)]
    ours = [refund for refund in listed if refund.key in {request.key for request in requests}]
    assert ours == paid
    told = [(refund.order_id, set(refund.scopes)) for refund in ours]
    assert told == [(request.order_id, set(request.scopes)) for request in requests]
    later = max(refund.created_at for refund in paid) + timedelta(days=1)
    assert [refund async for refund in gateway.refunds(since=later)] == []


@pytest.mark.parametrize("amount", [0, -1, 1.0, "1", True, 2**53])
def test_a_request_for_no_amount_cannot_be_made(amount: object) -> None:
    with pytest.raises(ValidationError):
        a_request(amount_minor=amount)
