"""The HTTP adapter with servers that are no gateway at all, or a strange one."""

from typing import Any

import pytest
from aiohttp import web

from ops.local.ports import free_port
from streams.payments.http_gateway import HttpGateway
from streams.payments.port import GatewayRefused, GatewayUnavailable, KeyConflict
from tests.support.gateway import a_request

pytestmark = pytest.mark.anyio

REFUND = {
    "key": "K",
    "amount_minor": 68_900,
    "currency": "INR",
    "gateway_ref": "r1",
    "created_at": "2026-01-01T00:00:00Z",
    "simulated": True,
}


@pytest.mark.parametrize(
    ("status", "body", "headers", "expected"),
    [
        (200, "<html>hello from a proxy</html>", {}, GatewayUnavailable),
        (200, '{"ok": true}', {}, GatewayUnavailable),
        (302, "", {"Location": "http://127.0.0.1:1/"}, GatewayUnavailable),
        (401, '{"code": "unauthorized"}', {}, GatewayUnavailable),
        (404, "no such page", {}, GatewayUnavailable),
        (502, '{"code": "account_closed"}', {}, GatewayUnavailable),
        (409, '{"code": "in_progress"}', {}, GatewayUnavailable),
        (422, '{"code": "unknown_account"}', {}, GatewayRefused),
        (429, "", {"Retry-After": "99999"}, GatewayUnavailable),
        (429, "", {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, GatewayUnavailable),
        (201, {**REFUND, "amount_minor": 1}, {}, KeyConflict),
        (201, {**REFUND, "key": "another"}, {}, KeyConflict),
        (201, REFUND, {}, None),
    ],
)
async def test_no_answer_is_taken_for_more_than_it_says(
    status: int, body: Any, headers: dict[str, str], expected: type[Exception] | None
) -> None:
    async def answer(_: web.Request) -> web.Response:
        if isinstance(body, dict):
            return web.json_response(body, status=status)
        return web.Response(text=body, status=status, headers=headers)

    app = web.Application()
    app.router.add_post("/refunds", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    port = free_port()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    try:
        async with HttpGateway(f"http://127.0.0.1:{port}") as http:
            if expected is None:
                assert (await http.refund(a_request(key="K"))).gateway_ref == "r1"
                return
            with pytest.raises(expected) as raised:
                await http.refund(a_request(key="K"))
            if isinstance(raised.value, GatewayUnavailable):
                assert (raised.value.retry_after_s or 0) <= 60
    finally:
        await runner.cleanup()


async def test_a_gateway_that_is_not_there_is_unavailable() -> None:
    async with HttpGateway(f"http://127.0.0.1:{free_port()}") as http:
        with pytest.raises(GatewayUnavailable):
            await http.look_up(a_request())
        with pytest.raises(GatewayUnavailable):
            await http.refund(a_request())
