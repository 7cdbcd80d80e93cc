"""Partitions that no member of the group has, and who asks for the rebalance that mends it.

A partition moves in two steps: a rebalance in which its owner is told to give it up, and another,
asked for by that owner once it has, in which the new one gets it. When the owner dies between the two
and is back within its session, the group (its members are static) gives it what the first step left
it, and nobody asks for the second: the partition would have no owner until some session runs out.
"""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final

from confluent_kafka import ConsumerGroupState, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from topologies import clients

_LOOK_EVERY_S: Final = 3.0
_SECOND_STEP_S: Final = 2.0  # from a partition given up to its new owner, in a healthy group
_ANSWER_WITHIN_S: Final = 60.0  # for Kafka's answer; then a new client asks anew

Shares = dict[str, set[int]]


def asks(shares: Shares, partitions: int) -> str | None:
    """The member that has to ask for a rebalance, the one with the least to give up; else None."""
    owned = set().union(*shares.values())
    if not shares or len(owned) >= partitions:
        return None
    return min(shares, key=lambda member: (len(shares[member]), member))


class OwnerlessWatch:
    """One stage's view of its group; used by its Kafka thread, which it never keeps waiting."""

    def __init__(
        self,
        group: str,
        topic: str,
        me: str,
        admin: Callable[[], AdminClient],
        revoke_wait_s: float,
    ) -> None:
        self._group = group
        self._topic = topic
        self._me = me
        self._make_admin = admin
        self._admin: AdminClient | None = None
        self._patience_s = revoke_wait_s + _SECOND_STEP_S
        self._asked: tuple[Future[Any], Future[Any]] | None = None
        self._asked_at = 0.0
        self._next_at: float | None = None
        self._since: float | None = None

    def calls_us(self, now: float) -> bool:
        """Whether partitions have been ownerless for too long, and it is for us to ask."""
        if self._asked is None:
            if self._next_at is None:
                self._next_at = now + _LOOK_EVERY_S
            if now >= self._next_at:
                self._ask(now)
            return False
        if not all(answer.done() for answer in self._asked):
            if now - self._asked_at > _ANSWER_WITHIN_S:
                self._admin, self._asked = None, None
            return False
        asker = self._answered(*self._asked)
        self._asked, self._next_at = None, now + _LOOK_EVERY_S
        if asker is None:
            self._since = None
            return False
        self._since = now if self._since is None else self._since
        if now - self._since < self._patience_s or asker != self._me:
            return False
        self._since = None
        return True

    def _ask(self, now: float) -> None:
        self._asked_at = now
        self._admin = self._admin or self._make_admin()
        groups = self._admin.describe_consumer_groups(
            [self._group], request_timeout=clients.COORDINATOR_TIMEOUT_S
        )
        topics = self._admin.describe_topics(
            TopicCollection([self._topic]), request_timeout=_ANSWER_WITHIN_S
        )
        self._asked = groups[self._group], topics[self._topic]

    def _answered(self, group: Future[Any], topic: Future[Any]) -> str | None:
        try:
            found, partitions = group.result(), len(topic.result().partitions)
        except KafkaException:
            return None  # Kafka is away, or busy: the next look tells
        if found.state != ConsumerGroupState.STABLE:
            return None
        shares = {
            member.group_instance_id or member.member_id: {
                each.partition
                for each in member.assignment.topic_partitions
                if each.topic == self._topic
            }
            for member in found.members
        }
        return asks(shares, partitions)
