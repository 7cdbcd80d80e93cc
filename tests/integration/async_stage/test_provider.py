"""What the provider behind the calls may do to a running stage."""

import asyncio
import threading
import time

import pytest

from tests.integration.async_stage.harness import Lane, exactly_once, running
from tests.support.wait import until
from topologies import clients
from topologies.async_stage import AsyncStage, Message, Output, ProviderDown, RetryLater

pytestmark = pytest.mark.kafka


def test_half_the_calls_refused_do_not_halve_the_throughput_of_scarce_slots(lane: Lane) -> None:
    """Four slots and calls of 0.1 s; every second call is a 429 with a Retry-After of 0.4 s.

    A slot held through it would make five times as long of the whole.
    """
    sent = lane.send(range(120))
    calls, ended = 0, list[float]()

    async def handler(message: Message) -> list[Output]:
        nonlocal calls
        calls += 1
        if calls % 2 == 0:
            raise RetryLater("429", after_s=0.4)
        await asyncio.sleep(0.1)
        ended.append(time.monotonic())
        return [Output(lane.output, message.key or b"", b"")]

    stage = AsyncStage("scarce", lane.input, handler, lane.settings(slots=4))
    reader = lane.reader()
    with running(stage):
        reader.until(120)
    exactly_once(sent, reader.to_the_end())
    assert stage.metrics.retries["429"] >= 100
    # The last ones wait for their Retry-After with nothing left to do meanwhile.
    assert ended[99] - ended[0] < 2 * 100 / 4 * 0.1


def test_a_provider_that_is_down_pauses_the_stage_and_loses_nothing(lane: Lane) -> None:
    sent = lane.send(range(400))
    down = threading.Event()
    recovered_at = 0.0
    finished: list[float] = []

    async def handler(message: Message) -> list[Output]:
        if down.is_set():
            raise ProviderDown
        await asyncio.sleep(0.1)
        if down.is_set():
            raise RetryLater("cut")
        finished.append(time.monotonic())
        return [Output(lane.output, message.key or b"", b"")]

    settings = lane.settings(slots=10, deadline_s=2.0)
    stage = AsyncStage("down", lane.input, handler, settings)
    reader = lane.reader()
    with running(stage):
        reader.until(50)
        down.set()
        until(lambda: stage.metrics.breaker_state != 0)
        calls, began = stage.metrics.calls, time.monotonic()
        until(lambda: time.monotonic() - began > 3.0)  # longer than every deadline
        assert stage.metrics.calls - calls <= 5, "a probe a second"
        down.clear()
        recovered_at = time.monotonic()
        reader.until(400)
    exactly_once(sent, reader.to_the_end())
    assert lane.reader(lane.dead).to_the_end() == []
    assert stage.metrics.exhausted == 0
    third_second = [at for at in finished if recovered_at + 2 <= at < recovered_at + 3]
    assert len(third_second) >= 80, "10 slots and 0.1 s: 100 a second at full speed"


def test_order_by_key_is_kept_through_retries(lane: Lane) -> None:
    producer = clients.producer(lane.bootstrap)
    for number in range(120):
        producer.produce(lane.input, key=f"order-{number % 4}", value=str(number))
    producer.flush(30)

    async def handler(message: Message) -> list[Output]:
        if message.attempt == 1 and int(message.value) % 7 == 0:
            raise RetryLater("flaky", after_s=0.05)
        await asyncio.sleep(0.005)
        return [Output(lane.output, message.key or b"", message.value)]

    stage = AsyncStage(
        "ordered", lane.input, handler, lane.settings(), key_order=lambda each: each.key or b""
    )
    reader = lane.reader()
    with running(stage):
        reader.until(120)
    reader.to_the_end()
    for order in range(4):
        mine = [int(each.value()) for each in reader.records if each.key() == b"order-%d" % order]
        assert mine == list(range(order, 120, 4))
