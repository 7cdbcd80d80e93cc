"""Settlement, payout and the gateway killed at random while a gateway of bad manners pays: each pay scope
paid once by the gateway's own file, every dispute ended, and everybody's books agree."""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ops.chaos.money_count import paid_more_than_once, recoveries
from ops.chaos.money_orders import disputes
from ops.filing import file_cases
from ops.local.gateway_faults import Faults
from ops.local.stack import LocalStack
from ops.watch import Watcher
from topologies import clients

VICTIMS = ("settlement", "network", "gateway")
"""`network` is the process that payout runs in."""
FAULTS = Faults(
    latency_s=(0, 0.4),
    late_answer=0.02,
    late_answer_s=15,
    fail_before=0.05,
    fail_after=0.1,
    fail_after_with="reset",
    deliver_twice=0.1,
    fail_look_up=0.02,
    store_errors=True,
    forget_keys_after_s=60,
)
"""Late, failing after it has paid, paying on two deliveries at once, repeating stored errors, forgetting keys."""
LONGEST_BACKOFF_S = 1.0
MOST_BETWEEN_KILLS_S = 12.0
"""Kills are spread evenly over the disputes settled, so that work is under way; where nothing moves, this long."""
PATIENCE_S = 300.0
LOOKS = 2
"""How often `reconcile` runs while processes die."""


def run(
    kills: int = 60, count: int = 600, seed: int = 1, broker: str | None = None
) -> dict[str, Any]:
    """The whole of it on a stack of its own; `broker` None starts Apache Kafka."""
    flags = ("--faults", FAULTS.model_dump_json())
    with (
        tempfile.TemporaryDirectory(prefix="refund-bench-") as folder,
        LocalStack(
            Path(folder), "offline-rules", broker, gateway_flags=flags, longest_backoff_s=LONGEST_BACKOFF_S
        ) as stack,
    ):  # fmt: skip
        rng = random.Random(seed)
        victims = [rng.choice(VICTIMS) for _ in range(kills)]
        return {**under_fire(stack, disputes(count, seed), victims, rng), "seed": seed}


def under_fire(
    stack: LocalStack, groups: Sequence[Sequence[dict[str, Any]]], victims: Sequence[str], rng: random.Random,
    looks: int = LOOKS, most_between_kills_s: float = MOST_BETWEEN_KILLS_S,
) -> dict[str, Any]:  # fmt: skip
    """File the groups while the victims are killed one after the other, then count.

    Each group is filed at once; the groups are spread evenly over the kills, and each kill comes at a random
    moment of its share of the work. The first is worked off before anything is killed, so that every app is up.
    """
    key = stack.environment["REFUND_BENCH_INSTALLATION_KEY"].encode()
    watcher, producer = Watcher(stack.bootstrap), clients.producer(stack.bootstrap)
    filed: dict[str, str] = {}
    killed: list[tuple[str, float]] = []
    reconciling: list[subprocess.Popen[bytes]] = []
    look_at = {len(victims) * (n + 1) // (looks + 1) for n in range(looks)}
    filed |= file_cases(groups[0], key, producer=producer)
    cold = watcher.wait(filed.values(), PATIENCE_S)
    sent = 1
    for number, victim in enumerate(victims):
        until = len(groups) * (number + 1) // len(victims)
        for group in groups[sent:until]:
            filed |= file_cases(group, key, producer=producer)
        sent = until
        if number in look_at:
            reconciling.append(reconcile(stack, wait_s=0))
        wanted = len(filed) * (number + rng.random()) / (number + 1)
        _until_settled(watcher, wanted, most_between_kills_s)
        killed.append((victim, _kill(stack, victim, watcher)))
        print(f"kill {number + 1}: {victim}, {len(filed)} filed", file=sys.stderr)  # noqa: T201
    last_kill = time.monotonic()
    stuck = watcher.wait(filed.values(), PATIENCE_S) + cold
    finished_s = time.monotonic() - last_kill
    watcher.close()
    under_way = [_codes(one) for one in reconciling]
    final = reconcile(stack, wait_s=120)
    answer = json.loads(final.communicate()[0] or b"{}")
    lost = [d for d in filed.values() if d not in watcher.trails]
    wrong = paid_more_than_once(stack.gateway_file)
    taken = recoveries(stack.bootstrap, killed)
    found = {
        "broker": "Apache Kafka",
        "kills": len(killed),
        "killed": {victim: sum(name == victim for name, _ in killed) for victim in dict.fromkeys(victims)},
        "disputes": len(filed),
        "orders": len(groups),
        "lost": len(lost),
        "stuck": len(set(stuck) - set(lost)),
        "double_paid": len(wrong),
        "duplicate_rows": sum(one["what"] == "clickhouse_duplicate" for one in answer.get("differences", [])),
        "duplicate_letters": sum(len(t.letters) - len({x.letter_id for x in t.letters}) for t in watcher.trails.values()),
        # A call whose answer was lost, and that was found instead of made again.
        "repeated_calls": sum(p.found_before_call for t in watcher.trails.values() for p in t.payments),
        "recovered_s": max(taken, default=None),
        "recovered_p50_s": sorted(taken)[len(taken) // 2] if taken else None,
        "finished_after_last_kill_s": round(finished_s, 1),
        "reconcile_ok": bool(answer.get("ok")) and answer.get("in_flight") == 0,
        "reconcile_under_way": under_way,
        "differences": answer.get("differences", []),
        "totals": answer.get("totals"),
    }  # fmt: skip
    clean = found["reconcile_ok"] and not (
        found["lost"] or found["stuck"] or wrong or 1 in under_way
    )
    return {"ok": clean, **found}


def reconcile(stack: LocalStack, wait_s: float) -> "subprocess.Popen[bytes]":
    """`refund-bench reconcile --json` against the stack, in a process of its own."""
    command = [sys.executable, "-m", "ops.cli", "reconcile", "--wait", str(wait_s), "--json"]
    return subprocess.Popen(
        command,
        env={**os.environ, **stack.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _codes(running: "subprocess.Popen[bytes]") -> int:
    """Its exit code: 0 it added up, 1 it did not, 3 something was down just then."""
    out, _ = running.communicate()
    if running.returncode == 1:
        print(out.decode(), file=sys.stderr)  # noqa: T201
    return running.returncode


def _until_settled(watcher: Watcher, wanted: float, within_s: float) -> None:
    """Wait until so many disputes have a payment record, or until the time is up."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        watcher.poll(0.05)
        if sum(bool(trail.payments) for trail in watcher.trails.values()) >= wanted:
            return


def _kill(stack: LocalStack, victim: str, watcher: Watcher) -> float:
    """kill -9, at work or still starting; when that was, in seconds since 1970."""
    while True:
        status = next(one for one in stack.status() if one.name == victim)
        if status.pid is not None:
            os.kill(status.pid, signal.SIGKILL)
            return time.time()
        watcher.poll(0.05)
