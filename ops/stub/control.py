"""For whoever runs the stub: GET|POST|DELETE /_faults, GET|DELETE /_journal?after=&limit=, GET /health."""

from collections.abc import Callable

from aiohttp import web
from pydantic import ValidationError

from ops.stub.faults import Faults
from ops.stub.journal import Journal


class Control:
    def __init__(
        self,
        get: Callable[[], Faults],
        put: Callable[[Faults], None],
        journal: Journal,
        at_start: Faults,
    ) -> None:
        self._get = get
        self._put = put
        self._journal = journal
        self._at_start = at_start

    def add_to(self, router: web.UrlDispatcher) -> None:
        router.add_get("/health", self.health)
        router.add_get("/_faults", self.faults)
        router.add_post("/_faults", self.set_faults)
        router.add_delete("/_faults", self.reset_faults)
        router.add_get("/_journal", self.journal)
        router.add_delete("/_journal", self.clear_journal)

    async def health(self, request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "simulated": True})

    async def faults(self, request: web.Request) -> web.Response:
        return web.json_response(self._get().model_dump(mode="json"))

    async def set_faults(self, request: web.Request) -> web.Response:
        """What the body leaves out is off, whatever was set before."""
        try:
            self._put(Faults.model_validate_json(await request.read()))
        except ValidationError as error:
            words = [
                f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
            ]
            return web.json_response({"errors": words}, status=400)
        return await self.faults(request)

    async def reset_faults(self, request: web.Request) -> web.Response:
        """As they were at the start."""
        self._put(self._at_start)
        return await self.faults(request)

    async def journal(self, request: web.Request) -> web.Response:
        try:
            after, limit = (
                int(request.query.get(name, default))
                for name, default in (("after", 0), ("limit", 1_000))
            )
        except ValueError:
            return web.json_response({"errors": ["after and limit are integers"]}, status=400)
        return web.json_response(self._journal.told(after, max(0, limit)))

    async def clear_journal(self, request: web.Request) -> web.Response:
        self._journal.clear()
        return web.json_response({"ok": True})
