"""One embedded gateway for the module and one LLM stub for the session, each with its faults off at the start of a test."""

from collections.abc import AsyncIterator, Iterator

import pytest

from streams.payments.http_gateway import HttpGateway
from tests.support.gateway import GatewayProcess, gateway_process
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
