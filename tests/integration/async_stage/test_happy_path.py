"""One output per input, none for what is skipped, and nothing again after a restart."""

import pytest

from tests.integration.async_stage.harness import Lane, exactly_once, running
from topologies.async_stage import AsyncStage, Message, Output, StageSettings

pytestmark = pytest.mark.kafka


def echo(lane: Lane, **changes: object) -> tuple[AsyncStage, list[bytes]]:
    calls: list[bytes] = []

    async def handler(message: Message) -> list[Output]:
        assert message.key is not None
        calls.append(message.key)
        return [Output(lane.output, message.key, message.value, {"seen": b"1"})]

    settings: StageSettings = lane.settings(**changes)
    return AsyncStage("echo", lane.input, handler, settings), calls


def test_each_input_has_exactly_one_output(lane: Lane) -> None:
    sent = lane.send(range(300))
    stage, calls = echo(lane)
    reader = lane.reader()
    with running(stage) as run:
        reader.until(300)
    assert run.exit_codes == [0]
    exactly_once(sent, reader.to_the_end())
    exactly_once(sent, calls)
    assert {record.headers()[0] for record in reader.records} == {("seen", b"1")}


def test_a_restart_calls_nothing_again(lane: Lane) -> None:
    sent = lane.send(range(100))
    stage, _ = echo(lane)
    reader = lane.reader()
    with running(stage):
        reader.until(100)
    sent += lane.send(range(100, 150))
    stage, calls = echo(lane)
    with running(stage):
        reader.until(150)
    exactly_once(sent[100:], calls)
    exactly_once(sent, reader.to_the_end())


def test_no_output_is_a_result(lane: Lane) -> None:
    sent = lane.send(range(40))

    async def odd_ones(message: Message) -> list[Output]:
        assert message.key is not None
        wanted = int(message.key) % 2
        return [Output(lane.output, message.key, b"")] if wanted else []

    stage = AsyncStage("odd", lane.input, odd_ones, lane.settings())
    reader = lane.reader()
    with running(stage):
        reader.until(20)
    exactly_once([key for key in sent if int(key) % 2], reader.to_the_end())
    offsets = lane.committed(stage.group)
    assert sum(max(offset, 0) for offset, _ in offsets.values()) == 40
    assert all(not metadata for _, metadata in offsets.values())


def test_two_stages_share_a_process(lane: Lane) -> None:
    sent = lane.send(range(60))
    first, _ = echo(lane)
    end = lane.topics.make("end", partitions=lane.partitions)[0]

    async def onward(message: Message) -> list[Output]:
        return [Output(end, message.key or b"", message.value)]

    second = AsyncStage("onward", lane.output, onward, lane.settings())
    reader = lane.reader(end)
    with running(first, second):
        reader.until(60)
    exactly_once(sent, reader.to_the_end())
