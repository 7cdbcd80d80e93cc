"""Instances come and go under load; partitions move, results do not multiply."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer

from ops.chaos.stage_fleet import Fleet
from tests.integration.async_stage.harness import Lane, exactly_once, running, start
from tests.integration.async_stage.test_faults import WatchedStage
from tests.support.wait import until
from topologies.async_stage import AsyncStage, Message, Output

pytestmark = pytest.mark.kafka


def test_scaling_from_one_to_four_to_two_under_load(lane: Lane) -> None:
    sent = lane.send(range(600))
    calls: list[bytes] = []

    async def handler(message: Message) -> list[Output]:
        calls.append(message.key or b"")
        await asyncio.sleep(0.2)
        return [Output(lane.output, message.key or b"", b"")]

    def stage(ordinal: int) -> AsyncStage:
        return AsyncStage("scaled", lane.input, handler, lane.settings(ordinal=ordinal, slots=20))

    reader = lane.reader()
    stages = [stage(ordinal) for ordinal in range(4)]
    runs = [start(stages[0])]
    reader.until(60)
    runs += [start(each) for each in stages[1:]]
    until(lambda: all(each.metrics.partitions == 1 for each in stages), 30)
    reader.until(200)
    for run in runs[2:]:
        run.stop()
    until(lambda: all(each.metrics.partitions == 2 for each in stages[:2]), 30)
    reader.until(600)
    for run in runs[:2]:
        run.stop()
    exactly_once(sent, reader.to_the_end())
    exactly_once(sent, calls)


def test_a_revoke_during_a_commit_waits_for_it(lane: Lane) -> None:
    sent = lane.send(range(200))
    entered, joined = threading.Event(), threading.Event()

    class Slow(Producer):  # type: ignore[misc]
        def commit_transaction(self, *arguments: Any) -> Any:
            if not entered.is_set():
                entered.set()
                joined.wait(20)
                time.sleep(1.5)  # the rebalance is under way by now
            return super().commit_transaction(*arguments)

    async def handler(message: Message) -> list[Output]:
        await asyncio.sleep(0.02)
        return [Output(lane.output, message.key or b"", b"")]

    first = WatchedStage("revoked", lane.input, handler, lane.settings(ordinal=0, slots=10))
    first.producer_class = Slow
    second = AsyncStage("revoked", lane.input, handler, lane.settings(ordinal=1, slots=10))
    reader = lane.reader()
    with running(first):
        entered.wait(20)
        with running(second):
            joined.set()
            until(lambda: second.metrics.partitions == 2, 30)
            reader.until(200)
    exactly_once(sent, reader.to_the_end())


def test_a_late_result_of_a_lost_partition_is_dropped(lane: Lane) -> None:
    """The first instance's calls ignore their cancelling and end after the partition moved."""
    sent = lane.send(range(16))
    moved = threading.Event()

    async def stubborn(message: Message) -> list[Output]:
        while not moved.is_set():
            try:
                await asyncio.sleep(0.05)
            except asyncio.CancelledError:
                continue
        return [Output(lane.output, message.key or b"", b"first")]

    async def quick(message: Message) -> list[Output]:
        return [Output(lane.output, message.key or b"", b"second")]

    first = AsyncStage("late", lane.input, stubborn, lane.settings(ordinal=0, revoke_wait_s=0.1))
    second = AsyncStage("late", lane.input, quick, lane.settings(ordinal=1))
    reader = lane.reader()
    with running(first):
        until(lambda: first.metrics.calls == 16)
        with running(second):
            until(lambda: second.metrics.partitions == 2, 30)
            theirs = len(reader.until(1))
            moved.set()
            reader.until(16)
            until(lambda: first.metrics.late_results_dropped > 0)
            assert theirs > 0
    exactly_once(sent, reader.to_the_end())


def test_an_instance_that_comes_late_takes_partitions_and_no_call(
    lane: Lane, fleet: Callable[..., Fleet]
) -> None:
    """As after a kill, when the next process was killed too before it had joined: the partitions
    have moved to the living one by then, and move back while their calls of 1-2 s run."""
    sent = lane.send(range(70))
    it = fleet(seconds=(1.0, 2.0))
    it.start(0)
    it.until_calls(10)
    it.start(1)
    reader = lane.reader()
    reader.until(70)
    exactly_once(sent, reader.to_the_end())
    assert it.journal.read().moved("revoked") == 2
    assert it.repeats() == []


def test_running_calls_of_a_leaving_partition_may_finish_and_are_not_paid_twice(
    lane: Lane,
) -> None:
    sent = lane.send(range(100))
    calls: list[bytes] = []

    async def handler(message: Message) -> list[Output]:
        calls.append(message.key or b"")
        await asyncio.sleep(0.5)
        return [Output(lane.output, message.key or b"", b"")]

    def stage(ordinal: int) -> AsyncStage:
        settings = lane.settings(ordinal=ordinal, slots=20, revoke_wait_s=2.0)
        return AsyncStage("moving", lane.input, handler, settings)

    reader = lane.reader()
    with running(stage(0)):
        until(lambda: len(calls) >= 30)
        with running(stage(1)):
            reader.until(100)
    exactly_once(sent, reader.to_the_end())
    exactly_once(sent, calls)
