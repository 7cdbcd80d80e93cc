"""The concurrency limit that finds itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.llm.gate_concurrency import DECREASE, STEPS_TO_CEILING, ConcurrencyLimit

EVENTS = st.lists(
    st.tuples(st.sampled_from(["full", "slack", "congested"]), st.floats(0.01, 5.0)), max_size=300
)


@given(st.integers(1, 500), EVENTS)
def test_it_stays_between_one_and_the_ceiling_and_moves_the_right_way(
    ceiling: int, events: list[tuple[str, float]]
) -> None:
    limit = ConcurrencyLimit(ceiling)
    now = 0.0
    for kind, passed in events:
        before = limit.now
        now += passed
        if kind == "congested":
            assert limit.congested(now, now)
            assert limit.now == max(1, int(before * DECREASE))
        else:
            limit.succeeded(before if kind == "full" else before - 1)
            assert before <= limit.now <= before + max(1, ceiling // STEPS_TO_CEILING)
            if kind == "slack":
                assert limit.now == before, "a limit that was not reached was not tried"
        assert 1 <= limit.now <= ceiling


@given(st.integers(2, 500), st.integers(1, 500))
def test_one_congestion_lowers_it_once_however_many_calls_tell_of_it(
    ceiling: int, told: int
) -> None:
    limit = ConcurrencyLimit(ceiling)
    assert limit.congested(started_at=1.0, now=2.0)
    lowered = limit.now
    assert not any(limit.congested(started_at=1.5, now=2.0 + each) for each in range(told))
    assert limit.now == lowered
    assert limit.events == 1
    assert limit.congested(started_at=2.5, now=3.0)


@given(st.integers(1, 500))
def test_it_comes_back_to_the_ceiling_from_the_floor(ceiling: int) -> None:
    limit = ConcurrencyLimit(ceiling)
    for each in range(100):
        limit.congested(each, each)
    assert limit.now == 1
    windows = 0
    while limit.now < ceiling:
        windows += 1
        for _ in range(limit.now):
            limit.succeeded(limit.now)
        assert windows <= 2 * STEPS_TO_CEILING


def test_a_window_is_as_many_successes_as_the_limit() -> None:
    limit = ConcurrencyLimit(20)
    limit.congested(0, 0)
    assert limit.now == 16
    for _ in range(15):
        limit.succeeded(16)
    assert limit.now == 16
    limit.succeeded(16)
    assert limit.now == 17


def test_a_limit_that_was_not_reached_is_not_raised() -> None:
    limit = ConcurrencyLimit(20)
    limit.congested(0, 0)
    for _ in range(200):
        limit.succeeded(15)
    assert limit.now == 16


def test_a_ceiling_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        ConcurrencyLimit(0)
