"""The embedded gateway as a process of a test's own."""

import json
import signal
import sys
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ops.local.ports import accepts, free_port
from ops.local.tether import Child, signal_group, spawn
from streams.payments.port import RefundRequest
from tests.support.wait import until


class GatewayProcess:
    """Start, kill -9 and start again on the same file and port."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.db = folder / "gateway.sqlite"
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._flags = flags
        self._log = folder / "gateway.log"
        self._child: Child | None = None

    def start(self) -> None:
        argv = [sys.executable, "-m", "ops.local.gateway", "--port", str(self.port)]
        with open(self._log, "ab") as log:
            self._child = spawn([*argv, "--db", str(self.db), *self._flags], log)
        until(lambda: accepts(self.port))

    def kill(self) -> None:
        if self._child is not None:
            signal_group(self._child.pid, signal.SIGKILL)
            self._child.wait()
            self._child = None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)

    def set_faults(self, **faults: Any) -> None:
        self.call("POST", "/faults", faults)

    def refunds(self, reference: str) -> list[dict[str, Any]]:
        found = self.call("GET", "/refunds?limit=100000")["refunds"]
        return [refund for refund in found if refund["reference"] == reference]


@contextmanager
def gateway_process(folder: Path, *flags: str) -> Iterator[GatewayProcess]:
    process = GatewayProcess(folder, *flags)
    process.start()
    try:
        yield process
    finally:
        process.kill()


def a_request(**changes: Any) -> RefundRequest:
    fields = {
        "key": f"d-{uuid.uuid4().hex}:auto",
        "amount_minor": 68_900,
        "currency": "INR",
        "order_id": "1840",
        "account": "customer-7",
        "simulated": True,
        "scopes": ["LATE", "L1#1", "L1#2"],
    }
    return RefundRequest.model_validate({**fields, **changes})
