"""One embedded gateway for the module and one LLM stub for the session, each with its faults off at the start of a test."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from streams.payments.embedded import EmbeddedGateway
from streams.payments.http_gateway import HttpGateway
from streams.payments.port import GatewayUnavailable, PaymentGateway, RefundRequest
from streams.payments.stripe_gateway import StripeGateway
from tests.support.gateway import GatewayProcess, a_request, gateway_process
from tests.support.memory_gateway import MemoryGateway
from tests.support.stripe_stub import API_KEY, StripeStub
from tests.support.stub import StubProcess, stub_process


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    with gateway_process(tmp_path_factory.mktemp("gateway")) as running:
        yield running


@pytest.fixture
async def http(process: GatewayProcess) -> AsyncIterator[HttpGateway]:
    process.set_faults()
    async with HttpGateway(process.url, timeout_s=5) as adapter:
        yield adapter


@pytest.fixture(scope="session")
def stub_of_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StubProcess]:
    with stub_process(tmp_path_factory.mktemp("stub")) as running:
        yield running


@pytest.fixture
def stub(stub_of_session: StubProcess) -> StubProcess:
    """The LLM stub with no faults and an empty journal."""
    stub_of_session.forget()
    return stub_of_session


@dataclass(frozen=True)
class Subject:
    """A gateway, and the other side of it."""

    name: str
    gateway: PaymentGateway
    ask: Callable[..., RefundRequest]
    moved: Callable[[RefundRequest], int]
    """How often money moved under the request's reference, by the gateway's own file."""
    fail: Callable[[str], None]
    """The next creation fails `before` paying, `after` paying, or is `limited`; failures are kept."""
    refuse: Callable[[RefundRequest, str], None]
    forget_keys: Callable[[], None]


@asynccontextmanager
async def over_http(name: str, process: GatewayProcess) -> AsyncIterator[Subject]:
    process.set_faults()

    def fail(how: str) -> None:
        fault = {"before": "fail_before", "after": "fail_after", "limited": "rate_limited"}[how]
        process.set_faults(
            **{fault: 1}, first_attempts=1, store_errors=how != "limited", retry_after_s=3
        )

    adapter = EmbeddedGateway if name == "embedded" else HttpGateway
    async with adapter(process.url, timeout_s=5) as gateway:
        yield Subject(
            name,
            gateway,
            a_request,
            lambda request: len(process.refunds(request.reference)),
            fail,
            lambda request, code: process.set_faults(
                refuse=[{"code": code, "order_ids": [request.order_id]}]
            ),
            lambda: process.set_faults(forget_keys_after_s=0),
        )


@asynccontextmanager
async def over_stripe() -> AsyncIterator[Subject]:
    def ask(**changes: Any) -> RefundRequest:
        return a_request(**{"simulated": False, "charge": "ch_inr_7", **changes})

    def refuse(request: RefundRequest, code: str) -> None:
        words = {"already_refunded": "charge_already_refunded"}
        about = {"param": "amount"} if code == "amount_above_charge" else {}
        stub.refusals[str(request.charge)] = about or {"code": words.get(code, code)}

    async with StripeStub().serving() as stub, StripeGateway(API_KEY, stub.url, 5) as gateway:
        yield Subject(
            "stripe",
            gateway,
            ask,
            lambda request: len(stub.made_under(request.reference)),
            stub.faults.append,
            refuse,
            stub.forget_keys,
        )


@asynccontextmanager
async def in_memory() -> AsyncIterator[Subject]:
    gateway = MemoryGateway()

    def fail(how: str) -> None:
        failure = GatewayUnavailable("failed", 3 if how == "limited" else None)
        (gateway.losses if how == "after" else gateway.failures).append(failure)

    yield Subject(
        "memory",
        gateway,
        a_request,
        lambda request: sum(paid.reference == request.reference for paid in gateway.paid),
        fail,
        lambda request, code: gateway.refusals.update({request.order_id: code}),
        lambda: None,
    )


@pytest.fixture(params=["memory", "http", "embedded", "stripe"])
async def subject(request: pytest.FixtureRequest) -> AsyncIterator[Subject]:
    if request.param == "memory":
        opened = in_memory()
    elif request.param == "stripe":
        opened = over_stripe()
    else:
        opened = over_http(request.param, request.getfixturevalue("process"))
    async with opened as one:
        yield one
