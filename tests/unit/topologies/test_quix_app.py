"""The factory's promises about state: Quix's own name for it, and no start on another set of inputs."""

import importlib
from pathlib import Path
from typing import Any

import pytest

from schemas.topics import BY_NAME, DEADLINES, DECISIONS, PARTITIONS, RULINGS, TIMERS, VERDICTS
from tests.unit.topologies.broker_free import an_application
from topologies.keyed_stage import KeyedStage
from topologies.quix_app import (
    COMMIT_INTERVAL_S,
    InputSetChanged,
    application,
    changelog,
    check_inputs,
    check_partitions,
    group,
)
from topologies.settings import Settings

# Frozen: Quix names a stage's changelog after its inputs, and another set starts with empty state.
INPUTS = {
    "intake": {"complaints", "evidence", "deadlines"},
    "tally": {"rulings", "deadlines"},
    "settlement": {"dockets", "verdicts", "reviews", "decisions", "payments", "deadlines"},
    "allowance": {"proposals", "deadlines"},
    "ledger": {
        "disputes", "dockets", "verdicts", "decisions", "payments", "letter-requests", "letters",
        "receipts", "reviews", "operations",
    },
}  # fmt: skip
every_stage = pytest.mark.parametrize("name", INPUTS)


def stage(name: str, settings: Settings) -> KeyedStage[Any]:
    return importlib.import_module(f"topologies.{name}").stage(settings)


@every_stage
def test_the_inputs_of_a_stage_are_frozen(name: str, settings: Settings) -> None:
    assert {topic.name for topic in stage(name, settings).inputs} == INPUTS[name]


@every_stage
def test_the_changelogs_name_is_the_one_quix_gives_it(
    name: str, settings: Settings, tmp_path: Path
) -> None:
    keyed = stage(name, settings)
    app = an_application(name, tmp_path, changelogs=True)
    keyed.wire(app)
    made = [
        topic.name
        for stores in app._topic_manager.changelog_topics.values()
        for topic in stores.values()
    ]
    assert made == [changelog(name, keyed.inputs)]


@every_stage
def test_no_stage_aligns_its_inputs(name: str, settings: Settings, tmp_path: Path) -> None:
    app = an_application(name, tmp_path)
    stage(name, settings).wire(app)
    assert app._dataframe_registry.requires_time_alignment is False


def test_a_changed_input_set_is_refused() -> None:
    kept = changelog("tally", (RULINGS, DEADLINES))
    check_inputs("tally", (DEADLINES, RULINGS), {kept, "rulings"})
    with pytest.raises(InputSetChanged, match="its old inputs back"):
        check_inputs("tally", (RULINGS, DEADLINES, VERDICTS), {kept})
    with pytest.raises(InputSetChanged):
        check_inputs("tally", (RULINGS,), {kept})


def test_a_first_start_and_another_stages_changelog_are_no_change() -> None:
    check_inputs("tally", (RULINGS, DEADLINES), set())
    check_inputs("tally", (RULINGS, DEADLINES), {changelog("allowance", (DECISIONS,))})
    assert changelog("tally", (RULINGS,)) != changelog("tally-2", (RULINGS,))


def test_a_missing_topic_or_another_partition_count_is_refused() -> None:
    right = {TIMERS.name: PARTITIONS}
    check_partitions(right, (TIMERS,))
    with pytest.raises(InputSetChanged, match="topics create"):
        check_partitions({}, (TIMERS,))
    with pytest.raises(InputSetChanged, match="keys would move"):
        check_partitions({TIMERS.name: PARTITIONS + 1}, (TIMERS,))


def test_every_setting_that_keeps_it_exact_and_quick(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUND_BENCH_ORDINAL", "2")
    config = application("tally", settings).config
    assert config.processing_guarantee == "exactly-once"
    assert config.auto_offset_reset == "earliest"
    assert config.auto_create_topics is False
    assert config.commit_interval == COMMIT_INTERVAL_S == 0.1
    assert config.consumer_poll_timeout == 0.05
    assert config.state_dir == settings.state_dir / "tally-2"
    consumer, producer = config.consumer_extra_config, config.producer_extra_config
    assert consumer["group.instance.id"] == f"{group('tally')}-2"
    assert consumer["isolation.level"] == "read_committed"
    assert consumer["session.timeout.ms"] == 6_000
    assert producer["partitioner"] == "murmur2_random"
    assert producer["transactional.id"].endswith(f"{group('tally')}-2")
    assert 10_000 <= producer["transaction.timeout.ms"] <= 15_000


def test_every_input_is_a_topic_of_the_contract() -> None:
    assert {name for inputs in INPUTS.values() for name in inputs} <= set(BY_NAME)
