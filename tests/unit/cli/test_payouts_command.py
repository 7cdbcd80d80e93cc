"""`payouts` before it reaches Kafka: who may be named, and how a reason is given."""

from pathlib import Path

import pytest

from tests.unit.cli.calling import Cli

ROLES = '[users.asha]\nroles = ["officer"]\n'


@pytest.fixture
def roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "roles.toml"
    file.write_text(ROLES)
    monkeypatch.setenv("REFUND_BENCH_ROLES", str(file))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "two words"), "--as"),
        (("--as", "payout"), "the app's own name"),
        (("--as", "ashaa"), "is not a user of"),
        (("--as", "asha", "--reason", "it broke"), "--reason: 'it broke' is not a code"),
    ],
)
@pytest.mark.parametrize("command", ["pause", "resume"])
def test_a_wrong_person_or_reason_is_named(
    roles: None, command: str, words: tuple[str, ...], said: str
) -> None:
    ended = Cli()("payouts", command, *words)
    assert ended.code == 2
    assert said in ended.err


def test_kafka_away_is_a_dependency_down(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFUND_BENCH_BROKER", "127.0.0.1:1")
    for words in (("state",), ("pause",), ("resume",)):
        assert Cli()("payouts", *words, "--json").json["exit_code"] == 3
