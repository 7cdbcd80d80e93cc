"""Runs the processes of the local stack: in order, restarted when they die, gone when we are."""

import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Self

from ops.local.errors import StartFailed
from ops.local.supervised import Process, Status, Supervised

__all__ = ["Process", "Status", "Supervisor"]

log = logging.getLogger("refund_bench.supervisor")

EVERY_S = 0.05
STOP_WITHIN_S = 10.0


class Supervisor:
    """Logs go to `<folder>/logs/<name>.log`. Each process leads a session of its own, so that
    Ctrl-C reaches nobody but us; when we die, kill -9 included, the kernel kills them.
    """

    def __init__(self, processes: Sequence[Process], folder: Path) -> None:
        logs = folder / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self._checks = ThreadPoolExecutor(4, "ready")
        self._all = {
            process.name: Supervised(process, logs / f"{process.name}.log", self._checks)
            for process in processes
        }
        self._waves = _waves(processes)
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._loop = threading.Thread(target=self._run, name="supervisor", daemon=True)

    def start(self) -> Self:
        """Return when every critical process is running.

        Raises:
            StartFailed: one will not come up; all are stopped again.
        """
        self._loop.start()
        try:
            while not self._stopping.wait(EVERY_S):
                with self._lock:
                    critical = [one for one in self._all.values() if one.process.critical]
                    for one in critical:
                        if one.failure is not None:
                            raise StartFailed(one.failure)
                    if all(one.was_running for one in critical):
                        return self
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self, within_s: float = STOP_WITHIN_S) -> None:
        """SIGTERM, later SIGKILL; nothing of ours is left when it returns. May be called again.

        Those that came `after` others go first, and leave each wave behind them a share of the time.
        """
        self._stopping.set()
        if self._loop.is_alive():
            self._loop.join()
        deadline = time.monotonic() + 0.8 * within_s  # the rest is for killing
        with self._lock:
            for left, wave in enumerate(self._waves):
                share = min(2.0, within_s / (2 * len(self._waves)))
                allowed = deadline - share * (len(self._waves) - 1 - left)
                for one in wave:
                    self._all[one].ask_to_stop()
                for one in wave:
                    self._all[one].stop_by(allowed)
        self._checks.shutdown(wait=False, cancel_futures=True)

    def status(self) -> list[Status]:
        """In the order the processes were given."""
        with self._lock:
            return [one.status() for one in self._all.values()]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _run(self) -> None:
        while not self._stopping.wait(EVERY_S):
            now = time.monotonic()
            with self._lock:
                for one in self._all.values():
                    try:
                        one.step(now, self._may_start(one))
                    except Exception as error:  # the others must not go unwatched
                        log.exception("supervising %s failed", one.process.name)
                        one.failure = f"{one.process.name} cannot be supervised: {error!r}"

    def _may_start(self, one: Supervised) -> bool:
        return all(self._all[name].was_running for name in one.process.after)


def _waves(processes: Sequence[Process]) -> list[list[str]]:
    """The names in stopping order: nobody in a wave is needed by a later one."""
    unplaced = {process.name: set(process.after) for process in processes}
    if len(unplaced) != len(processes):
        raise ValueError("two processes have the same name")
    if unknown := set().union(*unplaced.values()) - unplaced.keys():
        raise ValueError(f"`after` names processes that are not there: {', '.join(unknown)}")
    starting: list[list[str]] = []
    while unplaced:
        wave = [name for name, needs in unplaced.items() if not needs & unplaced.keys()]
        if not wave:
            raise ValueError(f"`after` goes in a circle: {', '.join(unplaced)}")
        starting.append(wave)
        for name in wave:
            del unplaced[name]
    return starting[::-1]
