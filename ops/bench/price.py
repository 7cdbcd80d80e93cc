"""How long `price` takes on a case: the function that settlement shares, and the whole command."""

import itertools
import subprocess
import sys
import time
from datetime import UTC, datetime
from statistics import quantiles
from typing import Any

import orjson

from ops.cases import labelled
from ops.packs import load_packs
from streams.dry_run import price_case

PROMISE_MS = 200.0
COMMANDS = 5


def run(prices: int = 2_000) -> dict[str, Any]:
    """Price labelled cases in turn, then run the command a few times (milliseconds)."""
    registry, now, cases = load_packs(), datetime.now(UTC), labelled()
    taken: list[float] = []
    for case in itertools.islice(itertools.cycle(cases), prices):
        began = time.perf_counter()
        price_case(case, registry, now)
        taken.append((time.perf_counter() - began) * 1000)
    cuts = quantiles(taken, n=100)
    commands = sorted(_command(case) for case in cases[:COMMANDS])
    return {
        "ok": max(taken) < PROMISE_MS,
        "broker": None,
        "seed": None,
        "prices": prices,
        "p50_ms": round(cuts[49], 2),
        "p99_ms": round(cuts[98], 2),
        "max_ms": round(max(taken), 2),
        "promise_ms": PROMISE_MS,
        # Starting an interpreter and reading the packs included.
        "command_p50_ms": round(commands[COMMANDS // 2], 1),
    }


def _command(case: dict[str, Any]) -> float:
    began = time.perf_counter()
    command = [sys.executable, "-m", "ops.cli", "price", "-", "--json"]
    subprocess.run(command, input=orjson.dumps(case), capture_output=True, check=True)
    return (time.perf_counter() - began) * 1000
