"""When to commit, and what goes into one commit.

Self-clocking: as soon as a result waits and no commit runs, but not more often than the least
interval. Results that gather while a commit runs go together into the next one.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from topologies.async_stage.entry import Result


@dataclass(frozen=True, slots=True)
class CommitLimits:
    """The size and the pace of commits."""

    least_interval_s: float = 0.02
    results: int = 1_000
    bytes: int = 8_000_000
    first_backoff_s: float = 0.05
    longest_backoff_s: float = 1.0


class CommitBatcher:
    """Results waiting for their transaction, first in first out."""

    def __init__(self, limits: CommitLimits) -> None:
        self._limits = limits
        self._waiting: deque[Result] = deque()
        self._not_before = 0.0
        self._aborts = 0
        self._alone = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, result: Result) -> None:
        """A result is there."""
        self._waiting.append(result)

    def wait_s(self, now: float) -> float | None:
        """How long until a commit is due; None when nothing waits."""
        return max(0.0, self._not_before - now) if self._waiting else None

    def paced(self, now: float) -> bool:
        """Whether the pace allows a commit now."""
        return now >= self._not_before

    def take(self, now: float) -> list[Result]:
        """The results of the commit that begins now."""
        self._not_before = now + self._limits.least_interval_s
        batch: list[Result] = []
        size = 0
        most = 1 if self._alone else self._limits.results
        while self._waiting and len(batch) < most:
            size += self._waiting[0].size
            if batch and size > self._limits.bytes:
                break
            batch.append(self._waiting.popleft())
        return batch

    def committed(self, batch: list[Result]) -> None:
        """The batch is written; a later failure starts a new backoff."""
        self._aborts = 0
        self._alone = max(0, self._alone - len(batch))

    def aborted(self, batch: list[Result], now: float) -> None:
        """Nothing was written: the same results go first into a later commit."""
        self._waiting.extendleft(reversed(batch))
        backoff = self._limits.first_backoff_s * 2 ** min(self._aborts, 10)
        self._not_before = now + min(self._limits.longest_backoff_s, backoff)
        self._aborts += 1

    def isolate(self, results: int) -> None:
        """The next results commit one by one: one of them spoils the batch and hides in it."""
        self._alone = max(self._alone, results)

    def remove(self, unwanted: Callable[[Result], bool]) -> list[Result]:
        """Take out results, of a partition that is no longer ours for example."""
        removed = [result for result in self._waiting if unwanted(result)]
        if removed:
            self._waiting = deque(result for result in self._waiting if not unwanted(result))
        return removed
