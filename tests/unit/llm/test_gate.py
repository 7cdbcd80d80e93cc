"""Who may start when, in simulated time."""

import asyncio
import itertools
from typing import Any

import pytest

from streams.llm.gate import LONGEST_WAIT_S, Gate, Used
from streams.llm.gate_metrics import TABLE
from streams.llm.port import Misconfigured, Overloaded, ProviderDown
from tests.unit.llm.simulated import simulate
from tests.unit.llm.support import answer, failing, gate, through, wanted


def clock() -> float:
    return asyncio.get_running_loop().time()


async def settled(*calls: Any) -> list[Any]:
    return await asyncio.gather(*calls, return_exceptions=True)


async def starts(gated: Gate, count: int, lasting_s: float = 1.0) -> list[tuple[int, float]]:
    """That many calls at once: which began when."""
    begun: list[tuple[int, float]] = []

    async def ask(number: int) -> Any:
        begun.append((number, clock()))
        await asyncio.sleep(lasting_s)
        return Used(1_000, 0)

    await settled(*(through(gated, lambda number=each: ask(number)) for each in range(count)))
    return begun


def test_calls_start_in_the_order_they_came() -> None:
    async def main() -> list[tuple[int, float]]:
        return await starts(gate(requests_per_minute=600, concurrency=3), 30)

    begun = simulate(main())
    assert [number for number, _ in begun] == list(range(30))


def test_large_calls_are_not_starved_by_small_ones() -> None:
    async def main() -> list[str]:
        gated, begun = gate(tokens_per_minute=60_000), []

        def ask(name: str) -> Any:
            async def asked() -> Any:
                begun.append(name)
                return Used(1_000, 0)

            return asked

        calls = [("small", 900.0), ("large", 5_000.0), *[("small", 900.0)] * 5]
        await settled(*(through(gated, ask(name), wanted(tokens=t)) for name, t in calls))
        return begun

    assert simulate(main())[:2] == ["small", "large"]


def test_no_more_run_at_a_time_than_the_limit() -> None:
    most = 0

    async def main() -> None:
        nonlocal most
        gated, running = gate(concurrency=7), 0

        async def ask() -> Any:
            nonlocal most, running
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.5)
            running -= 1
            return Used(1_000, 0)

        await settled(*(through(gated, ask) for _ in range(100)))

    simulate(main())
    assert most == 7


def test_nothing_starts_before_the_retry_after_has_passed() -> None:
    async def main() -> tuple[float, list[tuple[int, float]]]:
        gated = gate(concurrency=10)
        with pytest.raises(Overloaded):
            await through(gated, failing(Overloaded(6.0), after_s=1.0))
        return clock(), await starts(gated, 20)

    told, begun = simulate(main())
    assert len(begun) == 20
    assert min(at for _, at in begun) >= told + 6.0


def test_calls_already_waiting_obey_it_too() -> None:
    async def main() -> float:
        gated = gate(concurrency=1)
        refused = asyncio.create_task(through(gated, failing(Overloaded(5.0), after_s=2.0)))
        await asyncio.sleep(1.0)
        begun = clock()
        ((_, at),) = await starts(gated, 1)
        await settled(refused)
        return at - begun

    assert simulate(main()) == pytest.approx(1.0 + 5.0, abs=0.01)


def test_a_shorter_retry_after_does_not_open_what_a_longer_one_closed() -> None:
    async def main() -> float:
        gated = gate()
        begun = clock()
        await settled(
            through(gated, failing(Overloaded(9.0))),
            through(gated, failing(Overloaded(1.0), after_s=0.5)),
        )
        ((_, at),) = await starts(gated, 1)
        return at - begun

    assert simulate(main()) == pytest.approx(9.0, abs=0.01)


def test_a_long_retry_after_gives_the_slot_back_at_once_and_says_how_long() -> None:
    async def main() -> tuple[float, list[Any]]:
        gated = gate()
        await settled(through(gated, failing(Overloaded(40.0))))
        begun = clock()
        found = await settled(*(through(gated, answer()) for _ in range(50)))
        assert gated.snapshot()["given_back"] == 50
        return clock() - begun, found

    took, found = simulate(main())
    assert took < 1.0
    assert all(isinstance(each, Overloaded) for each in found)
    assert all(39 < each.after_s <= 40 for each in found)


def test_a_wait_is_bounded_and_what_waited_in_vain_left_nothing_behind() -> None:
    async def main() -> tuple[list[Any], dict[str, Any]]:
        gated = gate(concurrency=1, timeout_s=600)
        long = asyncio.create_task(through(gated, answer(after_s=60)))
        await asyncio.sleep(0.1)
        begun = clock()
        found = await settled(*(through(gated, answer()) for _ in range(5)))
        assert clock() - begun == pytest.approx(LONGEST_WAIT_S, abs=0.01)
        await long
        await through(gated, answer())
        return found, gated.snapshot()

    found, figures = simulate(main())
    assert [type(each) for each in found] == [Overloaded] * 5
    assert figures["waiting"] == figures["running"] == 0
    assert figures["admitted"] == 2


def test_a_call_without_an_answer_ends_by_its_own_timeout() -> None:
    async def main() -> dict[str, Any]:
        gated = gate(timeout_s=5, concurrency=10)
        begun = clock()
        with pytest.raises(TimeoutError):
            await through(gated, answer(after_s=500))
        assert clock() - begun == pytest.approx(5.0, abs=0.01)
        return gated.snapshot()

    figures = simulate(main())
    assert figures["ended"] == {"timeout": 1}
    assert figures["concurrency_limit"] == 8


@pytest.mark.parametrize("error", [Overloaded(0.1), Overloaded(), TimeoutError()])
def test_what_tells_of_congestion_lowers_the_limit_once_for_all_that_were_running(
    error: Exception,
) -> None:
    async def main() -> dict[str, Any]:
        gated = gate(concurrency=100)
        await settled(*(through(gated, failing(error, after_s=1.0)) for _ in range(40)))
        return gated.snapshot()

    figures = simulate(main())
    assert figures["concurrency_limit"] == 80
    assert figures["congestion_events"] == 1


@pytest.mark.parametrize("error", [ProviderDown("503"), Misconfigured("no key")])
def test_a_failure_of_another_kind_says_nothing_of_congestion(error: Exception) -> None:
    async def main() -> dict[str, Any]:
        gated = gate(concurrency=100)
        with pytest.raises(type(error)):
            await through(gated, failing(error))
        return gated.snapshot()

    assert simulate(main())["concurrency_limit"] == 100


def test_a_cancelled_call_makes_room_whether_it_waited_or_ran() -> None:
    async def main() -> list[tuple[int, float]]:
        gated = gate(concurrency=1)
        running = asyncio.create_task(through(gated, answer(after_s=100)))
        await asyncio.sleep(0.1)
        waiting = [asyncio.create_task(through(gated, answer())) for _ in range(3)]
        await asyncio.sleep(0.1)
        for task in [*waiting, running]:
            task.cancel()
        await settled(running, *waiting)
        assert gated.snapshot()["waiting"] == gated.snapshot()["running"] == 0
        return await starts(gated, 2)

    assert len(simulate(main())) == 2


def test_tokens_that_a_call_did_not_use_are_the_next_ones() -> None:
    """Estimated at 1,000 tokens and using 100, ten calls take the time of one or two, not of nine."""

    async def main() -> float:
        gated = gate(tokens_per_minute=60_000)
        begun = clock()
        for _ in range(10):
            await through(gated, answer(tokens=100))
        return clock() - begun

    assert simulate(main()) < 2.0


def test_every_figure_is_in_the_table() -> None:
    async def main() -> dict[str, Any]:
        gated = gate()
        await through(gated, answer())
        return gated.snapshot()

    figures = simulate(main())
    assert set(figures) == set(TABLE)
    assert figures["admitted"] == 1
    assert figures["ended"] == {"answered": 1}


def test_what_held_the_queue_is_told_apart() -> None:
    async def main() -> dict[str, float]:
        gated = gate(requests_per_minute=600, concurrency=2, tokens_per_minute=60_000)
        for seconds, tokens in itertools.product((0.1, 2.0), (10.0, 3_000.0)):
            await settled(
                *(
                    through(gated, answer(seconds, tokens=int(tokens)), wanted(tokens=tokens))
                    for _ in range(4)
                )
            )
        await settled(through(gated, failing(Overloaded(3.0)), wanted(tokens=1)))
        await settled(through(gated, answer(), wanted(tokens=1)))
        return dict(gated.snapshot()["held_s"])

    held = simulate(main())
    assert 2.5 < held["retry_after"] <= 3.0
    assert held["tokens"] > 10
    assert held["concurrency"] > 1
    assert held["requests"] > 0.1
