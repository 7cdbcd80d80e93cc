"""The lag that `up` shows, on Apache Kafka: also of a group that has not committed anything yet."""

from collections.abc import Callable

import pytest
from confluent_kafka import Consumer, TopicPartition

from ops.local.kafka import LocalKafka
from ops.local.lag import behind, lags
from tests.integration.test_local_kafka import produce
from tests.support.kafka import Topics
from tests.support.wait import until


def test_what_was_never_committed_is_behind_from_the_beginning() -> None:
    read = [("t", 0), ("t", 1), ("t", 2)]
    begins, ends = (
        {("t", 0): 0, ("t", 1): 10, ("t", 2): 5},
        {("t", 0): 7, ("t", 1): 30, ("t", 2): 9},
    )
    assert behind({}, read, begins, ends) == 7 + 20 + 4
    assert behind({("t", 0): 7, ("t", 1): 29}, read, begins, ends) == 0 + 1 + 4
    # What retention has taken cannot be read any more.
    assert behind({("t", 2): 1}, [("t", 2)], begins, ends) == 4


@pytest.mark.kafka
def test_a_group_that_has_read_and_not_committed_is_behind(
    kafka: LocalKafka, topics: Topics
) -> None:
    [topic], group = topics.make("lag", partitions=1), topics.group("lag")
    produce(kafka.bootstrap, topic, *[b"one"] * 5)
    reader = Consumer(
        {
            "bootstrap.servers": kafka.bootstrap, "group.id": group, "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )  # fmt: skip
    reader.subscribe([topic])
    try:
        until(_reads(reader), 20)
        assert lags(kafka.bootstrap)[group] == 5
        reader.commit(offsets=[TopicPartition(topic, 0, 2)], asynchronous=False)
        assert lags(kafka.bootstrap)[group] == 3
    finally:
        reader.close()
    assert lags(kafka.bootstrap)[group] == 3


def _reads(reader: Consumer) -> Callable[[], bool]:
    return lambda: reader.poll(0.2) is not None
