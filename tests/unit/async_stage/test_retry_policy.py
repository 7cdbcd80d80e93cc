"""Full jitter under a doubling ceiling; Retry-After obeyed and capped."""

import random

import hypothesis.strategies as st
from hypothesis import given

from topologies.async_stage.retry_policy import RetryPolicy


@given(st.integers(1, 1_000), st.integers())
def test_the_delay_is_within_the_ceiling(attempt: int, seed: int) -> None:
    delay = RetryPolicy(rng=random.Random(seed)).delay_s(attempt)
    assert 0 <= delay <= min(8, 2 ** min(attempt - 1, 10))


def test_the_jitter_is_full() -> None:
    policy = RetryPolicy(rng=random.Random(1))
    delays = [policy.delay_s(4) for _ in range(2_000)]
    assert min(delays) < 0.1
    assert max(delays) > 7.9


@given(st.floats(0, 30), st.integers(1, 50))
def test_retry_after_is_obeyed(after_s: float, attempt: int) -> None:
    delay = RetryPolicy().delay_s(attempt, after_s)
    assert after_s <= delay <= after_s * 1.1


@given(st.floats(30, 1e9))
def test_retry_after_is_capped(after_s: float) -> None:
    assert RetryPolicy().delay_s(1, after_s) <= 33


def test_a_negative_retry_after_is_now() -> None:
    assert RetryPolicy().delay_s(1, -5.0) == 0
