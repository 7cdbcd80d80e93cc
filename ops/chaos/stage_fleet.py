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

from ops.chaos.stage_journal import Call, Journal

KILLED = "killed"
JOURNAL = "journal"


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

    def __post_init__(self) -> None:
        self.journal = Journal(self.folder / JOURNAL)

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
            "journal": str(self.journal.path),
            "seconds": self.seconds,
            "settings": {"slots": 20, **self.settings},
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

    def calls(self) -> list[Call]:
        """Every call so far, in the order they began."""
        return self.journal.read().calls

    def finished(self) -> int:
        """Messages for which a call has ended."""
        return len(self.journal.read().finished)

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

    def repeats(self) -> list[tuple[str, Call, Call]]:
        """Each call made again: why, the call, and the next one of its message."""
        by_key: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls():
            by_key[call.key].append(call)
        return [
            (self._cause(first), first, again)
            for calls in by_key.values()
            for first, again in itertools.pairwise(calls)
        ]

    def unexcused(self) -> list[tuple[str, Call, Call]]:
        """Repeats of a call that was not under way in a process that was killed."""
        return [each for each in self.repeats() if each[0] != KILLED]

    def _cause(self, call: Call) -> str:
        if call.committed:
            return "committed"
        if call.taken is not None:
            return call.taken
        if call.pid not in self.killed_at:
            return "dropped"
        # The commit that began as the call ended may have been filled just before; the next one
        # takes every result that is there.
        return "passed over" if call.passed_over > 1 else KILLED
