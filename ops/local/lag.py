"""How far each consumer group is behind: records between its commits and the topics' ends.

Transaction markers take offsets too and cannot be told from records here, so an idle group stays a
few above 0 on each topic that is written exactly-once: watch whether it grows."""

from collections.abc import Iterable, Mapping

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from ops.bounded_read import offsets
from topologies import clients

TIMEOUT_S = 10.0

Partition = tuple[str, int]


def lags(bootstrap: str | None = None) -> dict[str, int]:
    """Group → records not yet committed, over every partition of the topics it has committed for or is
    assigned now. A group that does neither has nothing to show: it never ran.

    Raises:
        KafkaException: the broker is away.
    """
    admin = clients.admin(bootstrap)
    groups = [
        group.group_id
        for group in admin.list_consumer_groups(request_timeout=TIMEOUT_S).result().valid
    ]
    committed = {group: _committed(admin, group) for group in groups}
    assigned = _assigned(admin, groups)
    known = admin.list_topics(timeout=TIMEOUT_S).topics
    read: dict[str, set[Partition]] = {}
    for group in groups:
        topics = {topic for topic, _ in (*committed[group], *assigned[group])}
        read[group] = {(t, p) for t in topics if t in known for p in known[t].partitions}
    wanted = [TopicPartition(*place) for place in set[Partition]().union(*read.values())]
    if not wanted:
        return dict.fromkeys(groups, 0)
    begins = offsets(wanted, OffsetSpec.earliest(), bootstrap)
    ends = offsets(wanted, OffsetSpec.latest(), bootstrap)
    return {group: behind(committed[group], read[group], begins, ends) for group in groups}


def behind(
    committed: Mapping[Partition, int],
    read: Iterable[Partition],
    begins: Mapping[Partition, int],
    ends: Mapping[Partition, int],
) -> int:
    """Records of `read` after what was committed; where nothing was, all there are: a group begins there."""
    return sum(max(0, ends[p] - max(committed.get(p, 0), begins[p])) for p in read)


def _committed(admin: AdminClient, group: str) -> dict[Partition, int]:
    asked = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(group)], request_timeout=clients.COORDINATOR_TIMEOUT_S
    )
    found = clients.answer(asked[group], TIMEOUT_S).topic_partitions
    return {(p.topic, p.partition): p.offset for p in found if p.offset >= 0}


def _assigned(admin: AdminClient, groups: list[str]) -> dict[str, set[Partition]]:
    if not groups:
        return {}
    asked = admin.describe_consumer_groups(groups, request_timeout=clients.COORDINATOR_TIMEOUT_S)
    return {
        group: {
            (p.topic, p.partition)
            for member in clients.answer(described, TIMEOUT_S).members
            if member.assignment is not None
            for p in member.assignment.topic_partitions
        }
        for group, described in asked.items()
    }
