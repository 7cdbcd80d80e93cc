"""The ClickHouse endpoint over chDB as a process of a test's own."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import clickhouse_connect
from clickhouse_connect.driver.client import Client

from ops.local.ports import accepts, free_port
from ops.local.tether import Child, signal_group, spawn
from tests.support.wait import until


class ClickHouseProcess:
    """Start, kill -9 and start again on the same data and port."""

    def __init__(self, folder: Path, users: Path | None = None) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._path = folder / "clickhouse"
        self._log = folder / "clickhouse.log"
        self._users = ["--users", str(users)] if users else []
        self._child: Child | None = None

    def start(self) -> None:
        argv = [sys.executable, "-m", "ops.local.clickhouse", "--port", str(self.port)]
        with open(self._log, "ab") as log:
            self._child = spawn([*argv, "--path", str(self._path), *self._users], log)
        until(lambda: accepts(self.port), timeout_s=20)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int | None:
        """The exit code, or None if it was not running."""
        if self._child is None:
            return None
        signal_group(self._child.pid, number)
        code = self._child.wait(timeout=10)
        self._child = None
        return code

    def kill(self) -> None:
        self.stop(signal.SIGKILL)

    def client(self, database: str = "default", user: str = "", password: str = "") -> Client:
        return clickhouse_connect.get_client(
            host="127.0.0.1",
            port=self.port,
            database=database,
            username=user or None,
            password=password,
        )


@contextmanager
def clickhouse_process(folder: Path, users: Path | None = None) -> Iterator[ClickHouseProcess]:
    process = ClickHouseProcess(folder, users)
    process.start()
    try:
        yield process
    finally:
        process.kill()
