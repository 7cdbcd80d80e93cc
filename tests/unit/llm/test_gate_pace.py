"""The pace, in simulated time."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streams.llm.gate_pace import Pace
from tests.unit.llm.simulated import simulate

# The clock of the tests ticks once per step of the loop.
SLACK = 1.001


async def taken(pace: Pace, amounts: list[float], pauses: list[float]) -> list[tuple[float, float]]:
    """When each amount was let through, one taker after another."""
    loop = asyncio.get_running_loop()
    begun, found = loop.time(), []
    for amount, pause in zip(amounts, pauses, strict=True):
        await asyncio.sleep(pause)
        await pace.take(amount)
        found.append((loop.time() - begun, amount))
    return found


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_no_stretch_of_time_lets_through_more_than_the_rate_and_one_period(
    data: st.DataObject,
) -> None:
    per_minute = data.draw(st.floats(1, 10_000))
    period_s = data.draw(st.sampled_from([0.1, 1.0]))
    count = data.draw(st.integers(1, 20))
    amounts = data.draw(st.lists(st.floats(0.5, 400), min_size=count, max_size=count))
    pauses = data.draw(st.lists(st.sampled_from([0.0, 0.05, 3.0]), min_size=count, max_size=count))
    pace = Pace(per_minute, period_s)
    passed = simulate(taken(pace, amounts, pauses))
    rate = per_minute / 60
    for first, (begin, _) in enumerate(passed):
        for last in range(first, len(passed)):
            through = sum(amount for _, amount in passed[first : last + 1])
            # The first of them may have been waiting, and paying, before the stretch began.
            allowed = pace.largest + rate * (passed[last][0] - begin) + passed[first][1]
            assert through <= allowed * SLACK


def test_a_minutes_worth_never_leaves_at_once() -> None:
    passed = simulate(taken(Pace(3_000, 0.1), [1.0] * 200, [0.0] * 200))
    first_second = sum(at < 1.0 for at, _ in passed)
    assert 50 <= first_second <= 55
    assert passed[-1][0] == pytest.approx((200 - 5) / 50, rel=0.01)


def test_more_than_a_period_holds_is_waited_for_bit_by_bit() -> None:
    """1,000 tokens a second, a call of 4,500: it goes when the last of them may."""
    ((at, _),) = simulate(taken(Pace(60_000, 1.0), [4_500.0], [0.0]))
    assert at == pytest.approx(3.5, rel=0.01)


def test_what_a_call_did_not_use_is_the_next_ones() -> None:
    async def main() -> tuple[float, float]:
        loop = asyncio.get_running_loop()
        pace = Pace(60_000, 1.0)
        await pace.take(1_000)
        begun = loop.time()
        pace.correct(estimated=1_000, actual=400)
        await pace.take(600)
        at_once = loop.time() - begun
        pace.correct(estimated=600, actual=1_600)
        await pace.take(0)
        return at_once, loop.time() - begun

    at_once, paid = simulate(main())
    assert at_once == pytest.approx(0, abs=0.01)
    assert paid == pytest.approx(1.0, rel=0.02), "what was used beyond the estimate is paid for"


def test_what_lies_unused_is_no_more_than_a_period() -> None:
    async def main() -> float:
        pace = Pace(60_000, 1.0)
        await pace.take(1_000)
        pace.correct(estimated=90_000, actual=0)
        begun = asyncio.get_running_loop().time()
        await pace.take(2_000)
        return asyncio.get_running_loop().time() - begun

    assert simulate(main()) == pytest.approx(1.0, rel=0.02)


def test_whoever_stops_waiting_leaves_it_to_the_next() -> None:
    async def main() -> float:
        loop = asyncio.get_running_loop()
        pace = Pace(60_000, 1.0)
        await pace.take(1_000)
        begun = loop.time()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(2.0):
                await pace.take(9_000)
        await pace.take(2_000)
        return loop.time() - begun

    # Two seconds let two thousand through, whoever waited for them.
    assert simulate(main()) == pytest.approx(2.0, rel=0.02)


def test_turned_away_it_slows_down_and_comes_back() -> None:
    pace = Pace(60, 0.1)
    shares = [pace.share]
    for _ in range(60):
        pace.turned_away()
        shares.append(pace.share)
    assert shares == sorted(shares, reverse=True)
    assert pace.share > 0, "it never stops"
    for _ in range(10_000):
        pace.answered()
    assert pace.share == 1.0


def test_at_half_the_pace_everything_takes_twice_as_long() -> None:
    pace = Pace(3_000, 0.1)
    pace.share = 0.5
    passed = simulate(taken(pace, [1.0] * 100, [0.0] * 100))
    assert passed[-1][0] == pytest.approx(100 / 25, rel=0.06)
