"""One assignment of one partition: its tracker, its messages, and what it inherits.

Three ends. Revoked: another instance has it, what is not committed is cancelled. Lost while we were
cut off from Kafka: suspended, since most often it comes back to us. Its running calls go on and
their results wait; nothing is written unless the partition is ours again and the committed
offsets say that the message is still unfinished. Rewound: the log was replaced, all is void.
"""

import threading
from collections import deque
from typing import TYPE_CHECKING

from confluent_kafka import TopicPartition

from topologies.async_stage.message import Message
from topologies.async_stage.offset_codec import Progress
from topologies.async_stage.offset_tracker import OffsetTracker

if TYPE_CHECKING:
    from topologies.async_stage.entry import Entry, Result


class Partition:
    """A partition that comes back after a rebalance is another object: late results find out.

    The Kafka thread owns it; only `running` is counted on the loop.
    """

    def __init__(
        self,
        topic: str,
        number: int,
        epoch: int,
        committed: Progress | None,
        predecessor: "Partition | None" = None,
    ) -> None:
        self.topic = topic
        self.number = number
        self.epoch = epoch
        self.tracker = OffsetTracker(committed)
        self.buffer: deque[Message] = deque()
        self.paused = False
        self.live = True
        self.suspended = False
        self.running = 0
        self.entries: dict[int, Entry] = {}
        self.predecessor = predecessor
        self.withdrawn = threading.Event()
        self.stranded: dict[int, Result] = predecessor.stranded if predecessor else {}

    def at(self, offset: int | None = None) -> TopicPartition:
        """As Kafka's clients name it."""
        if offset is None:
            return TopicPartition(self.topic, self.number)
        return TopicPartition(self.topic, self.number, offset)

    @property
    def ready(self) -> bool:
        """Whether its messages may be admitted: its predecessor begins no more calls."""
        return self.predecessor is None or self.predecessor.withdrawn.is_set()

    def finish(self, offset: int) -> None:
        """The message's result is committed."""
        self.tracker.finish((offset,))
        self.entries.pop(offset, None)

    def suspend(self) -> None:
        """Cut off from Kafka: write nothing, keep what is done and what runs."""
        self.live = False
        self.suspended = True
        self.buffer.clear()
        if self.predecessor is not None:
            for entry in self.predecessor.entries.values():
                entry.partition = self
            self.entries = {**self.predecessor.entries, **self.entries}
            self.predecessor = None

    def inherited(self, offset: int) -> "Entry | None":
        """The call for this message that an earlier assignment began and that still counts."""
        if self.predecessor is None:
            return None
        entry = self.predecessor.entries.pop(offset, None)
        return None if entry is None or entry.dropped else entry
