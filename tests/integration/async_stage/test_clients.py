"""Every client of the factory sends a key to the same partition, and Quix's reckoning agrees."""

import pytest

from tests.integration.async_stage.harness import Lane, running
from topologies import clients
from topologies.async_stage import AsyncStage, Message, Output
from topologies.partitioner import partition_of

pytestmark = pytest.mark.kafka

KEYS = [f"order-{number}".encode() for number in range(100)] + ["₹ ü".encode()]


def test_plain_transactional_and_stage_producers_agree(lane: Lane) -> None:
    plain, transactional, staged = lane.topics.make("plain", "transactional", "staged")
    producer = clients.producer(lane.bootstrap)
    for key in KEYS:
        producer.produce(plain, key=key, value=b"")
        producer.produce(lane.input, key=key, value=b"")
    producer.flush(30)
    atomic = clients.transactional_producer(lane.topics.group("app"), 0, lane.bootstrap)
    atomic.init_transactions(30)
    atomic.begin_transaction()
    for key in KEYS:
        atomic.produce(transactional, key=key, value=b"")
    atomic.commit_transaction(30)

    async def handler(message: Message) -> list[Output]:
        return [Output(staged, message.key or b"", b"")]

    with running(AsyncStage("keys", lane.input, handler, lane.settings())):
        for topic in (plain, transactional, staged):
            reader = lane.reader(topic)
            reader.until(len(KEYS))
            found = {record.key(): record.partition() for record in reader.records}
            assert found == {key: partition_of(key, lane.partitions) for key in KEYS}
