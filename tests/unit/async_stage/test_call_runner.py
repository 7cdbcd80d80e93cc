"""Slots, retries, deadlines and the breaker, in simulated time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest

from tests.unit.async_stage.helpers import entry, offsets, partition
from tests.unit.async_stage.simulated_time import simulate
from topologies.async_stage.call_runner import CallLimits, CallRunner
from topologies.async_stage.circuit_breaker import BreakerState, CircuitBreaker
from topologies.async_stage.dead_letters import DeadLetterOffice
from topologies.async_stage.endings import Endings
from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.errors import DeadlineExceeded, ProviderDown, RetryLater
from topologies.async_stage.message import Message, Output
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.retry_policy import RetryPolicy

Handler = Callable[[Message], Awaitable[list[Output]]]


class Bench:
    """A runner, and what came out of it."""

    def __init__(self, handler: Handler, **changes: Any) -> None:
        loop = asyncio.get_running_loop()
        slots = changes.get("slots", 4)
        self.metrics = StageMetrics(slots)
        self.results: list[Result] = []
        self.times: list[float] = []
        self.begun = loop.time()
        self.breaker = CircuitBreaker(
            changes.get("failures_to_open", 1_000), changes.get("probe_every_s", 1.0)
        )
        self.runner = CallRunner(
            handler,
            Endings(
                DeadLetterOffice(None, "dead", 1_000), changes.get("on_exhausted"), self.metrics
            ),
            CallLimits(
                slots, changes.get("attempt_timeout_s", 60.0), changes.get("deadline_s", 300.0)
            ),
            RetryPolicy(),
            self.breaker,
            self.metrics,
            self._deliver,
            loop.time,
        )
        self._more = asyncio.Event()

    def _deliver(self, result: Result | None) -> None:
        if result is not None:
            self.results.append(result)
            self.times.append(asyncio.get_running_loop().time() - self.begun)
            self._more.set()

    async def run(self, entries: Iterable[Entry]) -> list[Result]:
        wanted = list(entries)
        self.runner.submit(wanted)
        return await self.until(len(wanted))

    async def until(self, count: int) -> list[Result]:
        while len(self.results) < count:
            self._more.clear()
            await self._more.wait()
        return self.results


def entries(count: int) -> list[Entry]:
    of = partition()
    return [entry(offset, of) for offset in range(count)]


def echo(message: Message) -> list[Output]:
    return [Output("out", message.key or b"", message.value)]


def test_no_more_calls_than_slots_and_never_fewer_while_work_waits() -> None:
    seen: list[int] = []

    async def main() -> None:
        loop = asyncio.get_running_loop()
        running = 0

        async def handler(message: Message) -> list[Output]:
            nonlocal running
            running += 1
            seen.append(running)
            await asyncio.sleep(1 + message.offset % 3)
            running -= 1
            return echo(message)

        bench = Bench(handler, slots=4)
        await bench.run(entries(400))
        assert bench.runner.busy.take(loop.time()) > 0.95

    simulate(main())
    assert max(seen) == 4


def test_results_come_out_in_the_order_they_finish() -> None:
    async def main() -> list[int]:
        async def handler(message: Message) -> list[Output]:
            await asyncio.sleep(10 - message.offset)
            return echo(message)

        return offsets(await Bench(handler).run(entries(4)))

    assert simulate(main()) == [3, 2, 1, 0]


def test_a_message_in_backoff_holds_no_slot() -> None:
    """With one slot: the second message is done long before the first one's next attempt."""

    async def main() -> tuple[list[int], list[float]]:
        async def handler(message: Message) -> list[Output]:
            if message.offset == 0 and message.attempt == 1:
                raise RetryLater("429", after_s=20)
            await asyncio.sleep(1)
            return echo(message)

        bench = Bench(handler, slots=1)
        return offsets(await bench.run(entries(5))), bench.times

    order, times = simulate(main())
    assert order == [1, 2, 3, 4, 0]
    assert times[3] == pytest.approx(4, abs=0.1)
    assert 21 <= times[4] <= 23.5


def test_half_the_calls_refused_do_not_halve_the_throughput() -> None:
    async def main() -> float:
        async def handler(message: Message) -> list[Output]:
            if message.offset % 2 and message.attempt == 1:
                raise RetryLater("429")
            await asyncio.sleep(1)
            return echo(message)

        bench = Bench(handler, slots=2)
        await bench.run(entries(100))
        return bench.times[-1]

    assert simulate(main()) < 50 * 1.1 + 8


def test_retry_after_is_obeyed_and_capped() -> None:
    async def main() -> list[float]:
        async def handler(message: Message) -> list[Output]:
            if message.attempt == 1:
                raise RetryLater("429", after_s=(5, 10_000)[message.offset])
            return echo(message)

        bench = Bench(handler)
        await bench.run(entries(2))
        return bench.times

    first, second = simulate(main())
    assert 5 <= first <= 5.5
    assert 30 <= second <= 33


def test_the_attempt_is_counted() -> None:
    async def main() -> list[int]:
        attempts = []

        async def handler(message: Message) -> list[Output]:
            attempts.append(message.attempt)
            if message.attempt < 4:
                raise RetryLater("flaky")
            return []

        bench = Bench(handler)
        await bench.run(entries(1))
        assert bench.metrics.retries == {"flaky": 3}
        return attempts

    assert simulate(main()) == [1, 2, 3, 4]


def test_the_deadline_ends_the_attempts_with_a_dead_letter() -> None:
    async def main() -> tuple[Result, float]:
        async def handler(message: Message) -> list[Output]:
            raise RetryLater("503")

        bench = Bench(handler, deadline_s=30.0)
        (result,) = await bench.run(entries(1))
        assert bench.metrics.exhausted == 1
        return result, bench.times[0]

    result, at = simulate(main())
    assert at <= 30
    (output,) = result.outputs
    assert output.topic == "dead"
    assert output.headers["error.type"] == b"DeadlineExceeded"
    assert b"503" in output.headers["error"]


def test_the_deadline_can_have_an_answer_of_its_own() -> None:
    seen: list[BaseException] = []

    async def abstain(message: Message, error: BaseException) -> list[Output]:
        seen.append(error)
        return [Output("out", message.key or b"", b"abstention")]

    async def main() -> Result:
        async def handler(message: Message) -> list[Output]:
            await asyncio.sleep(1_000)
            return []

        bench = Bench(handler, deadline_s=90.0, attempt_timeout_s=60.0, on_exhausted=abstain)
        (result,) = await bench.run(entries(1))
        assert bench.times[0] == pytest.approx(90, abs=8)
        return result

    assert simulate(main()).outputs[0].value == b"abstention"
    assert isinstance(seen[0], DeadlineExceeded)
    assert isinstance(seen[0].__cause__, RetryLater)
    assert seen[0].__cause__.reason == "timeout"


@pytest.mark.parametrize("offset_s", [-1e-9, 0.0, 1e-9])
def test_a_timeout_racing_a_result_settles_once(offset_s: float) -> None:
    async def main() -> Bench:
        async def handler(message: Message) -> list[Output]:
            await asyncio.sleep(10 + offset_s if message.attempt == 1 else 0)
            return echo(message)

        bench = Bench(handler, attempt_timeout_s=10.0)
        await bench.run(entries(20))
        await asyncio.sleep(100)
        return bench

    bench = simulate(main())
    assert sorted(offsets(bench.results)) == list(range(20))
    assert bench.runner.running == bench.runner.waiting == bench.runner.queued == 0


def test_a_handler_that_will_not_be_cancelled_still_settles_once() -> None:
    async def main() -> Bench:
        async def handler(message: Message) -> list[Output]:
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                await asyncio.sleep(1)
            return echo(message)

        bench = Bench(handler, attempt_timeout_s=10.0)
        await bench.run(entries(3))
        await asyncio.sleep(100)
        return bench

    assert sorted(offsets(simulate(main()).results)) == [0, 1, 2]


@pytest.mark.parametrize("returned", [None, "text", [b"bytes"], [Output("t", "k", b"v")]])  # type: ignore[arg-type]
def test_a_handler_that_returns_nonsense_costs_one_message_not_the_stage(returned: Any) -> None:
    async def main() -> Result:
        async def handler(message: Message) -> list[Output]:
            result: list[Output] = returned
            return result

        return (await Bench(handler).run(entries(1)))[0]

    assert simulate(main()).outputs[0].headers["error.type"] == b"TypeError"


def test_a_handler_that_crashes_makes_a_dead_letter_at_once() -> None:
    async def main() -> tuple[Result, Bench]:
        async def handler(message: Message) -> list[Output]:
            raise ZeroDivisionError("poison")

        bench = Bench(handler)
        return (await bench.run(entries(1)))[0], bench

    result, bench = simulate(main())
    (output,) = result.outputs
    assert output.value == b"value"
    assert output.headers["origin"] == b"input/0/0"
    assert output.headers["error"] == b"poison"
    assert bench.metrics.calls == 1


def test_a_call_cancelled_from_within_is_tried_again() -> None:
    async def main() -> list[Result]:
        async def handler(message: Message) -> list[Output]:
            if message.attempt == 1:
                raise asyncio.CancelledError
            return echo(message)

        return await Bench(handler).run(entries(2))

    assert len(simulate(main())) == 2


def test_calls_of_a_lost_partition_are_cancelled_and_their_slots_are_free() -> None:
    cancelled: list[int] = []

    async def main() -> None:
        lost, kept = partition(0), partition(1)

        async def handler(message: Message) -> list[Output]:
            try:
                await asyncio.sleep(50)
            except asyncio.CancelledError:
                cancelled.append(message.offset)
                raise
            return echo(message)

        bench = Bench(handler, slots=2)
        bench.runner.submit([entry(each, lost) for each in range(6)])
        await asyncio.sleep(1)
        bench.runner.submit([entry(7, kept)])
        bench.runner.forget([lost])
        (result,) = await bench.until(1)
        assert result.entry.message.offset == 7
        assert bench.times == [pytest.approx(51)]
        assert lost.running == kept.running == bench.runner.queued == 0
        assert bench.metrics.cancelled == 2

    simulate(main())
    assert sorted(cancelled) == [0, 1]


def test_a_call_cancelled_before_its_first_step_frees_its_slot() -> None:
    async def main() -> None:
        async def handler(message: Message) -> list[Output]:
            return echo(message)

        bench = Bench(handler, slots=1)
        lost = partition(0)
        bench.runner.submit([entry(0, lost)])
        bench.runner.forget([lost])
        assert bench.runner.running == 0
        await bench.run([entry(1, partition(1))])
        assert offsets(bench.results) == [1]

    simulate(main())


def test_an_open_breaker_pauses_the_calls_and_counts_against_no_deadline() -> None:
    """Down for ten minutes with a deadline of two: nothing is exhausted, full speed after."""

    async def main() -> Bench:
        loop = asyncio.get_running_loop()
        up_at = loop.time() + 600

        async def handler(message: Message) -> list[Output]:
            if loop.time() < up_at:
                raise ProviderDown
            await asyncio.sleep(1)
            return echo(message)

        bench = Bench(handler, slots=10, deadline_s=120.0)
        await bench.run(entries(50))
        return bench

    bench = simulate(main())
    assert bench.metrics.exhausted == 0
    assert not bench.metrics.dead_letters
    assert bench.breaker.state is BreakerState.CLOSED
    assert bench.metrics.breaker_openings == 1
    assert bench.metrics.calls < 600 + 10 + 60, "one probe a second, not a storm"
    recovered = [at - 600 for at in bench.times]
    assert recovered[0] <= 2.1
    assert recovered[-1] <= 2.1 + 50 / 10 + 1


def test_failures_in_a_row_open_the_breaker_and_a_mixture_does_not() -> None:
    async def main(refused: Callable[[int], bool]) -> int:
        calls = 0

        async def handler(message: Message) -> list[Output]:
            nonlocal calls
            calls += 1
            await asyncio.sleep(0.1)
            if refused(calls):
                raise RetryLater("429")
            return echo(message)

        bench = Bench(handler, slots=1, failures_to_open=20)
        await bench.run(entries(60))
        return bench.metrics.breaker_openings

    assert simulate(main(lambda call: call <= 25)) == 1
    assert simulate(main(lambda call: call % 2 == 0)) == 0


def test_messages_with_one_key_run_one_at_a_time_in_order() -> None:
    async def main() -> None:
        running: set[bytes | None] = set()
        finished: dict[bytes, list[int]] = {}

        async def handler(message: Message) -> list[Output]:
            order = str(message.offset % 3).encode()
            assert order not in running
            running.add(order)
            await asyncio.sleep(1 + message.offset % 2)
            running.discard(order)
            if message.attempt == 1 and message.offset % 5 == 0:
                raise RetryLater("again")
            finished.setdefault(order, []).append(message.offset)
            return echo(message)

        of = partition()
        work = [entry(each, of, order=str(each % 3).encode()) for each in range(30)]
        bench = Bench(handler, slots=10)
        await bench.run(work)
        for order in finished.values():
            assert order == sorted(order)
        assert bench.runner.waiting == 0

    simulate(main())


def test_stopping_begins_no_more_calls_and_lets_the_running_ones_end() -> None:
    async def main() -> list[int]:
        async def handler(message: Message) -> list[Output]:
            await asyncio.sleep(5)
            return echo(message)

        bench = Bench(handler, slots=3)
        bench.runner.submit(entries(10))
        await asyncio.sleep(1)
        bench.runner.stop()
        await bench.until(3)
        await asyncio.sleep(60)
        assert bench.runner.unsettled == 0
        return sorted(offsets(bench.results))

    assert simulate(main()) == [0, 1, 2]
