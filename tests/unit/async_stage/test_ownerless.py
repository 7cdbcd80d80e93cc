"""Partitions without an owner: who asks for a rebalance, and when."""

import itertools
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import ConsumerGroupState, KafkaError, KafkaException

from topologies.async_stage.ownerless import OwnerlessWatch, asks


@pytest.mark.parametrize(
    ("shares", "asker"),
    [
        ({}, None),
        ({"g-0": {0, 1}, "g-1": {2, 3}}, None),
        ({"g-0": {0, 1, 2, 3}, "g-1": set()}, None),
        ({"g-0": {0, 1}, "g-1": {2}}, "g-1"),
        ({"g-0": {0, 1}, "g-1": set()}, "g-1"),
        ({"g-1": {2}, "g-0": {0}}, "g-0"),
    ],
)
def test_the_one_with_the_least_to_give_up_asks(
    shares: dict[str, set[int]], asker: str | None
) -> None:
    assert asks(shares, 4) == asker


class Group:
    """What Kafka says of a group, as an admin client."""

    def __init__(self) -> None:
        self.shares = {"g-0": [0, 1], "g-1": [2]}
        self.state = ConsumerGroupState.STABLE
        self.away = False

    def describe_consumer_groups(self, groups: list[str], **_: Any) -> dict[str, Future[Any]]:
        members = [
            SimpleNamespace(
                group_instance_id=name,
                member_id="",
                assignment=SimpleNamespace(
                    topic_partitions=[SimpleNamespace(topic="in", partition=it) for it in share]
                ),
            )
            for name, share in self.shares.items()
        ]
        return {groups[0]: self._answer(SimpleNamespace(state=self.state, members=members))}

    def describe_topics(self, _: Any, **__: Any) -> dict[str, Future[Any]]:
        return {"in": self._answer(SimpleNamespace(partitions=range(4)))}

    def _answer(self, content: object) -> Future[Any]:
        future: Future[Any] = Future()
        if self.away:
            future.set_exception(KafkaException(KafkaError(KafkaError._TIMED_OUT)))
        else:
            future.set_result(content)
        return future


@pytest.fixture
def group() -> Group:
    return Group()


def asked_at(group: Group, me: str = "g-1", seconds: int = 30) -> list[int]:
    """The seconds at which this member is called on, one turn a second."""
    watch = OwnerlessWatch("g", "in", me, lambda: group, revoke_wait_s=3.0)  # type: ignore[arg-type,return-value]
    return [now for now in range(seconds) if watch.calls_us(now)]


def test_only_after_longer_than_a_move_takes_and_by_one_member_only(group: Group) -> None:
    (first, *_) = asked_at(group)
    assert first > 3 + 2
    assert asked_at(group, me="g-0") == []


@pytest.mark.parametrize("why_not", ["complete", "rebalancing", "away"])
def test_a_group_that_is_whole_or_busy_or_out_of_sight_is_left_alone(
    group: Group, why_not: str
) -> None:
    if why_not == "complete":
        group.shares["g-1"] = [2, 3]
    elif why_not == "rebalancing":
        group.state = ConsumerGroupState.PREPARING_REBALANCING
    else:
        group.away = True
    assert asked_at(group) == []


def test_a_move_that_completes_starts_the_clock_anew(group: Group) -> None:
    watch = OwnerlessWatch("g", "in", "g-1", lambda: group, revoke_wait_s=3.0)  # type: ignore[arg-type,return-value]
    for now in range(60):
        group.shares["g-1"] = [2] if now % 10 < 5 else [2, 3]
        assert not watch.calls_us(now)


def test_an_answer_that_never_comes_is_asked_for_again_through_a_new_client() -> None:
    """Its time must not run out at librdkafka, which then aborts the process."""
    asked: list[tuple[int, int]] = []

    class Silent(Group):
        def describe_consumer_groups(self, groups: list[str], **given: Any) -> dict[str, Any]:
            assert given["request_timeout"] >= 3_600
            asked.append((now, len(made)))
            return {groups[0]: Future()}

    made: list[Group] = []

    def admin() -> Any:
        made.append(Silent())
        return made[-1]

    watch = OwnerlessWatch("g", "in", "g-1", admin, revoke_wait_s=3.0)
    for now in range(150):
        assert not watch.calls_us(now)
    assert [client for _, client in asked] == [1, 2, 3]
    assert all(later - earlier > 60 for (earlier, _), (later, _) in itertools.pairwise(asked))
