"""One process under supervision: what it should be, where it stands, and its next step."""

import signal
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Literal

from ops.local.bounded_log import bound, tail
from ops.local.tether import Child, kill_group, spawn

State = Literal["waiting", "starting", "running", "restarting", "stopped"]

LONGEST_BACKOFF_S = 30.0
STEADY_S = 30.0
"""Alive this long, a process has put its earlier deaths behind it."""
SETTLED_S = 0.5
"""Alive this long, a process without a `ready` counts as running."""
GIVE_UP_AFTER = 3
"""Deaths in a row before it was ever running: it will not come up."""
MISCONFIGURED = 2
"""The exit code that says trying again is no use."""


@dataclass(frozen=True)
class Process:
    """`env` is added to ours. `ready` is asked until true and must answer within a second or so."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    ready: Callable[[], bool] | None = None
    critical: bool = True
    """`Supervisor.start` waits for it, and fails when it does not come up."""
    after: Sequence[str] = ()
    """Names that must be running first; they are also stopped later."""
    address: str = ""
    ready_within_s: float = 60.0
    longest_backoff_s: float = LONGEST_BACKOFF_S
    """Between a death and the next start, however often it has died."""


@dataclass(frozen=True)
class Status:
    name: str
    state: State
    pid: int | None
    restarts: int
    since: float
    """When it entered this state, in seconds since 1970."""
    address: str
    last_exit: str | None
    """`exit 1`, `SIGKILL`; None while it has never ended."""


def backoff_s(deaths: int) -> float:
    """1, 2, 4, 8, 16, 30, 30 … seconds before the next start."""
    return min(LONGEST_BACKOFF_S, 2.0 ** min(deaths - 1, 10))


class Supervised:
    """Stepped by the supervisor's loop; not thread-safe itself."""

    def __init__(self, process: Process, log: Path, checks: Executor) -> None:
        self.process = process
        self.log = log
        self.state: State = "waiting"
        self.was_running = False
        self.failure: str | None = None
        """Why it will not come up, once that is clear."""
        self._checks = checks
        self._check: Future[bool] | None = None
        self._child: Child | None = None
        self._started_at = 0.0
        self._start_at = 0.0
        self._deaths = 0
        self._restarts = 0
        self._since = time.time()
        self._last_exit: str | None = None

    def step(self, now: float, may_start: bool) -> None:
        """`now` is monotonic. Notice a death, start what is due, ask whether it is ready."""
        bound(self.log)
        if self._child is None:
            if may_start and now >= self._start_at:
                self._start(now)
            return
        if self._child.poll() is not None:
            self._died(now)
            return
        alive_s = now - self._started_at
        if self.state == "starting" and self._is_ready(alive_s):
            self._enter("running")
            self.was_running = True
        elif not self.was_running and alive_s > self.process.ready_within_s:
            self._fail(f"was not ready within {self.process.ready_within_s:.0f} s")
        if self.state == "running" and alive_s > STEADY_S:
            self._deaths = 0

    def ask_to_stop(self) -> None:
        if self._child is not None:
            with suppress(ProcessLookupError):
                self._child.send_signal(signal.SIGTERM)
                self._child.send_signal(signal.SIGCONT)  # a frozen process could not hear it

    def stop_by(self, deadline: float) -> None:
        """Wait for it until then, kill what is left of it and of what it started."""
        if self._child is not None:
            with suppress(TimeoutExpired):
                self._child.wait(max(0.0, deadline - time.monotonic()))
            self._last_exit = _words(kill_group(self._child))
            self._child = None
        self._enter("stopped")

    def status(self) -> Status:
        pid = self._child.pid if self._child is not None else None
        return Status(
            self.process.name,
            self.state,
            pid,
            self._restarts,
            self._since,
            self.process.address,
            self._last_exit,
        )

    def _start(self, now: float) -> None:
        if self._deaths:
            self._restarts += 1
        self._started_at = now
        self._check = None
        with open(self.log, "ab", buffering=0) as log:
            stamp = datetime.now(UTC).isoformat(timespec="seconds")
            log.write(f"--- {self.process.name} started at {stamp}\n".encode())
            try:
                self._child = spawn(self.process.argv, log, self.process.env)
            except OSError as error:  # no process to be had just now
                log.write(f"{error}\n".encode())
                self._buried(now, "no process")
                return
        self._enter("starting")

    def _died(self, now: float) -> None:
        assert self._child is not None
        code = kill_group(self._child)  # what it started must not run beside the next
        self._child = None
        self._buried(now, _words(code))
        if not self.was_running and (code == MISCONFIGURED or self._deaths >= GIVE_UP_AFTER):
            self._fail(f"ended with {self._last_exit}")

    def _buried(self, now: float, how: str) -> None:
        self._last_exit = how
        self._deaths += 1
        self._start_at = now + min(backoff_s(self._deaths), self.process.longest_backoff_s)
        self._enter("restarting")

    def _is_ready(self, alive_s: float) -> bool:
        if self.process.ready is None:
            return alive_s >= SETTLED_S
        if self._check is None:
            self._check = self._checks.submit(self.process.ready)
        if not self._check.done():
            return False
        done, self._check = self._check, None
        return done.exception() is None and bool(done.result())

    def _fail(self, why: str) -> None:
        self.failure = f"{self.process.name} {why}; {self.log} ends:\n{tail(self.log)}"

    def _enter(self, state: State) -> None:
        if state != self.state:
            self.state, self._since = state, time.time()


def _words(code: int) -> str:
    if code >= 0:
        return f"exit {code}"
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
