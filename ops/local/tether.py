"""Start a process in a session of its own that does not outlive us, kill -9 included.

The kernel sends the parent-death signal when the *thread* that forked ends, not the process. So
every fork happens on one thread that lives as long as this process does.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO

Child = subprocess.Popen[bytes]

_WRAPPER = str(Path(__file__).with_name("exec_tethered.py"))
_lock = threading.Lock()
_forks: "SimpleQueue[tuple[Callable[[], Child], Future[Child]]] | None" = None


def spawn(
    argv: Sequence[str],
    output: IO[bytes],
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Child:
    """Start `argv` as leader of its own group: stdout and stderr to `output`, stdin closed.

    `env` is added to our own environment.
    """

    def fork() -> Child:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", _WRAPPER, str(os.getpid()), *argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
            cwd=cwd,
            start_new_session=True,
        )

    started: Future[Child] = Future()
    _fork_queue().put((fork, started))
    return started.result()


def signal_group(leader: int, number: signal.Signals) -> None:
    """Signal a group leader and whatever it started; a group that is gone already is fine."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, number)


def kill_group(child: Child, within_s: float = 0.25) -> int:
    """SIGKILL the child and whatever it started, and return when they are gone; its exit code.

    Only the child is ours to reap. The others die an instant after the signal, but count as long
    as init has not reaped them, hence the limit.
    """
    signal_group(child.pid, signal.SIGKILL)
    code = child.wait()
    deadline = time.monotonic() + within_s
    while _group_is_alive(child.pid) and time.monotonic() < deadline:
        time.sleep(0.005)
    return code


def _group_is_alive(leader: int) -> bool:
    try:
        os.killpg(leader, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _fork_queue() -> "SimpleQueue[tuple[Callable[[], Child], Future[Child]]]":
    global _forks
    with _lock:
        if _forks is None:
            _forks = SimpleQueue()
            threading.Thread(
                target=_fork_forever, args=(_forks,), name="forks", daemon=True
            ).start()
        return _forks


def _fork_forever(jobs: "SimpleQueue[tuple[Callable[[], Child], Future[Child]]]") -> None:
    while True:
        fork, started = jobs.get()
        try:
            started.set_result(fork())
        except Exception as error:
            started.set_exception(error)


def _forget_thread() -> None:
    """A fork of this process inherits the queue but not the thread."""
    global _forks
    _forks = None


os.register_at_fork(after_in_child=_forget_thread)
