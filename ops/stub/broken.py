"""Replies that are none: what arrives when something between us and the provider breaks."""

import asyncio
import socket
import struct

from aiohttp import web

from ops.stub.marker import FIELD, HEADER

_MARKED = {HEADER: "true"}
_RST_FOLLOWS_AFTER_S = 0.02
"""A reset that came at once would take the bytes before it along."""
LONGER_THAN_ANYONE_WAITS_S = 86_400.0


async def broken(fault: str, request: web.Request, sound: bytes) -> web.StreamResponse:
    """The reply that a wire fault makes of a sound one."""
    if fault == "hang":
        await asyncio.sleep(LONGER_THAN_ANYONE_WAITS_S)
    if fault == "reset_before":
        _reset(request)
        return web.Response()
    if fault == "reset_within":
        return await _reset_within(request, sound)
    if fault == "broken_json":
        return web.Response(
            body=sound[: len(sound) * 2 // 3], content_type="application/json", headers=_MARKED
        )
    if fault == "wrong_shape":
        body = b'{"object":"list","data":[],"%s":true}' % FIELD.encode()
        return web.Response(body=body, content_type="application/json", headers=_MARKED)
    if fault == "bad_gateway":
        return _page(502, "Bad gateway")
    return _page(200, "One moment, please")


def _page(status: int, title: str) -> web.Response:
    page = f"<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"
    return web.Response(status=status, text=page, content_type="text/html", headers=_MARKED)


async def _reset_within(request: web.Request, sound: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={**_MARKED, "Content-Type": "application/json"})
    response.content_length = len(sound)
    await response.prepare(request)
    await response.write(sound[: len(sound) // 2])
    await asyncio.sleep(_RST_FOLLOWS_AFTER_S)
    _reset(request)
    return response


def _reset(request: web.Request) -> None:
    """Drop the connection with a TCP reset, as a load balancer that lost its backend does."""
    if request.transport is not None:
        connection = request.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.abort()
