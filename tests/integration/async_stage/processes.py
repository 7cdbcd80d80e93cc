"""Worker processes, and what their calls say about waste."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.integration.async_stage.harness import Lane
from tests.support.wait import until
from topologies.async_stage import StageSettings


@dataclass(frozen=True)
class Call:
    key: str
    pid: int
    begin: float
    end: float | None


@dataclass
class Fleet:
    """Instances of one stage, by ordinal."""

    lane: Lane
    folder: Path
    seconds: tuple[float, float] = (0.1, 0.3)
    settings: dict[str, Any] = field(default_factory=dict)
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    killed_at: dict[int, float] = field(default_factory=dict)
    everyone: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def group(self) -> str:
        return StageSettings(group_prefix=self.lane.topics.prefix).group_prefix + "killed"

    def start(self, ordinal: int, **extra: Any) -> subprocess.Popen[bytes]:
        given = {
            "bootstrap": self.lane.bootstrap,
            "input": self.lane.input,
            "output": self.lane.output,
            "dead": self.lane.dead,
            "prefix": self.lane.topics.prefix,
            "ordinal": ordinal,
            "calls": str(self.folder / "calls"),
            "seconds": self.seconds,
            "settings": {"slots": 20, "revoke_wait_s": 0.5, **self.settings},
            **extra,
        }
        with (self.folder / f"log-{ordinal}").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.integration.async_stage.worker", json.dumps(given)],
                stdout=log,
                stderr=log,
            )
        self.running[ordinal] = process
        self.everyone.append(process)
        return process

    def kill(self, ordinal: int) -> None:
        process = self.running.pop(ordinal)
        self.killed_at[process.pid] = time.time()
        process.kill()
        process.wait()

    def note_death(self, ordinal: int, timeout_s: float = 60.0) -> int:
        """Wait for a process that ends by itself."""
        process = self.running.pop(ordinal)
        code = process.wait(timeout_s)
        self.killed_at[process.pid] = time.time()
        return code

    def terminate(self, ordinal: int, timeout_s: float = 30.0) -> int:
        process = self.running.pop(ordinal)
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout_s)

    def end(self) -> None:
        for process in self.everyone:
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                process.wait()

    def calls(self) -> list[Call]:
        """Every call so far, in the order they began."""
        path = self.folder / "calls"
        open_calls: dict[tuple[str, int], float] = {}
        found: list[Call] = []
        for line in path.read_text().splitlines() if path.exists() else ():
            what, key, pid, at = line.split()
            if what == "begin":
                open_calls[key, int(pid)] = float(at)
            else:
                found.append(Call(key, int(pid), open_calls.pop((key, int(pid))), float(at)))
        found += [Call(key, pid, at, None) for (key, pid), at in open_calls.items()]
        return sorted(found, key=lambda call: call.begin)

    def until_calls(self, count: int, pid: int | None = None, timeout_s: float = 60.0) -> None:
        until(
            lambda: len([1 for call in self.calls() if pid in (None, call.pid)]) >= count,
            timeout_s,
        )

    def repeated(self) -> int:
        """Calls beyond the first of each message: what the deaths cost."""
        calls = self.calls()
        return len(calls) - len({call.key for call in calls})

    def unexcused(self, within_s: float = 1.0) -> list[tuple[Call, Call]]:
        """Repeats of a call that was not under way when its process died.

        A call that had ended counts as under way for as long as its commit may have taken.
        """
        by_key: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls():
            by_key[call.key].append(call)
        guilty = []
        for calls in by_key.values():
            for first, again in itertools.pairwise(calls):
                died = self.killed_at.get(first.pid)
                excused = died is not None and (first.end is None or first.end > died - within_s)
                if not excused:
                    guilty.append((first, again))
        return guilty
