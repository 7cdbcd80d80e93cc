"""A heat: topics, a contestant in a process of its own, and a reader who sees what is committed."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewTopic

from topologies import clients

PARTITIONS = 12
PADDING = b"|" + b"x" * 1_000
_CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Sight:
    """One record as the reader saw it. Times are the wall clock."""

    key: bytes
    sent: float
    returned: float
    seen: float


@dataclass
class Heat:
    """One contestant on topics of its own."""

    name: str
    bootstrap: str
    slots: int
    python: str = sys.executable
    stages: int = 1
    with_log: bool = True
    sights: list[Sight] = field(default_factory=list)
    sent_at: dict[bytes, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._id = f"bench-{self.name.replace('_', '-')}-{uuid.uuid4().hex[:8]}"
        self._input, self._output = f"{self._id}-in", f"{self._id}-out"
        admin = clients.admin(self.bootstrap)
        topics = [NewTopic(each, PARTITIONS, 1) for each in (self._input, self._output)]
        for made in admin.create_topics(topics).values():
            made.result(30)
        self._producer = clients.producer(self.bootstrap)
        self._folder = Path(tempfile.mkdtemp(prefix="refund-bench-"))
        self._process: subprocess.Popen[bytes] | None = None
        self._reader = clients.consumer(f"{self._id}-reader", bootstrap=self.bootstrap)
        self._reader.assign([TopicPartition(self._output, each, 0) for each in range(PARTITIONS)])

    def send(self, key: bytes, seconds: float, partition: int | None = None) -> None:
        """One message; its call takes so long."""
        place = {} if partition is None else {"partition": partition}
        value = f"{seconds:.4f}".encode() + PADDING
        self.sent_at[key] = time.time()
        while True:
            try:
                self._producer.produce(self._input, key=key, value=value, **place)
                break
            except BufferError:
                self._producer.poll(0.1)

    def send_all(self, durations: Iterable[float]) -> None:
        """A backlog."""
        for number, seconds in enumerate(durations):
            self.send(str(number).encode(), seconds)
        self._producer.flush(60)

    def start(self) -> None:
        given: dict[str, Any] = {
            "name": self.name,
            "bootstrap": self.bootstrap,
            "input": self._input,
            "output": self._output,
            "group": f"{self._id}-",
            "slots": self.slots,
            "stages": self.stages,
            "calls": str(self._folder / "calls") if self.with_log else None,
            "memory": str(self._folder / "memory"),
        }
        with (self._folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [self.python, "-m", "ops.bench.contestants", json.dumps(given)],
                stdout=log,
                stderr=log,
            )

    def serve(self) -> None:
        """Let queued messages go and look at what has come."""
        self._producer.poll(0)
        for record in self._reader.consume(500, 0.005):
            seen = time.time()
            if record.error() is None:
                key, headers = record.key(), dict(record.headers() or [])
                returned = float(headers["returned"])
                self.sights.append(Sight(key, self.sent_at.get(key, seen), returned, seen))

    def until(self, count: int, timeout_s: float) -> bool:
        """Whether so many records came in time."""
        end = time.monotonic() + timeout_s
        while len(self.sights) < count and time.monotonic() < end:
            self.serve()
            if self._process is not None and self._process.poll() is not None:
                raise RuntimeError(f"{self.name} ended early:\n{self.log_tail()}")
        return len(self.sights) >= count

    def cpu_s(self) -> float:
        """Seconds of processor the contestant has used so far, librdkafka's threads included."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _CLOCK_TICKS

    def in_use(self) -> dict[str, int]:
        """What it holds at rest, the least of a second: `heap` in bytes, librdkafka's included, and Python's
        own `blocks`. Ours tells on SIGUSR1. (Resident memory is no measure of it: the allocator keeps what is
        freed, and one block holds a page.)"""
        told = [self._told_in_use() for _ in range(5)]
        return {name: min(one[name] for one in told) for name in told[0]}

    def _told_in_use(self) -> dict[str, int]:
        assert self._process is not None
        told = self._folder / "memory"
        told.unlink(missing_ok=True)
        self._process.send_signal(signal.SIGUSR1)
        while not told.exists():
            if self._process.poll() is not None:
                raise RuntimeError(f"{self.name} ended early:\n{self.log_tail()}")
            time.sleep(0.2)
        found: dict[str, int] = json.loads(told.read_text())
        return found

    def peak_memory_mb(self) -> float:
        """The most that was ever resident, free or not."""
        assert self._process is not None
        status = Path(f"/proc/{self._process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1e3

    def stop(self) -> list[tuple[float, float]]:
        """End it; every call's begin and end."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(40)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._reader.close()
        path = self._folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return sorted((float(a), float(b)) for a, b in (line.split() for line in lines))

    def log_tail(self) -> str:
        return "\n".join((self._folder / "log").read_text().splitlines()[-20:])


def uniform(count: int, seed: int, lowest: float = 1.0, highest: float = 2.0) -> list[float]:
    """The same durations for every contestant."""
    rng = random.Random(seed)
    return [rng.uniform(lowest, highest) for _ in range(count)]


def quantile(samples: Sequence[float], share: float) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def slots_busy(calls: list[tuple[float, float]], slots: int) -> float:
    """The share of slot time in use, from the slots' first filling to the last call's beginning."""
    if len(calls) <= slots:
        return float("nan")
    begin, end = calls[slots - 1][0], calls[-1][0]
    used = sum(max(0.0, min(b, end) - max(a, begin)) for a, b in calls)
    return used / (slots * (end - begin))


def calls_per_s(calls: list[tuple[float, float]]) -> float:
    """From the first call's beginning to the last one's end."""
    if not calls:
        return 0.0
    return len(calls) / (max(end for _, end in calls) - calls[0][0])
