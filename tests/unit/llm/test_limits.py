"""Limits from a file, and the part of them that one process may use."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.llm.gate_opening import open_gate
from streams.llm.limits import OrganisationLimits, read_limits
from streams.llm.limits_fleet import read_instances, share_of
from streams.llm.port import Misconfigured
from tests.unit.llm.simulated import simulate
from tests.unit.llm.support import NOON, answer, through, wanted

CALLERS = ("extraction", "judge-1", "judge-2", "judge-3", "letters")


def read(text: str, folder: Path, provider: str = "anthropic") -> OrganisationLimits:
    file = folder / "limits.toml"
    file.write_text(text, encoding="utf-8")
    return read_limits(
        provider, {"REFUND_BENCH_LLM_LIMITS": str(file)}, OrganisationLimits(concurrency=77)
    )


def test_the_file_wins_over_the_defaults_and_they_fill_in(tmp_path: Path) -> None:
    found = read("[anthropic]\nrequests_per_minute = 3000\nspend_per_day_usd = 12.5\n", tmp_path)
    assert found.requests_per_minute == 3_000
    assert found.concurrency == 77
    assert found.of_process(1.0).spend.day_micros == 12_500_000


def test_another_providers_table_is_none_of_ours(tmp_path: Path) -> None:
    assert read("[openai]\nrequests_per_minute = 5\n", tmp_path) == OrganisationLimits(
        concurrency=77
    )
    assert read_limits("anthropic", {}, OrganisationLimits()) == OrganisationLimits()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[anthropic]\nrequests_per_minute = 0\n", "requests_per_minute"),
        ("[anthropic]\nrequests_per_minute = 5.5\n", "requests_per_minute"),
        ('[anthropic]\nrequests_per_minute = "many"\n', "requests_per_minute"),
        ("[anthropic]\ntokens_per_minute = true\n", "tokens_per_minute"),
        ("[anthropic]\nspend_per_day_usd = inf\n", "spend_per_day_usd"),
        ("[anthropic]\nspend_per_day_usd = 0\n", "spend_per_day_usd"),
        ("[anthropic]\nrequest_per_minute = 5\n", "request_per_minute"),
        ("[antropic]\nspend_per_day_usd = 5\n", r"\[antropic\] is no provider"),
        ("anthropic = 5\n", r"\[anthropic\]"),
        ("not toml", "TOML"),
    ],
)
def test_what_is_wrong_is_said_by_variable_and_field(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(Misconfigured, match=f"REFUND_BENCH_LLM_LIMITS=.*{said}"):
        read(text, tmp_path)


def test_a_file_that_is_not_there_is_said() -> None:
    with pytest.raises(Misconfigured, match="REFUND_BENCH_LLM_LIMITS=/nowhere"):
        read_limits("x", {"REFUND_BENCH_LLM_LIMITS": "/nowhere"}, OrganisationLimits())


@given(
    st.lists(st.integers(1, 6), min_size=len(CALLERS), max_size=len(CALLERS)),
    st.sampled_from([(CALLERS,), tuple((each,) for each in CALLERS), (CALLERS[:1], CALLERS[1:])]),
)
def test_the_parts_of_a_fleet_add_up_to_the_whole(
    counts: list[int], processes: tuple[tuple[str, ...], ...]
) -> None:
    """Every stage with instances of its own, in one process with others or alone."""
    whole = 0.0
    for stages in processes:
        instances = dict(zip(CALLERS, counts, strict=True))
        together = instances[stages[0]]
        instances |= dict.fromkeys(stages, together)
        whole += together * share_of(stages, CALLERS, instances)
    assert whole == pytest.approx(1.0)


def test_a_seat_has_its_part_of_the_calls_divided_by_its_instances() -> None:
    instances = read_instances({"REFUND_BENCH_LLM_INSTANCES": "judge-1=3, letters=2"}, CALLERS)
    assert share_of(["judge-1"], CALLERS, instances) == pytest.approx(4 / 14 / 3)
    assert share_of(["judge-2"], CALLERS, instances) == pytest.approx(4 / 14)
    assert share_of(["letters"], CALLERS, instances) == pytest.approx(1 / 14 / 2)


def test_one_number_is_for_every_stage_and_none_is_one() -> None:
    assert set(read_instances({"REFUND_BENCH_LLM_INSTANCES": "4"}, CALLERS).values()) == {4}
    assert set(read_instances({}, CALLERS).values()) == {1}


def test_a_stage_that_calls_another_provider_is_no_part_of_this_one() -> None:
    said = {"REFUND_BENCH_LLM_INSTANCES": "judge-1=2,judge-3=5"}
    assert read_instances(said, ("judge-3",)) == {"judge-3": 5}


@pytest.mark.parametrize("said", ["0", "-1", "two", "1.5", "judge-1=0", "judge-1=", "judge=2",
                                  "settlement=2", "judge-1=2;letters=1", "²"])  # fmt: skip
def test_an_impossible_number_of_instances_is_said(said: str) -> None:
    with pytest.raises(Misconfigured, match="REFUND_BENCH_LLM_INSTANCES="):
        read_instances({"REFUND_BENCH_LLM_INSTANCES": said}, CALLERS)


def test_more_processes_than_calls_at_a_time_is_said() -> None:
    with pytest.raises(Misconfigured, match="concurrency = 4"):
        OrganisationLimits(concurrency=4).of_process(1 / 8)
    assert OrganisationLimits(concurrency=49).of_process(1 / 49).concurrency == 1


def test_a_gate_opens_with_its_part_of_everything_and_keeps_its_book(tmp_path: Path) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text("[anthropic]\nconcurrency = 140\nspend_per_day_usd = 14\n")
    environment = {
        "REFUND_BENCH_LLM_LIMITS": str(limits),
        "REFUND_BENCH_LLM_INSTANCES": "judge-2=2",
        "REFUND_BENCH_ORDINAL": "1",
    }

    async def main() -> dict[str, int]:
        gated = open_gate(
            "anthropic",
            environment,
            tmp_path,
            stages=["judge-2"],
            callers=CALLERS,
            now=lambda: NOON,
            timeout_s=30.0,
        )
        await through(gated, answer(cost_micros=700), wanted(cost_micros=900))
        return gated.snapshot()

    first = simulate(main())
    assert first["concurrency_limit"] == 20
    assert first["spend_limit_day_micros"] == 2_000_000
    assert (tmp_path / "llm-spend" / "anthropic.judge-2.1.sqlite").exists()
    assert simulate(main())["spent_today_micros"] == 1_400
