"""One assignment of one partition: its tracker, and what was read but not handed over yet."""

from collections import deque

from confluent_kafka import TopicPartition

from topologies.async_stage.message import Message
from topologies.async_stage.offset_codec import Progress
from topologies.async_stage.offset_tracker import OffsetTracker


class Partition:
    """A partition that comes back after a rebalance is another object: late results find out."""

    def __init__(self, topic: str, number: int, epoch: int, committed: Progress | None) -> None:
        self.topic = topic
        self.number = number
        self.epoch = epoch
        self.tracker = OffsetTracker(committed)
        self.committed = committed
        self.buffer: deque[Message] = deque()
        self.paused = False
        self.live = True
        self.running = 0  # calls; counted on the loop

    def at(self, offset: int | None = None) -> TopicPartition:
        """As Kafka's clients name it."""
        if offset is None:
            return TopicPartition(self.topic, self.number)
        return TopicPartition(self.topic, self.number, offset)
