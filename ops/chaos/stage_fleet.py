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


@dataclass(frozen=True)
class Call:
    key: str
    pid: int
    begin: float
    end: float | None


@dataclass
class Fleet:
    """Instances of one stage, by ordinal, between two topics."""

    bootstrap: str
    input: str
    output: str
    dead: str
    prefix: str
    folder: Path
    seconds: tuple[float, float] = (0.1, 0.3)
    settings: dict[str, Any] = field(default_factory=dict)
    running: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    killed_at: dict[int, float] = field(default_factory=dict)
    everyone: list[subprocess.Popen[bytes]] = field(default_factory=list)
    successions: dict[int, list[int]] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """Their consumer group."""
        return f"{self.prefix}killed"

    def start(self, ordinal: int, **extra: Any) -> subprocess.Popen[bytes]:
        given = {
            "bootstrap": self.bootstrap,
            "input": self.input,
            "output": self.output,
            "dead": self.dead,
            "prefix": self.prefix,
            "ordinal": ordinal,
            "calls": str(self.folder / "calls"),
            "seconds": self.seconds,
            "settings": {"slots": 20, "revoke_wait_s": 0.5, **self.settings},
            **extra,
        }
        with (self.folder / f"log-{ordinal}").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "ops.chaos.stage_worker", json.dumps(given)],
                stdout=log,
                stderr=log,
            )
        self.running[ordinal] = process
        self.everyone.append(process)
        self.successions.setdefault(ordinal, []).append(process.pid)
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

    def _notes(self) -> list[tuple[str, str, int, float]]:
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        fields = (line.split() for line in lines)
        return [(what, key, int(pid), float(at)) for what, key, pid, at in fields]

    def calls(self) -> list[Call]:
        """Every call so far, in the order they began."""
        open_calls: dict[tuple[str, int], float] = {}
        found: list[Call] = []
        for what, key, pid, at in self._notes():
            if what == "begin":
                open_calls[key, pid] = at
            elif what == "end":
                found.append(Call(key, pid, open_calls.pop((key, pid)), at))
        found += [Call(key, pid, at, None) for (key, pid), at in open_calls.items()]
        return sorted(found, key=lambda call: call.begin)

    def finished(self) -> int:
        """Messages for which a call has ended."""
        return len({key for what, key, _, _ in self._notes() if what == "end"})

    def until_calls(self, count: int, pid: int | None = None, timeout_s: float = 60.0) -> None:
        end = time.monotonic() + timeout_s
        while len([1 for call in self.calls() if pid in (None, call.pid)]) < count:
            if time.monotonic() > end:
                raise TimeoutError(f"fewer than {count} calls after {timeout_s} s")
            time.sleep(0.02)

    def repeated(self) -> int:
        """Calls beyond the first of each message: what the deaths cost."""
        calls = self.calls()
        return len(calls) - len({call.key for call in calls})

    def unexcused(self) -> list[tuple[Call, Call]]:
        """Repeats of a call whose result was not on its way to Kafka when its process died.

        It was when the call had not ended, or when no commit that began after its end went through.
        """
        last_commit: dict[int, float] = {}
        for what, began, pid, _ in self._notes():
            if what == "commit":
                last_commit[pid] = float(began)
        by_key: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls():
            by_key[call.key].append(call)
        guilty = []
        for calls in by_key.values():
            for first, again in itertools.pairwise(calls):
                waiting = first.end is None or last_commit.get(first.pid, 0) < first.end + 0.2
                if first.pid not in self.killed_at or not waiting:
                    guilty.append((first, again))
        return guilty
