"""What is done to the installation is recorded before it has an effect, and said where it cannot be."""

from datetime import UTC, datetime
from typing import Any

import pytest

from ops import operations, submitting
from ops.commands.reply import DEPENDENCY_DOWN, Failure
from schemas.operation import Operation
from streams.policies.loader import PackRegistry
from tests.unit.cli.calling import Cli

NOW = datetime(2026, 11, 30, tzinfo=UTC)


class Refusing:
    def send(self, *_: Any) -> None: ...

    def finish(self) -> None:
        raise submitting.NotTaken("Kafka did not take 1 records")


def test_a_reading_that_cannot_be_recorded_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitting, "Sender", Refusing)
    with pytest.raises(Failure, match="nothing is shown") as refused:
        operations.record_reading("d-1", "asha", "explain", NOW)
    assert refused.value.code == DEPENDENCY_DOWN


def test_without_kafka_no_words_are_shown_from_elsewhere(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUND_BENCH_BROKER", "127.0.0.1:1")
    assert cli("explain", "d-1", "--from", "clickhouse", "--json").code == DEPENDENCY_DOWN
    assert cli("explain", "d-1", "--from", "memory").code == 2


def test_a_pack_is_recorded_with_its_seal_and_its_prompts_under_one_id() -> None:
    packs = PackRegistry.load()
    first, again = (operations.packs_loaded(packs, "intake", NOW) for _ in range(2))
    assert [one.operation_id for one in first] == [one.operation_id for one in again]
    food = next(one for one in first if one.details["policy"] == "food-delivery")
    assert food.details["pack_hash"] == packs.latest("food-delivery").hash
    assert food.details["prompt:extraction"].startswith("sha256:")
    assert Operation.from_bytes(food.to_bytes()) == food


def test_an_unchanged_roles_file_is_no_change() -> None:
    one, two = (operations.roles_changed(b"[users]", "asha", NOW) for _ in range(2))
    assert one.operation_id == two.operation_id
    assert operations.roles_changed(b"[users]\n", "asha", NOW).operation_id != one.operation_id


def test_who_does_it_is_a_name_that_can_be_recorded() -> None:
    assert operations.actor("asha") == "asha"
    assert operations.actor("")
    for bad in ("two words", "x" * 201, "a\nb"):
        with pytest.raises(Failure, match="--as"):
            operations.actor(bad)
