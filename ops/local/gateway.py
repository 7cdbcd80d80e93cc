"""The embedded payment gateway: a stand-in with the manners of a real one, in its own process.

    python -m ops.local.gateway --port 8201 --db gateway.sqlite

POST /refunds (Idempotency-Key), GET /refunds[?reference=|after=&limit=&since=], GET /health,
GET|POST|DELETE /faults. With --real it refuses what a simulated judge had a say in. Faults set by POST
end with the process; those given with --faults are there again after every start.
"""

import argparse
import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from aiohttp import web
from pydantic import ValidationError

from ops.local.gateway_faults import Faults, StoredErrors
from ops.local.gateway_ledger import OtherBody, RefundLedger
from streams.payments.port import Refund, RefundRequest

T = TypeVar("T")


class Gateway:
    """The HTTP face; the ledger is used from one thread of its own, so one refund at a time."""

    def __init__(
        self, ledger: RefundLedger, real: bool = False, faults: Faults | None = None
    ) -> None:
        self._ledger = ledger
        self._real = real
        self._faults = faults or Faults()
        self._stored = StoredErrors()
        self._attempts: Counter[str] = Counter()
        self._ledger_thread = ThreadPoolExecutor(1, "ledger")

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/refunds", self.refund)
        app.router.add_get("/refunds", self.refunds)
        app.router.add_get("/health", self.health)
        app.router.add_get("/faults", self.faults)
        app.router.add_post("/faults", self.set_faults)
        app.router.add_delete("/faults", self.clear_faults)
        return app

    async def refund(self, call: web.Request) -> web.StreamResponse:
        try:
            body = await call.json()
            request = RefundRequest.model_validate({**body, "key": call.headers["Idempotency-Key"]})
        except (ValueError, TypeError, KeyError) as error:
            words = [e["msg"] for e in error.errors()] if isinstance(error, ValidationError) else []
            return _no(
                400, "invalid_request", "; ".join(words) or "a JSON object and a key, please"
            )
        faults, key = self._faults, request.key
        self._attempts[request.reference] += 1
        attempt = self._attempts[request.reference]
        await asyncio.sleep(faults.latency(key, attempt))
        if faults.store_errors and (stored := self._stored.get(key, faults.forget_keys_after_s)):
            return _no(*stored, {"Idempotent-Replayed": "true"})
        if faults.strikes("rate_limited", faults.rate_limited, key, attempt):
            return _no(429, "rate_limited", "slow down", {"Retry-After": f"{faults.retry_after_s}"})
        if faults.strikes("fail_before", faults.fail_before, key, attempt):
            return self._keep(key, 500, "internal", "failed before paying")
        if self._real and request.simulated:
            return _no(422, "simulated_not_allowed", "a simulated judge cannot move real money")
        if refusal := faults.refusal(key, request.order_id):
            return self._keep(key, 422, refusal.code, refusal.message)
        deliveries = 2 if faults.strikes("twice", faults.deliver_twice, key, attempt) else 1
        try:
            answers = await asyncio.gather(*[self._pay(request) for _ in range(deliveries)])
        except OtherBody:
            return _no(409, "key_conflict", "this key came before with another request")
        refund, paid_now = answers[-1]
        if faults.strikes("late", faults.late_answer, key, attempt):
            await asyncio.sleep(faults.late_answer_s)
        if faults.strikes("fail_after", faults.fail_after, key, attempt):
            if faults.fail_after_with == "reset":
                _reset(call)
            return self._keep(key, 500, "internal", "failed after paying")
        if faults.duplicate_answer and not paid_now:
            return _no(409, "duplicate", "this key came before")
        headers = {} if paid_now else {"Idempotent-Replayed": "true"}
        answer = {**refund.model_dump(mode="json"), "reference": request.reference}
        return web.json_response(answer, status=201 if paid_now else 200, headers=headers)

    async def refunds(self, call: web.Request) -> web.Response:
        reference = call.query.get("reference")
        if reference is not None:
            self._attempts["GET " + reference] += 1
            attempt = self._attempts["GET " + reference]
            await asyncio.sleep(self._faults.latency(reference, attempt))
            if self._faults.strikes("look_up", self._faults.fail_look_up, reference, attempt):
                return _no(500, "internal", "the look-up failed")
            found = await self._on_ledger(lambda: self._ledger.by_reference(reference))
            return web.json_response({"refunds": found})
        try:
            after, limit = (
                int(call.query.get(name, d)) for name, d in (("after", 0), ("limit", 1000))
            )
            since = call.query.get("since")
            moment = datetime.fromisoformat(since).astimezone(UTC) if since else None
        except ValueError:
            return _no(400, "invalid_request", "after and limit are integers, since is ISO 8601")
        page = await self._on_ledger(lambda: self._ledger.after(after, max(1, limit), moment))
        return web.json_response({"refunds": page, "next": page[-1]["id"] if page else None})

    async def health(self, call: web.Request) -> web.Response:
        return web.json_response({"ok": True, "kind": "real" if self._real else "embedded"})

    async def faults(self, call: web.Request) -> web.Response:
        return web.json_response(self._faults.model_dump(mode="json"))

    async def set_faults(self, call: web.Request) -> web.Response:
        try:
            self._faults = Faults.model_validate_json(await call.read())
        except ValidationError as error:
            return _no(400, "invalid_request", str(error))
        self._attempts.clear()
        self._stored = StoredErrors()
        return await self.faults(call)

    async def clear_faults(self, call: web.Request) -> web.Response:
        self._faults = Faults()
        return await self.faults(call)

    async def _pay(self, request: RefundRequest) -> tuple[Refund, bool]:
        forget_after_s = self._faults.forget_keys_after_s
        return await self._on_ledger(lambda: self._ledger.pay(request, forget_after_s))

    def _keep(self, key: str, status: int, code: str, message: str) -> web.Response:
        self._stored.put(key, (status, code, message))
        return _no(status, code, message)

    async def _on_ledger(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._ledger_thread, work)


def _no(
    status: int, code: str, message: str, headers: dict[str, str] | None = None
) -> web.Response:
    return web.json_response({"code": code, "message": message}, status=status, headers=headers)


def _reset(call: web.Request) -> None:
    """Drop the connection with a TCP reset, as a load balancer that lost its backend does."""
    if call.transport is not None:
        connection = call.transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        call.transport.abort()


def main() -> None:
    options = argparse.ArgumentParser(prog="ops.local.gateway", description=__doc__)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--host", default="127.0.0.1", help="0.0.0.0 in a container of its own")
    options.add_argument("--db", type=Path, required=True)
    options.add_argument("--real", action="store_true", help="refuse simulated rulings")
    options.add_argument(
        "--faults", type=Faults.model_validate_json, help="the body of POST /faults"
    )
    chosen = options.parse_args()
    gateway = Gateway(RefundLedger(chosen.db), chosen.real, chosen.faults)
    web.run_app(
        gateway.app(),
        host=chosen.host,
        port=chosen.port,
        access_log=None,
        handler_cancellation=False,  # a client that hangs up does not stop a payment under way
        shutdown_timeout=2,
    )


if __name__ == "__main__":
    main()
