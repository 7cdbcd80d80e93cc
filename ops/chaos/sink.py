"""The sink and ClickHouse killed at random under load, with connections cut before the reply, and ClickHouse
away for a while: at the end its views show exactly what Kafka holds."""

import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.exceptions import Error

from ops.bench.clickhouse_process import START_WITHIN_S
from ops.chaos.cutting_proxy import CuttingProxy
from ops.chaos.sink_count import Balance, Seen, balance, in_kafka, stored_records
from ops.chaos.sink_load import file
from ops.local.kafka import LocalKafka
from ops.local.lag import lags
from ops.local.ports import accepts, free_port
from ops.local.supervisor import Process, Supervisor
from sinks.connection import Address, connect
from sinks.rows.events import KEPT
from topologies import clients
from topologies.quix_app import group
from topologies.topic_admin import create_topics

SINK, CLICKHOUSE = "sink", "clickhouse"
AT_WORK = 0.4
"""Share of the kills that wait for answered inserts, so that the victim dies in a flush or between two; the
others come soon after the last, in a start or while catching up."""
MOST_INSERTS = 25
LONGEST_LIFE_S = 15.0
"""What is waited for inserts at most, so that a backoff is not waited out."""
SOON_S = 1.0
PATIENCE_S = 180.0
LISTED = 20
"""Names of what is lost or double that a report holds."""


def run(
    kills: int = 60, clickhouse_kills: int = 20, count: int = 1_200, away_s: float = 20.0, seed: int = 1,
    broker: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The whole of it; `broker` None starts Apache Kafka. `away_s` is how long ClickHouse is out of reach after
    the kills, while a fifth of the `count` disputes comes in."""
    with tempfile.TemporaryDirectory(prefix="refund-bench-") as name:
        folder = Path(name)
        if broker is not None:
            return _Run(folder, broker, seed).go(kills, clickhouse_kills, count, away_s)
        with LocalKafka(folder / "kafka") as own:
            return _Run(folder, own.bootstrap, seed).go(kills, clickhouse_kills, count, away_s)


class _Run:
    """One run: ClickHouse, the proxy before it, the sink behind that, and the load."""

    def __init__(self, folder: Path, bootstrap: str, seed: int) -> None:
        self._bootstrap, self._seed = bootstrap, seed
        self._rng = random.Random(seed)
        self._folder = folder
        self._address = Address("127.0.0.1", free_port())
        self._proxy = CuttingProxy(self._address.port, seed)
        self._producer = clients.producer(bootstrap)
        self._filed = 0
        self._killed: list[tuple[str, float]] = []
        self._at_work = 0

    def go(self, kills: int, clickhouse_kills: int, count: int, away_s: float) -> dict[str, Any]:
        create_topics(self._bootstrap, 1)
        victims = [SINK] * kills + [CLICKHOUSE] * clickhouse_kills
        self._rng.shuffle(victims)
        # The schema is made in peace, as `clickhouse migrate` makes it before a sink starts.
        self._proxy.cuts = False
        self._proxy.start()
        supervisor = Supervisor(self._processes(), self._folder)
        try:
            supervisor.start()
            last = count - (count // 5 if away_s else 0)
            self._file_up_to(max(1, last // (len(victims) + 1)))
            self._wait_for_inserts(1, PATIENCE_S)
            self._proxy.cuts = True
            for number, victim in enumerate(victims):
                self._kill(supervisor, victim)
                self._file_up_to(last * (number + 2) // (len(victims) + 1))
                print(f"kill {number + 1}: {victim}, {self._filed} filed", file=sys.stderr)  # noqa: T201
            self._file_up_to(last)
            before_mb = self._memory_mb(supervisor, "VmRSS")
            away = self._away(supervisor, count, away_s) if away_s else {}
            undisturbed = time.monotonic()
            seen = in_kafka(self._bootstrap)
            found = self._until_even(seen)
            finished_s = time.monotonic() - undisturbed
            memory = {
                "sink_mb_before_away": before_mb,
                "sink_mb_peak": self._memory_mb(supervisor, "VmHWM"),
            }
            restarts = {one.name: one.restarts for one in supervisor.status()}
        finally:
            supervisor.stop()
            self._proxy.stop()
        taken = self._recoveries()
        crashes = sum(restarts.values()) - len(self._killed)
        return {
            "ok": found.even and not crashes,
            "broker": "Apache Kafka",
            "seed": self._seed,
            "kills": len(self._killed),
            "killed": {SINK: kills, CLICKHOUSE: clickhouse_kills},
            # Kills before which something had been stored since the kill before.
            "killed_at_work": self._at_work,
            "disputes": count,
            "records": dict(sorted(seen.records.items())),
            "lost": len(found.lost),
            "duplicate_rows": len(found.duplicate),
            "strange_rows": len(found.strange),
            "first_faults": [*found.lost, *found.duplicate, *found.strange][:LISTED],
            # The sink moves no money and calls nobody but ClickHouse.
            "double_paid": 0,
            "stuck": 0,
            "repeated_calls": 0,
            "crashes": crashes,
            "requests": self._proxy.requests,
            "unanswered": self._proxy.unanswered,
            "cut_short": self._proxy.cut_short,
            "recovered_s": max(taken, default=None),
            "recovered_p50_s": sorted(taken)[len(taken) // 2] if taken else None,
            # From the last kill, or from when ClickHouse was back, until the views show everything.
            "finished_after_s": round(finished_s, 1),
            **memory,
            **away,
            "reconcile_ok": found.even,
        }

    def _processes(self) -> list[Process]:
        endpoint = [sys.executable, "-m", "ops.local.clickhouse", "--port", str(self._address.port)]
        return [
            Process(
                CLICKHOUSE, [*endpoint, "--path", str(self._folder / "clickhouse")],
                ready=lambda: accepts(self._address.port), ready_within_s=START_WITHIN_S, longest_backoff_s=0,
            ),
            Process(
                SINK, [sys.executable, "-m", "ops.cli", "run", "sink"], env=self._environment(),
                longest_backoff_s=0,
            ),
        ]  # fmt: skip

    def _environment(self) -> dict[str, str]:
        return {
            "REFUND_BENCH_BROKER": self._bootstrap,
            "REFUND_BENCH_CLICKHOUSE": f"http://127.0.0.1:{self._proxy.port}",
            "REFUND_BENCH_INSTALLATION_KEY": "only for this run",
            "REFUND_BENCH_PROVIDER": "offline-rules",
            "REFUND_BENCH_STATE_DIR": str(self._folder / "state"),
        }

    def _file_up_to(self, count: int) -> None:
        while self._filed < count:
            file(self._producer, self._filed, self._seed)
            self._filed += 1
        if self._producer.flush(30):
            raise RuntimeError("the broker did not take every record within 30 s")

    def _kill(self, supervisor: Supervisor, victim: str) -> None:
        """Kill -9 at a random moment."""
        inserted = len(self._proxy.answered_inserts)
        if self._rng.random() < AT_WORK:
            self._wait_for_inserts(self._rng.randint(1, MOST_INSERTS), LONGEST_LIFE_S)
            time.sleep(self._rng.random() * 0.1)
        else:
            time.sleep(self._rng.random() * SOON_S)
        self._at_work += len(self._proxy.answered_inserts) > inserted
        end = time.monotonic() + START_WITHIN_S
        while time.monotonic() < end:
            pid = self._pid(supervisor, victim)
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
                self._killed.append((victim, time.time()))
                self._until_noticed(supervisor, victim, pid)
                return
            time.sleep(0.02)
        raise RuntimeError(f"{victim} did not start again within {START_WITHIN_S:.0f} s")

    def _until_noticed(self, supervisor: Supervisor, victim: str, dead: int) -> None:
        while self._pid(supervisor, victim) == dead:
            time.sleep(0.01)

    def _pid(self, supervisor: Supervisor, name: str) -> int | None:
        return next(one.pid for one in supervisor.status() if one.name == name)

    def _wait_for_inserts(self, more: int, within_s: float) -> None:
        wanted, end = len(self._proxy.answered_inserts) + more, time.monotonic() + within_s
        while len(self._proxy.answered_inserts) < wanted and time.monotonic() < end:
            time.sleep(0.01)

    def _memory_mb(self, supervisor: Supervisor, which: str) -> int | None:
        """What the running sink process takes now (VmRSS), or took at most (VmHWM)."""
        try:
            status = Path(f"/proc/{self._pid(supervisor, SINK)}/status").read_text()
        except OSError:
            return None  # just dead, or not Linux
        found = [line.split()[1] for line in status.splitlines() if line.startswith(which)]
        return round(int(found[0]) / 1024) if found else None

    def _away(self, supervisor: Supervisor, count: int, away_s: float) -> dict[str, Any]:
        """ClickHouse out of reach for so long, while the rest is filed."""
        self._proxy.take_away()
        began = time.monotonic()
        self._file_up_to(count)
        while (left := away_s - (time.monotonic() - began)) > 0:
            time.sleep(min(left, 0.2))
        behind = lags(self._bootstrap).get(group(SINK))
        self._proxy.bring_back()
        return {"away_s": round(time.monotonic() - began, 1), "lag_when_back": behind}

    def _until_even(self, seen: Seen) -> Balance:
        """The balance once it is even, or as it is when patience ends."""
        end = time.monotonic() + PATIENCE_S
        wanted = sum(count for topic, count in seen.records.items() if topic in KEPT)
        while True:
            late = time.monotonic() > end
            try:
                client = connect(self._address)
                try:
                    if stored_records(client) >= wanted or late:
                        found = balance(seen, client)
                        if found.even or late:
                            return found
                finally:
                    client.close()
            except Error:
                # Just killed, or so early that the sink has not migrated yet.
                if late:
                    raise
            time.sleep(0.5)

    def _recoveries(self) -> list[float]:
        """Seconds from each kill to the next insert that was answered; those of ClickHouse include the sink's
        own waiting."""
        answered = self._proxy.answered_inserts
        return [
            round(after[0] - at, 2)
            for _, at in self._killed
            if (after := [one for one in answered if one > at][:1])
        ]
