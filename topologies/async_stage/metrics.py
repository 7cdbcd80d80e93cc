"""What a stage measures: every name, its meaning and its unit, and the figures themselves."""

import statistics
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Final

Figure = float | dict[str, float]


@dataclass(frozen=True, slots=True)
class Metric:
    """One line of the table."""

    name: str
    unit: str
    meaning: str
    label: str | None = None  # a metric with a label has one figure per value of it


TABLE: Final = (
    Metric("slots", "calls", "calls that may run at the same time"),
    Metric("slots_busy_ratio", "share 0-1", "slots in use, mean since the last log line"),
    Metric("in_flight", "calls", "calls running now"),
    Metric("queued", "messages", "messages at hand whose first call has not begun"),
    Metric("waiting_on_retry", "messages", "messages in backoff, holding no slot"),
    Metric("held", "messages", "messages that their handler holds until it releases them; they use no slot"),
    Metric("waiting_on_order", "messages", "messages behind another one of their key"),
    Metric("oldest_in_flight_s", "seconds", "age of the oldest unfinished message since its first call"),
    Metric("span", "offsets", "from the lowest unfinished offset to the newest admitted", "partition"),
    Metric("paused", "0 or 1", "whether the partition is not being read", "partition"),
    Metric("partitions", "partitions", "partitions assigned and being worked on"),
    Metric("commit_p50_s", "seconds", "duration of a commit, median of the last 512"),
    Metric("commit_p99_s", "seconds", "duration of a commit, 99th percentile of the last 512"),
    Metric("results_per_commit", "results", "results in one commit, mean of the last 512"),
    Metric("results_waiting", "results", "results waiting for their commit"),
    Metric("commits", "commits", "transactions committed"),
    Metric("aborts", "transactions", "transactions aborted, by reason; their results are kept", "reason"),
    Metric("producers_replaced", "producers", "times the producer was lost and the outcome looked up"),
    Metric("results", "results", "messages finished and committed"),
    Metric("outputs", "records", "records written"),
    Metric("calls", "calls", "handler calls begun, repeats included"),
    Metric("retries", "calls", "calls to be repeated, by reason", "reason"),
    Metric("exhausted", "messages", "messages whose deadline passed"),
    Metric("dead_letters", "messages", "messages written to the dead letters, by error", "error"),
    Metric("breaker_state", "0 1 2", "closed, half-open, open"),
    Metric("breaker_openings", "openings", "times the breaker opened"),
    Metric("late_results_dropped", "results", "results of a partition that had gone to another instance"),
    Metric("cancelled", "calls", "calls cut short because their partition left; its new owner repeats them"),
    Metric("adopted", "calls", "calls kept over a loss of contact with Kafka, not repeated"),
    Metric("skipped_done", "messages", "messages not called again: finished before the restart"),
    Metric("redelivered", "messages", "messages delivered twice in one assignment and ignored"),
    Metric("rewinds", "partitions", "partitions whose log restarted below the committed offset"),
)  # fmt: skip

_RECENT: Final = 512


@dataclass(slots=True)
class StageMetrics:
    """One stage's figures. Written by its two threads, each to its own fields."""

    slots: int
    in_flight: int = 0
    queued: int = 0
    waiting_on_retry: int = 0
    held: int = 0
    waiting_on_order: int = 0
    oldest_in_flight_s: float = 0.0
    span: dict[str, float] = field(default_factory=dict)
    paused: dict[str, float] = field(default_factory=dict)
    results_waiting: int = 0
    commits: int = 0
    producers_replaced: int = 0
    results: int = 0
    outputs: int = 0
    calls: int = 0
    exhausted: int = 0
    breaker_state: int = 0
    breaker_openings: int = 0
    late_results_dropped: int = 0
    cancelled: int = 0
    adopted: int = 0
    skipped_done: int = 0
    redelivered: int = 0
    rewinds: int = 0
    slots_busy_ratio: float = 0.0
    aborts: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)
    dead_letters: Counter[str] = field(default_factory=Counter)
    commit_seconds: deque[float] = field(default_factory=lambda: deque(maxlen=_RECENT))
    commit_results: deque[int] = field(default_factory=lambda: deque(maxlen=_RECENT))

    @property
    def partitions(self) -> int:
        """Partitions assigned."""
        return len(self.span)

    @property
    def commit_p50_s(self) -> float:
        """Median of the recent commits."""
        return _quantile(self.commit_seconds, 0.5)

    @property
    def commit_p99_s(self) -> float:
        """99th percentile of the recent commits."""
        return _quantile(self.commit_seconds, 0.99)

    @property
    def results_per_commit(self) -> float:
        """Mean of the recent commits."""
        recent = list(self.commit_results)
        return statistics.fmean(recent) if recent else 0.0

    def committed(self, seconds: float, results: int, outputs: int) -> None:
        """One commit went through."""
        self.commits += 1
        self.results += results
        self.outputs += outputs
        self.commit_seconds.append(seconds)
        self.commit_results.append(results)

    def snapshot(self) -> dict[str, Figure]:
        """Every metric of the table, by name."""
        figures: dict[str, Figure] = {}
        for metric in TABLE:
            value = getattr(self, metric.name)
            figures[metric.name] = dict(value) if metric.label else value
        return figures


class BusyMeter:
    """The mean number of slots in use over time; the caller says what time it is."""

    def __init__(self, slots: int, now: float) -> None:
        self._slots = slots
        self._running = 0
        self._since = self._changed = now
        self._area = 0.0

    def set(self, running: int, now: float) -> None:
        """So many slots are in use from now on."""
        self._area += self._running * (now - self._changed)
        self._running = running
        self._changed = now

    def take(self, now: float) -> float:
        """The ratio since the last take."""
        self.set(self._running, now)
        elapsed = now - self._since
        ratio = self._area / (elapsed * self._slots) if elapsed > 0 else 0.0
        self._since, self._area = now, 0.0
        return ratio


def _quantile(samples: deque[float], share: float) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
