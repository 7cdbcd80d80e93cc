"""A ClickHouse HTTP endpoint over chDB, for a machine without a ClickHouse server.

    python -m ops.local.clickhouse --port 8123 --path .refund-bench/clickhouse --users users.json

The engine is the real one, so the same clickhouse-connect code runs against both. What it lacks:
CREATE USER (its users come from the file; without one everybody is the owner), external data,
compressed or streamed answers, replicated and Kafka tables.
"""

import argparse
import asyncio
import json
import os
import time
import uuid
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# A server in production runs in UTC, whatever the time zone of this machine is. Before chDB loads.
os.environ["TZ"] = "UTC"
time.tzset()

import lz4.frame  # type: ignore[import-untyped]  # noqa: E402
from aiohttp import web  # noqa: E402

from ops.local.chdb_engine import Answer, Engine, EngineError  # noqa: E402
from ops.local.clickhouse_users import Role, Users, credentials  # noqa: E402

GB = 1024**3
THREADS = 16

NOT_SETTINGS = frozenset(
    {
        "query",
        "database",
        "user",
        "password",
        "query_id",
        "session_id",
        "session_timeout",
        "session_check",
        "default_format",
        "compress",
        "decompress",
        "wait_end_of_query",
        "buffer_size",
        "quota_key",
        "role",
        "stacktrace",
        "client_protocol_version",
        "enable_http_compression",
        "send_progress_in_http_headers",
        "http_headers_progress_interval_ms",
        "cancel_http_readonly_queries_on_client_close",
    }
)
"""URL parameters that speak to the HTTP server, not to the engine."""

STATUS = {
    400: {1, 6, 27, 36, 38, 41, 42, 43, 44, 46, 47, 53, 62, 69, 70, 72, 115, 117, 386, 456, 457},
    403: {497, 516},
    404: {60, 81},
    503: {202, 252},
}
"""What a server answers for an exception code; 500 for all others."""

CONTENT_TYPES = {
    "JSON": "application/json; charset=UTF-8",
    "JSONEachRow": "application/x-ndjson; charset=UTF-8",
    "CSV": "text/csv; charset=UTF-8; header=absent",
    "CSVWithNames": "text/csv; charset=UTF-8; header=present",
    "TabSeparated": "text/tab-separated-values; charset=UTF-8",
}


class Endpoint:
    def __init__(self, engine: Engine, users: Users) -> None:
        self._engine = engine
        self._users = users
        self._threads = ThreadPoolExecutor(THREADS, "query")

    def app(self) -> web.Application:
        app = web.Application(client_max_size=GB)
        app.router.add_get("/ping", self.ping)
        app.router.add_get("/", self.query)
        app.router.add_post("/", self.query)
        app.cleanup_ctx.append(self._lifetime)
        return app

    async def ping(self, _: web.Request) -> web.Response:
        return web.Response(text="Ok.\n")

    async def query(self, call: web.Request) -> web.Response:
        given = dict(call.query)
        query_id = given.get("query_id") or str(uuid.uuid4())
        if call.content_type == "multipart/form-data":
            form = await call.post()
            if any(not isinstance(value, str) for value in form.values()):
                return self._failed(
                    EngineError("external data is not supported here", 48), query_id
                )
            given.update({name: str(value) for name, value in form.items()})
            body = b""
        else:
            body = await call.read()
        if not body and not given.get("query"):
            return await self.ping(call)
        name, password = credentials(call.headers, given)
        role = self._users.role_of(name, password)
        if role is None:
            words = (
                f"Code: 516. DB::Exception: {name}: Authentication failed: password is incorrect, or "
                "there is no user with such name. (AUTHENTICATION_FAILED)"
            )
            return self._failed(EngineError(words), query_id)
        encoding = call.headers.get("Content-Encoding", "")
        started = time.perf_counter_ns()
        try:
            answer = await asyncio.get_running_loop().run_in_executor(
                self._threads, self._run, given, body, encoding, role
            )
        except EngineError as error:
            return self._failed(error, query_id)
        return self._answered(answer, query_id, time.perf_counter_ns() - started)

    def _run(self, given: dict[str, str], body: bytes, encoding: str, role: Role) -> Answer:
        if encoding == "lz4":  # aiohttp has undone gzip, deflate and zstd already
            body = _all_lz4_frames(body)
        query = given.get("query", "")
        sql = query.encode() + b"\n" + body if query and body else query.encode() or body
        return self._engine.run(
            sql,
            given.get("default_format", "TabSeparated"),
            parameters={k[6:]: v for k, v in given.items() if k.startswith("param_")},
            settings={
                name: value
                for name, value in given.items()
                if name not in NOT_SETTINGS and not name.startswith("param_")
            },
            database=given.get("database"),
            session=given.get("session_id"),
            keep_s=float(given.get("session_timeout") or 60),
            role=role,
        )

    def _answered(self, answer: Answer, query_id: str, elapsed_ns: int) -> web.Response:
        summary = {
            "read_rows": str(answer.read_rows),
            "read_bytes": str(answer.read_bytes),
            "written_rows": str(answer.written_rows),
            "written_bytes": str(answer.written_bytes),
            "result_rows": "0",
            "elapsed_ns": str(elapsed_ns),
        }
        headers = {
            "Content-Type": CONTENT_TYPES.get(answer.format, "application/octet-stream"),
            "X-ClickHouse-Format": answer.format,
            "X-ClickHouse-Summary": json.dumps(summary, separators=(",", ":")),
        }
        return web.Response(body=answer.body, headers={**headers, **self._always(query_id)})

    def _failed(self, error: EngineError, query_id: str) -> web.Response:
        status = next((s for s, codes in STATUS.items() if error.code in codes), 500)
        headers = {"X-ClickHouse-Exception-Code": str(error.code), **self._always(query_id)}
        words = f"{error} (version {self._engine.version} (chDB))\n"
        return web.Response(text=words, status=status, headers=headers)

    def _always(self, query_id: str) -> dict[str, str]:
        return {
            "X-ClickHouse-Query-Id": query_id,
            "X-ClickHouse-Timezone": self._engine.time_zone,
            "X-ClickHouse-Server-Display-Name": "chdb",
        }

    async def _lifetime(self, _: web.Application) -> AsyncIterator[None]:
        async def sweep() -> None:
            while True:
                await asyncio.sleep(5)
                self._engine.close_idle_sessions()

        sweeping = asyncio.create_task(sweep())
        yield
        sweeping.cancel()
        self._threads.shutdown()
        self._engine.close()


def _all_lz4_frames(body: bytes) -> bytes:
    whole = []
    while body:
        frame = lz4.frame.LZ4FrameDecompressor()
        whole.append(frame.decompress(body))
        body = frame.unused_data or b""
    return b"".join(whole)


def main() -> None:
    options = argparse.ArgumentParser(prog="ops.local.clickhouse", description=__doc__)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--path", type=Path, required=True)
    options.add_argument("--users", type=Path, help="JSON with the users and their passwords")
    chosen = options.parse_args()
    users = Users.from_file(chosen.users) if chosen.users else Users()
    chosen.path.mkdir(parents=True, exist_ok=True)
    endpoint = Endpoint(Engine(str(chosen.path.resolve())), users)
    web.run_app(
        endpoint.app(), host="127.0.0.1", port=chosen.port, access_log=None, shutdown_timeout=2
    )


if __name__ == "__main__":
    main()
