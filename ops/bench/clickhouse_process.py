"""The ClickHouse endpoint over chDB as a process of a benchmark's own, on an empty folder."""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ops.local.errors import StartFailed
from ops.local.ports import accepts, free_port
from ops.local.tether import kill_group, spawn
from sinks.connection import Address

START_WITHIN_S = 60.0
TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Running:
    """Where it listens, and the process that does."""

    address: Address
    pid: int

    def cpu_s(self) -> float:
        """Seconds of CPU it has used: what a busy machine does not change, unlike the time on the clock."""
        stat = Path(f"/proc/{self.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(stat[11]) + int(stat[12])) / TICKS_PER_S


@contextmanager
def clickhouse() -> Iterator[Running]:
    """It and its data are gone afterwards.

    Raises:
        StartFailed: it did not come up.
    """
    with tempfile.TemporaryDirectory(prefix="refund-bench-") as folder:
        port, log = free_port(), Path(folder) / "clickhouse.log"
        argv = [sys.executable, "-m", "ops.local.clickhouse", "--port", str(port)]
        with open(log, "ab") as out:
            child = spawn([*argv, "--path", f"{folder}/data"], out)
        try:
            until = time.monotonic() + START_WITHIN_S
            while not accepts(port):
                if time.monotonic() > until:
                    raise StartFailed(f"the ClickHouse endpoint: {log.read_text()[-500:]}")
                time.sleep(0.05)
            yield Running(Address("127.0.0.1", port), child.pid)
        finally:
            kill_group(child)
