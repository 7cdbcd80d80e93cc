"""Stripe's refund endpoints as far as the adapter uses them, over real HTTP, for the real SDK.

Charges are made as they are asked for, each of `CHARGED` minor units, in the currency its id ends
with (`ch_inr_7`). Idempotency as Stripe documents it: the first answer of a key is kept, failures
too, and repeated with `Idempotent-Replayed: true`; other parameters under a key are an error; a key
whose first request still runs is a conflict; what fails validation is not kept.
"""

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from ops.local.ports import free_port

API_KEY = "sk_test_of_the_stub_only"
CHARGED = 1_000_000
Answer = tuple[int, dict[str, Any]]


class StripeStub:
    """`refunds` is the money; `faults` strike the next creations in turn: `before`, `after`, `limited`,
    `html`, `reset`; `metadata` is what each charge says of itself."""

    def __init__(self) -> None:
        self.refunds: list[dict[str, Any]] = []
        self.faults: deque[str] = deque()
        self.metadata: dict[str, dict[str, str]] = {}
        self.refusals: dict[str, dict[str, str]] = {}
        self.requests: list[str] = []
        self.url = ""
        self._keys: dict[str, tuple[dict[str, str], Answer | None]] = {}
        self._numbers = itertools.count(1)

    def forget_keys(self) -> None:
        self._keys.clear()

    def made_under(self, reference: str) -> list[dict[str, Any]]:
        found = (each for each in self.refunds)
        return [r for r in found if r["metadata"].get("refund_bench_reference") == reference]

    @asynccontextmanager
    async def serving(self) -> AsyncIterator["StripeStub"]:
        app = web.Application(middlewares=[self._authorised])
        app.router.add_post("/v1/refunds", self._create)
        app.router.add_get("/v1/refunds", self._list)
        app.router.add_get("/v1/charges/{id}", self._charge)
        app.router.add_get("/v1/payment_intents/{id}", self._intent)
        runner = web.AppRunner(app)
        await runner.setup()
        port = free_port()
        await web.TCPSite(runner, "127.0.0.1", port).start()
        self.url = f"http://127.0.0.1:{port}"
        try:
            yield self
        finally:
            await runner.cleanup()

    @web.middleware
    async def _authorised(self, call: web.Request, handler: Any) -> web.StreamResponse:
        self.requests.append(f"{call.method} {call.path_qs}")
        if call.headers.get("Authorization") != f"Bearer {API_KEY}":
            return _json(_no(401, "Invalid API Key provided: sk_test_****only"))
        answer: web.StreamResponse = await handler(call)
        return answer

    async def _create(self, call: web.Request) -> web.StreamResponse:
        params = {name: str(value) for name, value in (await call.post()).items()}
        key = call.headers["Idempotency-Key"]
        before = self._keys.get(key)
        if before is not None:
            if before[0] != params:
                told = "Keys for idempotent requests can only be used with the same parameters."
                return _json(_no(400, told, type="idempotency_error"))
            if before[1] is None:
                return _json(_no(409, "in use", code="idempotency_key_in_use"))
            return _json(before[1], {"Idempotent-Replayed": "true"})
        fault = self.faults.popleft() if self.faults else ""
        if fault == "limited":
            return _json(_no(429, "slow down", code="rate_limit"), {"Retry-After": "3"})
        if fault == "html":
            return web.Response(text="<html>a proxy</html>", status=502)
        self._keys[key] = (params, None)
        await asyncio.sleep(0.02)  # long enough for a second request to meet the first
        if fault == "before":
            answer = _no(500, "failed before paying", type="api_error")
        else:
            answer = self._pay(params)
        if fault == "after":
            answer = _no(500, "failed after paying", type="api_error")
        self._keys[key] = (params, answer)
        if fault == "reset" and call.transport is not None:
            call.transport.abort()
        return _json(answer)

    def _pay(self, params: dict[str, str]) -> Answer:
        charge, amount = params.get("charge") or params["payment_intent"], int(params["amount"])
        if refusal := self.refusals.get(charge):
            return _no(400, "refused by the test", **refusal)
        spent = sum(
            r["amount"] for r in self.refunds if charge in (r["charge"], r["payment_intent"])
        )
        if spent == CHARGED:
            return _no(400, "already refunded", code="charge_already_refunded")
        if spent + amount > CHARGED:
            told = "Refund amount is greater than unrefunded amount on charge"
            return _no(400, told, param="amount")
        metadata = {
            name[len("metadata[") : -1]: value
            for name, value in params.items()
            if name.startswith("metadata[")
        }
        refund = {
            "id": f"re_{next(self._numbers)}",
            "object": "refund",
            "amount": amount,
            "currency": _currency(charge),
            "charge": params.get("charge"),
            "payment_intent": params.get("payment_intent"),
            "metadata": metadata,
            "status": "succeeded",
            "created": int(time.time()),
        }
        self.refunds.append(refund)
        return 200, refund

    async def _list(self, call: web.Request) -> web.Response:
        newest_first = [
            refund
            for refund in reversed(self.refunds)
            if all(
                refund[name] == call.query[name]
                for name in ("charge", "payment_intent")
                if name in call.query
            )
            and refund["created"] >= int(call.query.get("created[gte]", 0))
        ]
        ids = [refund["id"] for refund in newest_first]
        start = ids.index(call.query["starting_after"]) + 1 if "starting_after" in call.query else 0
        end = start + int(call.query.get("limit", 10))
        page = {"object": "list", "url": "/v1/refunds", "has_more": end < len(ids)}
        return _json((200, {**page, "data": newest_first[start:end]}))

    async def _charge(self, call: web.Request) -> web.Response:
        return _json((200, self._charge_object(call.match_info["id"])))

    async def _intent(self, call: web.Request) -> web.Response:
        name = call.match_info["id"]
        charge = {**self._charge_object(name), "id": f"ch_of_{name}"}
        intent = {"id": name, "object": "payment_intent", "metadata": {}, "latest_charge": charge}
        return _json((200, intent))

    def _charge_object(self, name: str) -> dict[str, Any]:
        return {
            "id": name, "object": "charge", "amount": CHARGED, "currency": _currency(name),
            "metadata": self.metadata.get(name, {}),
        }  # fmt: skip


def _currency(charge: str) -> str:
    return charge.split("_")[1]


def _no(status: int, message: str, **about: str) -> Answer:
    return status, {"error": {"type": "invalid_request_error", "message": message, **about}}


def _json(answer: Answer, headers: dict[str, str] | None = None) -> web.Response:
    return web.json_response(answer[1], status=answer[0], headers=headers)
