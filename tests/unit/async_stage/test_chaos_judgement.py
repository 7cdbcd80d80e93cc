"""Why a call was made again: the judgement that `chaos stage` and the kill tests rest on."""

import json
from pathlib import Path
from typing import Any

import pytest

from ops.chaos.stage_fleet import Fleet

DEAD, ALIVE = 100, 200


class Story:
    """What the processes write down, line by line."""

    def __init__(self, folder: Path) -> None:
        self.fleet = Fleet("", "in", "out", "dead", "", folder)
        self.fleet.killed_at[DEAD] = 50.0
        self.now = 0.0

    def tell(self, pid: int, what: str, **facts: Any) -> "Story":
        self.now += 1
        line = {"what": what, "pid": pid, "at": self.now, **facts}
        with self.fleet.journal.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        return self

    def begin(self, pid: int, key: str = "a") -> "Story":
        return self.tell(pid, "begin", key=key, partition=3)

    def end(self, pid: int, key: str = "a") -> "Story":
        return self.tell(pid, "end", key=key)

    def commit(self, pid: int, *keys: str) -> "Story":
        return self.tell(pid, "commit", began=self.now + 0.5, keys=list(keys))

    def causes(self) -> list[str]:
        return [cause for cause, _, _ in self.fleet.repeats()]


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path)


def test_a_call_under_way_at_a_kill(story: Story) -> None:
    story.begin(DEAD).commit(DEAD, "b").begin(ALIVE)
    assert story.causes() == ["killed"]
    assert story.fleet.unexcused() == []


def test_a_result_on_its_way_at_a_kill_however_long_the_last_commit_took(story: Story) -> None:
    """It ended while a commit was being filled, and that commit is the last that went through."""
    story.begin(DEAD).end(DEAD).commit(DEAD, "b").begin(ALIVE)
    assert story.causes() == ["killed"]


def test_a_result_that_commit_after_commit_left_out(story: Story) -> None:
    story.begin(DEAD).end(DEAD).commit(DEAD, "b").commit(DEAD, "c").begin(ALIVE)
    assert story.causes() == ["passed over"]


def test_a_call_whose_result_was_committed(story: Story) -> None:
    story.begin(DEAD).end(DEAD).commit(DEAD, "a").begin(ALIVE)
    assert story.causes() == ["committed"]


@pytest.mark.parametrize("how", ["revoked", "lost"])
def test_a_partition_that_left_with_its_calls_unfinished(story: Story, how: str) -> None:
    """Also when its process was killed later: it was not the kill that cost the call."""
    story.begin(DEAD).tell(DEAD, how, partitions=[2, 3]).begin(ALIVE)
    assert story.causes() == [how]
    assert len(story.fleet.unexcused()) == 1


def test_a_partition_that_left_another_way_is_no_cause(story: Story) -> None:
    story.begin(DEAD).tell(DEAD, "revoked", partitions=[2]).begin(ALIVE)
    assert story.causes() == ["killed"]


def test_a_living_process_that_let_go_of_a_call(story: Story) -> None:
    story.begin(ALIVE).begin(ALIVE + 1)
    assert story.causes() == ["dropped"]


def test_the_journal_is_read_as_it_grows(story: Story) -> None:
    story.begin(DEAD).end(DEAD)
    assert (story.fleet.finished(), len(story.fleet.calls())) == (1, 1)
    with story.fleet.journal.path.open("a") as file:
        file.write('{"what": "begin", "pid": 200, "at"')
    assert len(story.fleet.calls()) == 1, "a line is read when it is whole"
    with story.fleet.journal.path.open("a") as file:
        file.write(': 9.0, "key": "b", "partition": 0}\n')
    assert [call.key for call in story.fleet.calls()] == ["a", "b"]
