"""A message that its handler holds: aside, until somebody releases it."""

import asyncio

from tests.unit.async_stage.simulated_time import simulate
from tests.unit.async_stage.test_call_runner import Bench, echo, entries
from topologies.async_stage.circuit_breaker import BreakerState
from topologies.async_stage.errors import Hold
from topologies.async_stage.message import Message, Output


def test_a_held_message_uses_no_slot_no_attempt_and_no_deadline() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        released: asyncio.Future[None] = loop.create_future()
        attempts: list[int] = []

        async def handler(message: Message) -> list[Output]:
            if message.offset < 3 and not released.done():
                raise Hold("paused", released)
            attempts.append(message.attempt)
            return echo(message)

        bench = Bench(handler, slots=1, deadline_s=10.0, failures_to_open=1)
        loop.call_later(3_600.0, released.set_result, None)
        await bench.run(entries(5))
        assert [result.entry.message.offset for result in bench.results] == [3, 4, 0, 1, 2]
        assert bench.times[1] < 1 < 3_600 <= bench.times[2]
        assert set(attempts) == {1}
        assert bench.breaker.state is BreakerState.CLOSED
        assert not bench.metrics.retries
        assert not bench.metrics.dead_letters

    simulate(main())


def test_a_held_message_of_a_partition_that_leaves_is_let_go() -> None:
    async def main() -> None:
        released: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        async def handler(message: Message) -> list[Output]:
            raise Hold("paused", released)

        bench = Bench(handler)
        held = entries(2)
        bench.runner.submit(held)
        await asyncio.sleep(0.1)
        assert (bench.runner.waiting, bench.runner.running) == (2, 0)
        bench.runner.withdraw({held[0].partition})
        released.set_result(None)
        await asyncio.sleep(0.1)
        assert (bench.runner.waiting, bench.runner.running, bench.results) == (0, 0, [])

    simulate(main())
