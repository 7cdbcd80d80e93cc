"""The gate in a burst: 600 calls at once, a provider that admits 50 a second, and three ways to ask it.

`gate` is what runs in production: the async stage's calls behind the gate, without Kafka.
`stage_alone` is the same stage without a gate, retrying as it does. `sdk_retries` is every call on
its own, retried twice as the official SDKs do by default. Each has a provider of its own.
"""

import asyncio
import random
import statistics
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from ops.bench.burst_provider import BurstProvider
from streams.llm.catalogue import ModelFacts
from streams.llm.gate import Gate
from streams.llm.gate_transport import GatedTransport
from streams.llm.limits import OrganisationLimits
from streams.llm.port import Overloaded
from streams.llm.rendering import RULING_SCHEMA, RULING_TOKENS, Block, Rendered
from streams.llm.spend import SpendBook
from streams.llm.wire import Transport
from topologies.async_stage import Message, Output, RetryLater
from topologies.async_stage.call_runner import CallLimits, CallRunner
from topologies.async_stage.circuit_breaker import CircuitBreaker
from topologies.async_stage.dead_letters import DeadLetterOffice
from topologies.async_stage.endings import Endings
from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.offset_codec import Progress
from topologies.async_stage.partition import Partition
from topologies.async_stage.retry_policy import RetryPolicy
from topologies.async_stage.settings import StageSettings

CALLS = 600
ADMITS_PER_S = 50.0
SEED = 1
TIMEOUT_S = 30.0
FACTS = ModelFacts(provider="burst", input=2.0, output=10.0, cache_write=2.5, cache_read=0.1)
SDK_RETRIES, SDK_FIRST_S, SDK_CEILING_S = 2, 0.5, 8.0
"""The defaults of the anthropic and openai SDKs."""

Simulate = Callable[[Coroutine[Any, Any, dict[str, Any]]], dict[str, Any]]


def run(simulate: Simulate = asyncio.run) -> dict[str, Any]:
    """The three ways, one after the other, and whether the promise is held."""
    ours = simulate(gate(CALLS, ADMITS_PER_S, SEED))
    promises = {
        "none_lost": ours["lost"] == 0,
        "goodput": ours["goodput_of_limit"] >= 0.95,
        "none_too_soon": ours["too_soon"] == ours["sent_while_closed"] == 0,
    }
    return {
        "ok": all(promises.values()),
        "broker": "none",
        "seed": SEED,
        "calls": CALLS,
        "admits_per_s": ADMITS_PER_S,
        **ours,
        "promises_held": promises,
        "peers": {
            "gate_told_twice_the_limit": simulate(gate(CALLS, ADMITS_PER_S, SEED, told=2.0)),
            "stage_alone": simulate(stage_alone(CALLS, ADMITS_PER_S, SEED)),
            "sdk_retries": simulate(sdk_retries(CALLS, ADMITS_PER_S, SEED)),
        },
    }


async def gate(calls: int, admits_per_s: float, seed: int, told: float = 1.0) -> dict[str, Any]:
    """Through the gate, whose limit is `told` times what the provider really admits."""
    provider = BurstProvider(admits_per_s, seed)
    limits = OrganisationLimits(
        requests_per_minute=int(admits_per_s * 60 * told),
        concurrency=200,
        spend_per_dispute_usd=Decimal(10),
    ).of_process(1.0)
    gated = Gate(limits, SpendBook(None, limits.spend), lambda: datetime.now(UTC), TIMEOUT_S)
    lost = await stage_calls(calls, seed, GatedTransport(provider, gated, FACTS))
    snapshot = gated.snapshot()
    return {
        **_figures(provider, calls, lost),
        "concurrency_limit": snapshot["concurrency_limit"],
        "congestion_events": snapshot["congestion_events"],
        "pace_share": round(snapshot["pace_share"], 3),
        "held_s": {by: round(s, 2) for by, s in snapshot["held_s"].items()},
    }


async def stage_alone(calls: int, admits_per_s: float, seed: int) -> dict[str, Any]:
    """The async stage's own retries, nothing before the provider."""
    provider = BurstProvider(admits_per_s, seed)
    return _figures(provider, calls, await stage_calls(calls, seed, provider))


async def sdk_retries(calls: int, admits_per_s: float, seed: int) -> dict[str, Any]:
    """Every call for itself, two retries, Retry-After obeyed."""
    provider = BurstProvider(admits_per_s, seed)
    rng = random.Random(seed)

    async def one(number: int) -> bool:
        for attempt in range(SDK_RETRIES + 1):
            try:
                await provider.send(_ruling(number))
                return True
            except Overloaded as busy:
                own = min(SDK_CEILING_S, SDK_FIRST_S * 2.0**attempt) * (1 - 0.25 * rng.random())
                await asyncio.sleep(busy.after_s or own)
        return False

    answered = await asyncio.gather(*map(one, range(calls)))
    return _figures(provider, calls, calls - sum(answered))


async def stage_calls(calls: int, seed: int, transport: Transport) -> int:
    """All calls at once through the async stage; how many found no answer before their deadline."""
    loop = asyncio.get_running_loop()
    done = asyncio.Event()
    results: list[Result] = []

    async def handler(message: Message) -> list[Output]:
        try:
            await transport.send(_ruling(message.offset))
        except Overloaded as busy:
            raise RetryLater("overloaded", busy.after_s) from busy
        return []

    def deliver(result: Result | None) -> None:
        if result is not None:
            results.append(result)
            if len(results) == calls:
                done.set()

    settings = StageSettings(slots=calls)
    metrics = StageMetrics(settings.slots)
    runner = CallRunner(
        handler,
        Endings(DeadLetterOffice(None, "dead-letters", settings.max_output_bytes), None, metrics),
        CallLimits(settings.slots, settings.attempt_timeout_s, settings.deadline_s),
        RetryPolicy(rng=random.Random(seed)),
        CircuitBreaker(settings.failures_to_open, settings.probe_every_s),
        metrics,
        deliver,
        loop.time,
    )
    partition = Partition("grievances", 0, 1, Progress(0))
    messages = [Message("grievances", 0, each, str(each).encode(), b"") for each in range(calls)]
    runner.submit([Entry(message, partition) for message in messages])
    await done.wait()
    return metrics.exhausted + sum(metrics.dead_letters.values())


def _figures(provider: BurstProvider, calls: int, lost: int) -> dict[str, Any]:
    admitted = sorted(each.arrived_at for each in provider.requests if each.admitted)
    begun = min(each.sent_at for each in provider.requests)
    took = admitted[-1] - begun
    tries = sorted(len(list(group)) for group in _by_caller(provider).values())
    return {
        "lost": lost,
        "answered": calls - lost,
        "goodput_of_limit": round(len(admitted) / took / provider.admits_per_s, 4),
        "seconds": round(took, 3),
        "requests": len(provider.requests),
        "turned_away": len(provider.requests) - len(admitted),
        "requests_per_call_p50": statistics.median(tries),
        "requests_per_call_max": tries[-1],
        "too_soon": provider.too_soon(),
        "sent_while_closed": provider.sent_while_closed(),
    }


def _by_caller(provider: BurstProvider) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for request in provider.requests:
        found.setdefault(request.caller, []).append(request.sent_at)
    return found


def _ruling(number: int) -> Rendered:
    return Rendered(
        system="Rule on the claim.",
        blocks=(Block("# Evidence\n{}", cached=True), Block(f"# Claim\nOrder {number} came late.")),
        schema=RULING_SCHEMA,
        max_tokens=RULING_TOKENS,
        account=f"g-{number}:1",
    )
