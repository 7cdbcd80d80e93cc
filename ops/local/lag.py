"""How far each consumer group is behind: records between its commits and the topics' ends.

Transaction markers take offsets too and cannot be told from records here, so an idle group stays a
few above 0 on each topic that is written exactly-once: watch whether it grows."""

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import OffsetSpec

from topologies import clients

TIMEOUT_S = 10.0


def lags(bootstrap: str | None = None) -> dict[str, int]:
    """Group → records not yet committed, over the partitions it has committed for."""
    admin = clients.admin(bootstrap)
    groups = [
        group.group_id
        for group in admin.list_consumer_groups(request_timeout=TIMEOUT_S).result().valid
    ]
    committed: dict[str, list[TopicPartition]] = {}
    for group in groups:
        asked = admin.list_consumer_group_offsets(
            [ConsumerGroupTopicPartitions(group)], request_timeout=TIMEOUT_S
        )
        committed[group] = [p for p in asked[group].result().topic_partitions if p.offset >= 0]
    wanted = {(p.topic, p.partition) for partitions in committed.values() for p in partitions}
    if not wanted:
        return dict.fromkeys(groups, 0)
    ends = admin.list_offsets(
        {TopicPartition(topic, partition): OffsetSpec.latest() for topic, partition in wanted},
        request_timeout=TIMEOUT_S,
    )
    end = {(p.topic, p.partition): found.result().offset for p, found in ends.items()}
    return {
        group: sum(max(0, end[p.topic, p.partition] - p.offset) for p in partitions)
        for group, partitions in committed.items()
    }
