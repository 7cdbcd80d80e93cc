"""The gateway port over HTTP, with the dialect the embedded gateway speaks."""

from collections.abc import AsyncIterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import Any, Self

import aiohttp
import orjson
from pydantic import ValidationError

from streams import retry_after
from streams.payments.kept_failures import past_kept_failures
from streams.payments.port import (
    GatewayError,
    GatewayRefused,
    GatewayUnavailable,
    KeptFailure,
    KeyConflict,
    Refund,
    RefundRequest,
    as_asked,
)

PAGE = 1_000
"""Refunds asked for at a time when all are listed."""
DEFINITE = frozenset({400, 402, 403, 404, 410, 422})
"""Statuses that refuse, if a code says why. Without one they may come from a proxy on the way."""


class HttpGateway:
    """One connection pool; close it with `aclose` or use `async with`."""

    def __init__(self, base_url: str, timeout_s: float = 10.0, token: str | None = None) -> None:
        self._base = base_url.rstrip("/")
        self._timeout = aiohttp.ClientTimeout(total=timeout_s)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._session: aiohttp.ClientSession | None = None

    async def look_up(self, request: RefundRequest) -> Refund | None:
        status, body, _ = await self._call(
            "GET", "/refunds", params={"reference": request.reference}
        )
        found = body.get("refunds") if status == 200 else None
        if not isinstance(found, list):
            raise GatewayUnavailable(f"look-up answered {status}")
        return _refund(found[0]) if found else None

    async def refund(self, request: RefundRequest) -> Refund:
        return await past_kept_failures(self, request, lambda key: self._attempt(request, key))

    async def refunds(self, since: datetime | None = None) -> AsyncIterator[Refund]:
        asked = {"limit": str(PAGE), **({"since": since.isoformat()} if since else {})}
        after: object = 0
        while after is not None:
            status, body, _ = await self._call(
                "GET", "/refunds", params={**asked, "after": str(after)}
            )
            page = body.get("refunds") if status == 200 else None
            if not isinstance(page, list):
                raise GatewayUnavailable(f"the list of refunds answered {status}")
            for one in page:
                yield _refund(one)
            after = body.get("next") if page else None

    async def aclose(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _attempt(self, request: RefundRequest, idempotency_key: str) -> Refund:
        status, body, headers = await self._call(
            "POST",
            "/refunds",
            data=request.to_bytes(),
            headers={"Content-Type": "application/json", "Idempotency-Key": idempotency_key},
        )
        if status in (200, 201):
            return as_asked(_refund(body), request)
        code = body.get("code")
        if status == 409 and code == "duplicate":
            return await self._paid_before(request)
        if status >= 500 and headers.get("Idempotent-Replayed") == "true":
            raise KeptFailure(f"answered {status} again")
        raise _failure(status, code, str(body.get("message", "")), request.key, headers)

    async def _paid_before(self, request: RefundRequest) -> Refund:
        """Some gateways answer a repeated key with "duplicate" and leave the rest to us."""
        found = await self.look_up(request)
        if found is None:
            raise GatewayUnavailable("called a duplicate of a refund it cannot find")
        return as_asked(found, request)

    async def _call(
        self, method: str, path: str, **arguments: Any
    ) -> tuple[int, dict[str, Any], Mapping[str, str]]:
        if self._session is None:
            self._session = aiohttp.ClientSession(timeout=self._timeout, headers=self._headers)
        try:
            async with self._session.request(
                method, self._base + path, allow_redirects=False, **arguments
            ) as answer:
                body = await answer.read()
                return answer.status, _object(body), answer.headers
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise GatewayUnavailable(f"{type(error).__name__}: {error}") from error


def _failure(
    status: int, code: object, message: str, key: str, headers: Mapping[str, str]
) -> GatewayError:
    if status == 409 and code == "key_conflict":
        return KeyConflict(key, message)
    if status in DEFINITE and isinstance(code, str) and code:
        return GatewayRefused(code, message)
    again_s = retry_after.seconds(headers.get("Retry-After"))
    return GatewayUnavailable(f"answered {status} {code or ''} {message}".strip(), again_s)


def _refund(body: object) -> Refund:
    """What was paid, under our key: the gateway's may be that of a later attempt (`past_kept_failures`)."""
    try:
        if isinstance(body, dict) and body.get("reference"):
            body = {**body, "key": body["reference"]}
        return Refund.model_validate(body)
    except ValidationError as error:
        raise GatewayUnavailable(f"unreadable refund: {error.error_count()} errors") from error


def _object(body: bytes) -> dict[str, Any]:
    """The JSON object in the body; anything else, a proxy's HTML say, tells us nothing."""
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}
