"""The same as the short ones, for as long as the promises say."""

import asyncio
import time

import pytest

from tests.integration.async_stage.harness import Lane, Reader, exactly_once, running
from tests.integration.async_stage.test_faults import Echo
from tests.support.wait import until
from topologies.async_stage import AsyncStage, Message, Output, ProviderDown, RetryLater

pytestmark = [pytest.mark.kafka, pytest.mark.long]


def test_a_message_stuck_for_a_minute_while_thousands_pass(lane: Lane) -> None:
    sent = lane.send(range(6_000), partition=0)
    sent += lane.send(range(10_000, 13_000), partition=1)
    began = time.monotonic()

    async def handler(message: Message) -> list[Output]:
        if message.key == b"0":
            await asyncio.sleep(60)
        return [Output(lane.output, message.key or b"", b"")]

    stage = AsyncStage("minute", lane.input, handler, lane.settings(grace_s=0.1))
    reader = lane.reader()
    with running(stage):
        reader.until(4_095 + 3_000)
        until(lambda: stage.metrics.paused.get("0") == 1)
        assert time.monotonic() - began < 30
        assert stage.metrics.span["0"] == 4_096
    echo = Echo(lane, held={0})
    stage = AsyncStage("minute", lane.input, echo, lane.settings())
    with running(stage):
        until(lambda: stage.metrics.paused.get("0") == 1, 30)
        assert echo.calls == [b"0"], "4,095 finished above it, and none of them is called"
        until(lambda: time.monotonic() - began > 60, 90)
        echo.let_go = True
        reader.until(len(sent))
    exactly_once(sent, reader.to_the_end())


def test_gaps_from_compaction(lane: Lane) -> None:
    """Before the first start and before the second; an unfinished message can be among the removed."""
    often = {"segment.ms": "1", "min.cleanable.dirty.ratio": "0.01", "max.compaction.lag.ms": "1"}
    (lane.input,) = lane.topics.make(
        "compacted", partitions=1, config={"cleanup.policy": "compact", **often}
    )

    def send_and_compact(numbers: list[int], last: int) -> None:
        lane.send(numbers, partition=0)
        lane.send([last], partition=0)  # the newest file is never compacted: this begins one

        def compacted() -> bool:
            reader = Reader(lane.bootstrap, lane.input, 1)
            keys = reader.to_the_end()
            reader.close()
            return len(keys) == len(set(keys))

        until(compacted, 100, every_s=1)

    send_and_compact([*range(20), *range(5, 15)], last=100)
    echo = Echo(lane, held={0, 7})
    stage = AsyncStage("compacted", lane.input, echo, lane.settings(grace_s=0.1))
    reader = lane.reader()
    with running(stage):
        reader.until(19)
        until(lambda: len(echo.calls) == 21)
    assert lane.committed(stage.group)[0][0] == 0, "the first message is unfinished"

    # The held 7 goes, and so do finished messages that the committed progress knows of.
    send_and_compact([1, 2, 3, 7], last=101)
    again = Echo(lane)
    stage = AsyncStage("compacted", lane.input, again, lane.settings())
    with running(stage):
        reader.until(19 + 6)
    assert sorted(map(int, again.calls)) == [0, 1, 2, 3, 7, 101]
    assert len(reader.to_the_end()) == 19 + 6


def test_a_provider_down_for_half_a_minute(lane: Lane) -> None:
    sent = lane.send(range(3_000))
    down_from = time.monotonic() + 5
    down_until = down_from + 30
    finished: list[float] = []

    async def handler(message: Message) -> list[Output]:
        if down_from < time.monotonic() < down_until:
            raise ProviderDown
        await asyncio.sleep(0.5)
        if down_from < time.monotonic() < down_until:
            raise RetryLater("cut")
        finished.append(time.monotonic())
        return [Output(lane.output, message.key or b"", b"")]

    stage = AsyncStage("half", lane.input, handler, lane.settings(slots=50, deadline_s=20.0))
    reader = lane.reader()
    with running(stage):
        reader.until(3_000, 90)
    exactly_once(sent, reader.to_the_end())
    assert lane.reader(lane.dead).to_the_end() == []
    assert stage.metrics.exhausted == 0
    fourth_second = [at for at in finished if down_until + 3 <= at < down_until + 4]
    assert len(fourth_second) >= 90, "50 slots and 0.5 s: 100 a second at full speed"
