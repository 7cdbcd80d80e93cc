"""`refund-bench stub` refuses what it cannot serve, by name and with the remedy."""

import pytest

from tests.unit.cli.calling import Cli


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--faults", "htlm=0.1"), "'htlm' is no fault; there are"),
        (("--faults", "html"), "has no share; write NAME=SHARE"),
        (("--faults", "html=2"), "shares.html"),
        (("--latency", "soon"), "write seconds as 1.5"),
        (("--rpm", "60", "--admit-per-s", "1"), "give one of them"),
        (("--script", "/nowhere/script.jsonl"), "cannot be read"),
    ],
)
def test_a_wrong_flag_is_refused_before_anything_is_served(
    flags: tuple[str, ...], said: str
) -> None:
    ended = Cli()("stub", *flags)
    assert ended.code == 2
    assert said in ended.err


@pytest.mark.parametrize("command", ["demo", "up"])
def test_a_stub_for_a_model_that_makes_no_calls_is_refused(command: str) -> None:
    ended = Cli()(command, "--provider", "offline-rules", "--stub")
    assert ended.code == 2
    assert "choose anthropic or openai" in ended.err
