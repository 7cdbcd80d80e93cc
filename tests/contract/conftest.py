"""One embedded gateway for the module, with its fault switch off at the start of each test."""

from collections.abc import AsyncIterator, Iterator

import pytest

from streams.payments.http_gateway import HttpGateway
from tests.support.gateway import GatewayProcess, gateway_process


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
