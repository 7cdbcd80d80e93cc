"""600 calls at once against a provider that admits 50 a second, as `bench gate` runs it, in simulated time."""

import pytest

from ops.bench import gate
from tests.unit.llm.simulated import simulate


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_none_is_lost_none_comes_too_soon_and_the_limit_is_used(seed: int) -> None:
    found = simulate(gate.gate(600, 50.0, seed))
    assert found["lost"] == 0
    assert found["answered"] == 600
    assert found["goodput_of_limit"] >= 0.95
    assert found["too_soon"] == found["sent_while_closed"] == 0


@pytest.mark.parametrize("told", [1.1, 1.33, 2.0, 5.0])
def test_a_gate_that_was_told_too_much_finds_out_and_still_loses_none(told: float) -> None:
    found = simulate(gate.gate(600, 50.0, 1, told))
    assert found["lost"] == 0
    assert found["turned_away"] > 0
    assert found["too_soon"] == found["sent_while_closed"] == 0
    assert found["goodput_of_limit"] > 0.5
    assert found["pace_share"] < 1


def test_the_sdks_own_retries_lose_most_of_the_same_burst() -> None:
    found = simulate(gate.sdk_retries(600, 50.0, 1))
    assert found["lost"] > 300
    assert found["sent_while_closed"] > 0, "each call minds its own Retry-After and nobody else's"
