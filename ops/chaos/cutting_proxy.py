"""A TCP proxy before ClickHouse that cuts connections: after the server has answered and before the client
hears it, or in the middle of a request. It can also take the server away altogether."""

import asyncio
import random
import threading
import time
from typing import Self

CHUNK = 1 << 16
UNANSWERED, CUT_SHORT = 0.04, 0.01
"""Shares of requests whose answer is swallowed, and that reach the server only in part."""


class CuttingProxy:
    """Listens on `port` of the loopback, from `start` to `stop`, in a thread of its own.

    Counts what it did: `requests`, `unanswered`, `cut_short`; `answered_inserts` are the moments, in
    seconds since 1970, at which the answer to an insert, a migration's own aside, was let through.
    """

    def __init__(
        self, server_port: int, seed: int, unanswered: float = UNANSWERED, cut_short: float = CUT_SHORT
    ) -> None:  # fmt: skip
        self._server_port = server_port
        self._unanswered, self._cut_short = unanswered, cut_short
        self._rng = random.Random(seed)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="proxy", daemon=True)
        self._open: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None
        self.cuts = True
        """While false every request is served."""
        self.away = False
        """While true no connection is served, and those that were are gone."""
        self.port = 0
        self.requests = self.unanswered = self.cut_short = 0
        self.answered_inserts: list[float] = []

    def start(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result(10)
        return self

    def stop(self) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def take_away(self) -> None:
        """From now on it is as if nobody listened."""
        self.away = True
        self._loop.call_soon_threadsafe(self._drop_all)

    def bring_back(self) -> None:
        self.away = False

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def _end(self) -> None:
        assert self._listener is not None
        self._listener.close()
        self._drop_all()
        for serving in self._serving:
            serving.cancel()
        await asyncio.gather(*self._serving, return_exceptions=True)

    def _drop_all(self) -> None:
        for writer in list(self._open):
            writer.transport.abort()

    async def _serve(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        """One connection of the client, until either side or a whim ends it."""
        serving = asyncio.current_task()
        assert serving is not None
        self._serving.add(serving)
        self._open.add(back)
        there: asyncio.StreamWriter | None = None
        try:
            if not self.away:
                server, there = await asyncio.open_connection("127.0.0.1", self._server_port)
                self._open.add(there)
                await _Exchange(self, client, back, server, there).run()
        except OSError:
            pass  # the server was killed, or the client was
        finally:
            self._serving.discard(serving)
            for writer in (back, there):
                if writer is not None:
                    self._open.discard(writer)
                    writer.transport.abort()

    def fate(self) -> str:
        """What is to become of the request that has just begun."""
        self.requests += 1
        if not self.cuts:
            return "served"
        drawn = self._rng.random()
        if drawn < self._unanswered:
            return "unanswered"
        return "cut_short" if drawn < self._unanswered + self._cut_short else "served"


class _Exchange:
    """Requests and answers of one connection, one after the other."""

    def __init__(
        self, proxy: CuttingProxy, client: asyncio.StreamReader, back: asyncio.StreamWriter,
        server: asyncio.StreamReader, there: asyncio.StreamWriter,
    ) -> None:  # fmt: skip
        self._proxy = proxy
        self._client, self._back, self._server, self._there = client, back, server, there
        self._fate = ""
        self._insert = False

    async def run(self) -> None:
        ways = {asyncio.create_task(self._requests()), asyncio.create_task(self._answers())}
        _, unfinished = await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in unfinished:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)

    async def _requests(self) -> None:
        while chunk := await self._client.read(CHUNK):
            if not self._fate:
                self._fate = self._proxy.fate()
                head = chunk[:4096]
                self._insert = b"INSERT" in head and b"schema_migrations" not in head
                if self._fate == "cut_short":
                    self._proxy.cut_short += 1
                    self._there.write(chunk[: len(chunk) // 2])
                    await self._there.drain()
                    return
            self._there.write(chunk)
            await self._there.drain()

    async def _answers(self) -> None:
        while chunk := await self._server.read(CHUNK):
            # The first bytes of an answer: the server has done what it was asked.
            fate, self._fate = self._fate, ""
            if fate == "unanswered":
                self._proxy.unanswered += 1
                return
            self._back.write(chunk)
            await self._back.drain()
            if fate and self._insert:
                self._proxy.answered_inserts.append(time.time())
