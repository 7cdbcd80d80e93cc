"""Processes die at every moment; a read_committed reader sees one output per input."""

import random
from collections.abc import Callable

import pytest

from ops.chaos.stage_fleet import Fleet
from tests.integration.async_stage.harness import Lane, exactly_once
from tests.support.wait import until

pytestmark = pytest.mark.kafka

MakeFleet = Callable[..., Fleet]


def test_kill_9_at_random_points_of_two_instances(lane: Lane, fleet: MakeFleet) -> None:
    """Six kills over 400 messages; the hundred are `refund-bench chaos stage --kills 100`."""
    sent = lane.send(range(400))
    it = fleet()
    rng = random.Random(7)
    reader = lane.reader()
    for ordinal in (0, 1):
        it.start(ordinal)
    for kill in range(6):
        it.until_calls(len(it.calls()) + rng.randint(5, 40))
        ordinal = kill % 2
        it.kill(ordinal)
        it.start(ordinal)
    reader.until(400)
    exactly_once(sent, reader.to_the_end())
    assert it.unexcused() == []
    assert it.repeated() <= 6 * 40, "slots and what waited for its commit, no more"


@pytest.mark.long
def test_a_kill_between_the_two_steps_of_a_move_leaves_no_partition_without_an_owner(
    lane: Lane, fleet: MakeFleet
) -> None:
    """Killed while it gives partitions up, and back before its session runs out: the group has
    given it what it would have kept, and nobody would ask for the rest."""
    sent = lane.send(range(60))
    it = fleet(seconds=(1.5, 2.0))
    it.start(0)
    it.until_calls(20)
    it.start(1)
    until(lambda: "assigned" in (it.folder / "log-1").read_text())
    it.kill(0)
    it.start(0)
    reader = lane.reader()
    reader.until(60)
    exactly_once(sent, reader.to_the_end())
    assert {move["pid"] for move in it.journal.read().moves} >= {each.pid for each in it.everyone}
    assert it.unexcused() == []


@pytest.mark.parametrize("when", ["before", "after"])
def test_kill_9_at_the_commit(lane: Lane, fleet: MakeFleet, when: str) -> None:
    """Between send-offsets and commit; and after it, before anybody learnt of its success."""
    sent = lane.send(range(100))
    it = fleet()
    it.start(0, fault={"commit": 4, "when": when, "signal": "SIGKILL"})
    assert it.note_death(0) == -9
    reader = lane.reader()
    it.start(0)
    reader.until(100)
    exactly_once(sent, reader.to_the_end())
    assert it.unexcused() == []


def test_two_processes_with_one_name_the_older_exits_as_fenced(
    lane: Lane, fleet: MakeFleet
) -> None:
    sent = lane.send(range(200))
    it = fleet(seconds=(0.2, 0.4))
    older = it.start(0)
    it.until_calls(20)
    newer = it.start(0)
    assert older.wait(30) == 4
    reader = lane.reader()
    reader.until(200)
    exactly_once(sent, reader.to_the_end())
    assert newer.poll() is None
    assert it.terminate(0) == 0


@pytest.mark.parametrize(
    "moment",
    [
        "before the commit",
        pytest.param("in a call", marks=pytest.mark.long),
        pytest.param("after the commit", marks=pytest.mark.long),
    ],
)
def test_a_frozen_process_that_wakes_after_its_partitions_moved_writes_nothing(
    lane: Lane, fleet: MakeFleet, moment: str
) -> None:
    sent = lane.send(range(120))
    it = fleet(seconds=(0.4, 0.8))
    fault = None
    if moment != "in a call":
        fault = {"commit": 3, "when": moment.split()[0], "signal": "SIGSTOP"}
    quick = {"transaction.timeout.ms": 7_000, "message.timeout.ms": 7_000}
    frozen = it.start(0, fault=fault, producer=quick)
    if moment == "in a call":
        it.until_calls(40)
        frozen.send_signal(19)
    until(lambda: is_stopped(frozen.pid))
    it.start(1)
    reader = lane.reader()
    reader.until(120, timeout_s=60)
    records_before = reader.to_the_end()
    frozen.send_signal(18)
    sent += lane.send(range(120, 160))
    reader.until(160, timeout_s=60)
    exactly_once(sent, reader.to_the_end())
    assert records_before == reader.keys[: len(records_before)]


def is_stopped(pid: int) -> bool:
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "T"


def test_sigterm_finishes_what_runs_and_exits_0(lane: Lane, fleet: MakeFleet) -> None:
    sent = lane.send(range(80))
    it = fleet(seconds=(0.3, 0.6))
    it.start(0)
    it.until_calls(30)
    assert it.terminate(0) == 0
    reader = lane.reader()
    done = len(reader.to_the_end())
    assert done == len(it.calls()), "every call that began is written"
    it.start(0)
    reader.until(80)
    exactly_once(sent, reader.to_the_end())
    assert it.repeated() == 0
    assert it.terminate(0) == 0


def test_sigterm_abandons_what_outlasts_the_grace(lane: Lane, fleet: MakeFleet) -> None:
    sent = lane.send(range(40))
    it = fleet(seconds=(20, 20), settings={"grace_s": 0.5})
    it.start(0)
    it.until_calls(20)
    assert it.terminate(0, timeout_s=5) == 0
    it.seconds = (0.01, 0.02)
    it.start(0)
    reader = lane.reader()
    reader.until(40)
    exactly_once(sent, reader.to_the_end())
