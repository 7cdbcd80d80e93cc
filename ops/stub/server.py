"""The HTTP face: the order in which a call meets key, limits, faults and answer.

POST /v1/messages, POST /v1/chat/completions, GET /v1/models[/ID]; the switches are in `control`.
"""

import asyncio
import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from aiohttp import web

from ops.stub.admission import Admission
from ops.stub.answering import Answering
from ops.stub.api import ANTHROPIC, OPENAI, Api, check_key
from ops.stub.broken import broken
from ops.stub.catalogue import Catalogue
from ops.stub.control import Control
from ops.stub.faults import IN_REPLY, REJECTIONS, Faults
from ops.stub.journal import Entry, Journal
from ops.stub.marker import HEADER
from ops.stub.prompt_cache import PromptCache
from ops.stub.reading import Asked, Reader
from ops.stub.spoiling import spoil
from ops.stub.wire import Answer, Call, Problem, Tokens, tokens

MOST_BYTES = 32 * 1024 * 1024
_ANSWERED_AS_ERRORS = REJECTIONS | {"rate_limited", "server_error", "overloaded"}


class Stub:
    """One provider of each API, in one process."""

    def __init__(
        self,
        reader: Reader,
        answering: Answering,
        faults: Faults | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        self._reader = reader
        self._answering = answering
        self._at_start = faults or Faults()
        self._catalogue = catalogue or Catalogue()
        self._cache = PromptCache()
        self._journal = Journal()
        self.set_faults(self._at_start)

    def faults(self) -> Faults:
        return self._faults

    def set_faults(self, faults: Faults) -> None:
        """From now on; limits start afresh."""
        now = time.monotonic()
        limits = faults.admit_per_s, faults.burst, faults.admit_tokens_per_s
        self._faults = faults
        self._admission = {api.dialect: Admission(*limits, now) for api in (ANTHROPIC, OPENAI)}

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MOST_BYTES)
        app.router.add_post("/v1/messages", self.messages)
        app.router.add_post("/v1/chat/completions", self.completions)
        app.router.add_get("/v1/models", self.models)
        app.router.add_get("/v1/models/{name}", self.model)
        Control(self.faults, self.set_faults, self._journal, self._at_start).add_to(app.router)
        return app

    async def messages(self, request: web.Request) -> web.StreamResponse:
        return await self._journalled(ANTHROPIC, request)

    async def completions(self, request: web.Request) -> web.StreamResponse:
        return await self._journalled(OPENAI, request)

    async def _journalled(self, api: Api, request: web.Request) -> web.StreamResponse:
        entry = self._journal.open(api.dialect, time.time())
        entry.request_id = f"req_simulated_{entry.number:012}"
        try:
            response = await self._serve(api, request, entry)
            if entry.fault not in ("reset_before", "reset_within"):
                entry.status = response.status
            return response
        except Problem as problem:
            entry.status = problem.status
            return self._refused(api, problem, entry)
        finally:
            self._journal.close(entry, time.time())

    async def _serve(self, api: Api, request: web.Request, entry: Entry) -> web.StreamResponse:
        """Raises: Problem."""
        call = await self._read(api, request)
        asked = self._reader.ask(call)
        entry.model, entry.kind, entry.prompt = call.model.name, asked.kind, asked.prompt
        self._journal.identify(entry, asked.matter)
        self._admit(api, call, entry)
        faults = self._faults
        fault = entry.fault = self._fault(call, asked, entry.attempt)
        if fault in _ANSWERED_AS_ERRORS:
            if fault == "rate_limited":
                entry.retry_after_s = faults.retry_after_s
            if fault == "server_error":
                await asyncio.sleep(faults.latency_s(asked.matter, entry.attempt))
            raise api.rejection(fault, call.model.name)
        found = self._cache.look_up(call.model, call.pieces, time.monotonic())
        answer = await self._answer(call, asked, entry)
        if wait_s := faults.latency_s(asked.matter, entry.attempt):
            await asyncio.sleep(wait_s)
        self._cache.write(found, time.monotonic())
        charged = Tokens(
            found.charged.prompt,
            tokens(len(answer.text)) + 8 * len(answer.calls),
            found.charged.cache_read,
            found.charged.cache_write,
        )
        entry.input_tokens, entry.output_tokens = charged.prompt, charged.output
        entry.cache_read_tokens, entry.cache_write_tokens = charged.cache_read, charged.written
        sound = orjson.dumps(api.reply(call, answer, charged, entry.number))
        if fault is not None and fault not in IN_REPLY:
            return await broken(fault, request, sound)
        return web.Response(
            body=sound, content_type="application/json", headers=self._headers(api, entry)
        )

    async def _read(self, api: Api, request: web.Request) -> Call:
        """Raises: Problem."""
        check_key(api, request.headers)
        try:
            raw = await request.read()
        except web.HTTPRequestEntityTooLarge:
            raise api.rejection("too_large", "") from None
        try:
            body = orjson.loads(raw)
            if not isinstance(body, Mapping):
                raise ValueError("not an object")
        except ValueError:
            raise Problem(
                400, "invalid_request_error", "The request body is not valid JSON."
            ) from None
        return api.read(request.headers, body, self._catalogue)

    def _admit(self, api: Api, call: Call, entry: Entry) -> None:
        """Raises: Problem: 429, with the whole seconds until there is room."""
        wait_s = self._admission[api.dialect].ask(call.tokens, time.monotonic())
        if wait_s:
            entry.fault, entry.retry_after_s = "limited", float(math.ceil(wait_s))
            raise api.rejection("rate_limited", call.model.name)

    def _fault(self, call: Call, asked: Asked, attempt: int) -> str | None:
        faults = self._faults
        if faults.is_down(call.model.name, asked.prompt):
            return faults.down_with
        return faults.strike(asked.kind, call.model.name, asked.prompt, asked.matter, attempt)

    async def _answer(self, call: Call, asked: Asked, entry: Entry) -> Answer:
        """What is said, cut off where the call allows no more."""
        answer = await self._answering.answer(call, asked, entry.attempt)
        if entry.fault in IN_REPLY:
            answer = spoil(entry.fault, answer, self._reader.task(call, asked))
        if tokens(len(answer.text)) > call.max_tokens:
            return Answer(answer.text[: call.max_tokens * 4], "truncated")
        return answer

    def _refused(self, api: Api, problem: Problem, entry: Entry) -> web.Response:
        headers = self._headers(api, entry)
        if entry.retry_after_s is not None:
            headers["retry-after"] = f"{entry.retry_after_s:g}"
        body = orjson.dumps(api.error(problem, entry.request_id))
        return web.Response(
            status=problem.status, body=body, content_type="application/json", headers=headers
        )

    def _headers(self, api: Api, entry: Entry) -> dict[str, str]:
        standing = self._admission[api.dialect].standing(time.monotonic())
        return {HEADER: "true", api.request_id: entry.request_id, **api.headers(standing)}

    async def models(self, request: web.Request) -> web.Response:
        return self._told(request, lambda api: api.model_list(self._catalogue.of(api.dialect)))

    async def model(self, request: web.Request) -> web.Response:
        name = request.match_info["name"]
        return self._told(
            request, lambda api: api.model_info(self._catalogue.find(name, api.dialect))
        )

    def _told(self, request: web.Request, tell: Callable[[Api], dict[str, Any]]) -> web.Response:
        """An answer about models; both APIs have them at one address and differ in a header."""
        api = ANTHROPIC if "anthropic-version" in request.headers else OPENAI
        headers = {HEADER: "true", api.request_id: "req_simulated_models"}
        status = 200
        try:
            check_key(api, request.headers)
            body = tell(api)
        except Problem as problem:
            status, body = problem.status, api.error(problem, headers[api.request_id])
        return web.Response(
            status=status,
            body=orjson.dumps(body),
            content_type="application/json",
            headers=headers,
        )
