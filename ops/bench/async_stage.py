"""The async stage beside its peers, on Apache Kafka, exactly-once, all in one run.

2,000 messages, 12 partitions, 100 slots, calls uniform in 1 to 2 s. The peers: `quix_apply` (Quix
alone, three calls inside one `apply`, measured over its first messages: it runs one message at a
time), `arroyo_threads` (RunTaskInThreads, at least once), `asyncio_limit` (a semaphore, no Kafka).
"""

import asyncio
import importlib.util
import random
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from ops.bench.contest import PARTITIONS, Heat, calls_per_s, quantile, slots_busy, uniform
from ops.local.kafka import LocalKafka

MESSAGES = 2_000
SLOTS = 100
STRAGGLER_S = 30.0
OFFERED_PER_S = 50.0
ZERO_LATENCY_MESSAGES = 100_000
IDLE_S = 10.0
QUIX_MESSAGES = 12


def run(
    broker: str | None = None, messages: int = MESSAGES, slots: int = SLOTS, seed: int = 1
) -> dict[str, Any]:
    """Everything issue 3 wants measured; `broker` None starts our own Apache Kafka."""
    with tempfile.TemporaryDirectory(prefix="refund-bench-") as folder:
        own = LocalKafka(Path(folder)) if broker is None else nullcontext()
        with own as kafka:
            bootstrap = broker or kafka.bootstrap
            durations = uniform(messages, seed)
            limit = _limit(durations, slots)
            found = _backlog("ours", bootstrap, durations, slots)
            found |= _idle(bootstrap, slots)
            found |= _zero_latency(bootstrap)
            calm = _offered(bootstrap, messages, slots, seed, stragglers=False)
            stuck = _offered(bootstrap, messages, slots, seed, stragglers=True)
            peers = {
                "quix_apply": _quix(bootstrap, durations),
                "arroyo_threads": _arroyo(bootstrap, durations, slots),
                "asyncio_limit": limit,
            }
    found["rate_vs_limit"] = found["calls_per_s"] / limit["calls_per_s"]
    found["end_to_end_p99_s"] = calm["p99_s"]
    found["end_to_end_p99_with_stragglers_s"] = stuck["p99_s"]
    promises = {
        "complete": found["complete"] and calm["complete"] and stuck["complete"],
        "slots_busy": found["slots_busy"] >= 0.97,
        "rate_vs_limit": found["rate_vs_limit"] >= 0.97,
        "emit_p50_ms": found["emit_p50_ms"] < 60,
        "emit_p99_ms": found["emit_p99_ms"] < 250,
        "stragglers": stuck["p99_s"] <= calm["p99_s"] * 1.1 + 0.1,
        "engine_cpu_ms_per_message": found["engine_cpu_ms_per_message"] < 1,
        "idle_cpu_share_per_stage": found["idle_cpu_share_per_stage"] < 0.02,
        "zero_latency_per_s": found["zero_latency_per_s"] >= 3_000,
        "memory_flat": found["heap_growth_over_100000"] < 1.1
        and found["python_blocks_growth_over_100000"] < 1.1,
    }
    return {
        "ok": all(promises.values()),
        "broker": "Apache Kafka",
        "seed": seed,
        "messages": messages,
        "partitions": PARTITIONS,
        "slots": slots,
        **_rounded(found),
        "promises_held": promises,
        "peers": {name: _rounded(peer) for name, peer in peers.items()},
    }


def _backlog(
    name: str, bootstrap: str, durations: list[float], slots: int, python: str = sys.executable
) -> dict[str, Any]:
    """All messages are there before the start: how full are the slots, how soon is a result out."""
    heat = Heat(name, bootstrap, slots, python)
    heat.send_all(durations)
    heat.start()
    heat.until(1, 60)
    cpu = heat.cpu_s()
    complete = heat.until(len(durations), 60 + 3 * sum(durations) / slots)
    cpu = heat.cpu_s() - cpu
    calls = heat.stop()
    emitted = [1000 * (sight.seen - sight.returned) for sight in heat.sights]
    return {
        "complete": complete and len({s.key for s in heat.sights}) == len(heat.sights),
        "slots_busy": slots_busy(calls, slots),
        "calls_per_s": calls_per_s(calls),
        "emit_p50_ms": quantile(emitted, 0.5),
        "emit_p99_ms": quantile(emitted, 0.99),
        "engine_cpu_ms_per_message": 1000 * cpu / len(durations),
    }


def _idle(bootstrap: str, slots: int) -> dict[str, Any]:
    """Six stages in one process, nothing to do."""
    heat = Heat("ours", bootstrap, slots, stages=6, with_log=False)
    heat.send_all([0.0])
    heat.start()
    heat.until(6, 60)
    cpu, begin = heat.cpu_s(), time.monotonic()
    while time.monotonic() - begin < IDLE_S:
        time.sleep(0.1)
    share = (heat.cpu_s() - cpu) / (time.monotonic() - begin)
    heat.stop()
    return {"idle_cpu_share_per_stage": share / 6, "idle_cpu_share_six_stages": share}


def _zero_latency(bootstrap: str) -> dict[str, Any]:
    """A handler that returns at once: the engine's own speed, and what it holds after one and two rounds."""
    heat = Heat("ours", bootstrap, slots=500, with_log=False)
    backlog = [0.0] * ZERO_LATENCY_MESSAGES
    heat.send_all(backlog)
    heat.start()
    heat.until(ZERO_LATENCY_MESSAGES, 120)
    first, last, before = heat.sights[0].seen, heat.sights[-1].seen, heat.in_use()
    heat.send_all(backlog)
    heat.until(2 * ZERO_LATENCY_MESSAGES, 120)
    after = heat.in_use()
    found = {
        "zero_latency_per_s": ZERO_LATENCY_MESSAGES / (last - first),
        "heap_mb_in_use": before["heap"] / 1e6,
        "heap_growth_over_100000": after["heap"] / before["heap"],
        "python_blocks_growth_over_100000": after["blocks"] / before["blocks"],
        "memory_mb_peak": heat.peak_memory_mb(),
    }
    heat.stop()
    return found


def _offered(
    bootstrap: str, messages: int, slots: int, seed: int, *, stragglers: bool
) -> dict[str, Any]:
    """An open load below capacity; with one call of 30 s in each partition, or without."""
    heat = Heat("ours", bootstrap, slots)
    heat.start()
    if stragglers:
        for partition in range(PARTITIONS):
            heat.send(b"straggler-%d" % partition, STRAGGLER_S, partition)
    heat.send(b"first", 0.0)
    heat.until(1, 60)
    begin = time.monotonic()
    for number, seconds in enumerate(uniform(messages, seed)):
        heat.send(str(number).encode(), seconds)
        while time.monotonic() < begin + number / OFFERED_PER_S:
            heat.serve()
    expected = messages + 1 + (PARTITIONS if stragglers else 0)
    complete = heat.until(expected, 60)
    heat.stop()
    ours = [each for each in heat.sights if each.key.isdigit()]
    return {"complete": complete, "p99_s": quantile([s.seen - s.sent for s in ours], 0.99)}


def _quix(bootstrap: str, durations: list[float]) -> dict[str, Any]:
    heat = Heat("quix_apply", bootstrap, slots=3)
    heat.send_all(durations[:QUIX_MESSAGES])
    heat.start()
    complete = heat.until(QUIX_MESSAGES, 120)
    calls = heat.stop()
    emitted = [1000 * (sight.seen - sight.returned) for sight in heat.sights]
    return {
        "guarantee": "exactly once",
        "complete": complete,
        "messages": QUIX_MESSAGES,
        "calls_per_s": calls_per_s(calls),
        "emit_p50_ms": quantile(emitted, 0.5),
        "emit_p99_ms": quantile(emitted, 0.99),
    }


def _arroyo(bootstrap: str, durations: list[float], slots: int) -> dict[str, Any]:
    if importlib.util.find_spec("arroyo") is None:
        return {
            "skipped": "sentry-arroyo is not installed; `make bench` puts it beside our packages"
        }
    found = _backlog("arroyo_threads", bootstrap, durations, slots)
    found["cpu_ms_per_message"] = found.pop("engine_cpu_ms_per_message")
    return {"guarantee": "at least once", **found}


def _limit(durations: list[float], slots: int) -> dict[str, Any]:
    """What asyncio could do if there were no Kafka at all."""
    calls: list[tuple[float, float]] = []

    async def one(seconds: float, free: asyncio.Semaphore) -> None:
        async with free:
            begin = time.time()
            await asyncio.sleep(seconds)
            calls.append((begin, time.time()))

    async def everything() -> None:
        free = asyncio.Semaphore(slots)
        shuffled = random.Random(0).sample(durations, len(durations))
        await asyncio.gather(*(one(seconds, free) for seconds in shuffled))

    asyncio.run(everything())
    calls.sort()
    return {"calls_per_s": calls_per_s(calls), "slots_busy": slots_busy(calls, slots)}


def _rounded(figures: dict[str, Any]) -> dict[str, Any]:
    return {k: round(v, 4) if isinstance(v, float) else v for k, v in figures.items()}
