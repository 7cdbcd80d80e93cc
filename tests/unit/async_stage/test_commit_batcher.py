"""When to commit, and what."""

from tests.unit.async_stage.helpers import offsets, partition, result
from topologies.async_stage.commit_batcher import CommitBatcher, CommitLimits

LIMITS = CommitLimits(least_interval_s=0.02, results=3, bytes=1_000)


def filled(count: int, size: int = 0) -> CommitBatcher:
    batcher = CommitBatcher(LIMITS)
    for offset in range(count):
        batcher.add(result(offset, size=size))
    return batcher


def test_without_results_no_commit_is_due() -> None:
    assert CommitBatcher(LIMITS).wait_s(100.0) is None


def test_the_first_result_is_committed_at_once() -> None:
    assert filled(1).wait_s(100.0) == 0


def test_two_commits_begin_no_closer_than_the_least_interval() -> None:
    batcher = filled(1)
    batcher.committed(batcher.take(100.0))
    batcher.add(result(9))
    wait = batcher.wait_s(100.005)
    assert wait is not None
    assert abs(wait - 0.015) < 1e-9
    assert batcher.wait_s(100.02) == 0


def test_a_commit_is_bounded_in_results_and_in_bytes() -> None:
    assert offsets(filled(5).take(0.0)) == [0, 1, 2]
    assert offsets(filled(5, size=350).take(0.0)) == [0, 1]
    assert offsets(filled(5, size=5_000).take(0.0)) == [0], "one always goes"


def test_aborted_results_go_first_and_wait_longer_each_time() -> None:
    batcher = filled(4)
    waits = []
    for _ in range(8):
        batch = batcher.take(100.0)
        assert offsets(batch) == [0, 1, 2]
        batcher.aborted(batch, 100.0)
        waits.append(round(batcher.wait_s(100.0) or 0.0, 6))
    assert waits == sorted(waits)
    assert waits[0] == LIMITS.first_backoff_s
    assert waits[-1] == LIMITS.longest_backoff_s


def test_isolated_results_commit_one_by_one_until_they_are_through() -> None:
    batcher = filled(5)
    batch = batcher.take(0.0)
    batcher.aborted(batch, 0.0)
    batcher.isolate(len(batch))
    sizes = []
    while len(batcher):
        batch = batcher.take(1.0)
        batcher.committed(batch)
        sizes.append(len(batch))
    assert sizes == [1, 1, 1, 2]


def test_results_of_a_lost_partition_are_forgotten() -> None:
    batcher = CommitBatcher(LIMITS)
    ours, theirs = partition(0), partition(1)
    for offset in range(3):
        batcher.add(result(offset, ours))
        batcher.add(result(offset + 10, theirs))
    removed = batcher.remove(lambda each: each.entry.partition is theirs)
    assert offsets(removed) == [10, 11, 12]
    assert offsets(batcher.take(0.0)) == [0, 1, 2]
