"""The partitions that are ours, from the rebalance callback to the first message and back.

What was committed is looked up outside the callback, before the partition is given to the
consumer: an open transaction of its last owner may hold the answer for seconds, and the
partition must not be read until it is known.
"""

import itertools
import logging
import time
from collections.abc import Iterable
from typing import Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_INVALID,
    Consumer,
    KafkaException,
    TopicPartition,
)

from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.errors import BrokerUnavailable
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.offset_codec import Progress, decode
from topologies.async_stage.partition import Partition

LOG = logging.getLogger("refund_bench.async_stage")

_LOOKUP_TIMEOUT_S: Final = 0.25
_LOOKUP_PAUSE_S: Final = 0.1
_COMPLAIN_EVERY_S: Final = 5.0

Place = tuple[str, int]


class Assignments:
    """One stage's partitions; used by its Kafka thread only."""

    def __init__(self, patience_s: float, metrics: StageMetrics) -> None:
        self._metrics = metrics
        self._patience_s = patience_s
        self._epochs = itertools.count(1)
        self._unresolved: set[Place] = set()
        self._unresolved_since = 0.0
        self._next_lookup_at = 0.0
        self._complained_at = 0.0
        self._suspended: dict[Place, tuple[float, Partition]] = {}
        self.owned: dict[Place, Partition] = {}

    @property
    def resolving(self) -> bool:
        """Whether some partition's committed offset is still to be looked up."""
        return bool(self._unresolved)

    @property
    def stranded(self) -> int:
        """Results put aside until their partition comes back."""
        earlier = [partition for _, partition in self._suspended.values()]
        return sum(len(each.stranded) for each in [*earlier, *self.owned.values()])

    def assigned(self, partitions: list[TopicPartition], now: float) -> None:
        """These are ours from now on."""
        if partitions and not self._unresolved:
            self._unresolved_since = now
        self._unresolved.update((each.topic, each.partition) for each in partitions)
        self._next_lookup_at = now

    def removed(self, partitions: list[TopicPartition]) -> list[Partition]:
        """These are no longer; gives back those that were being worked on."""
        gone = []
        for each in partitions:
            place = (each.topic, each.partition)
            self._unresolved.discard(place)
            partition = self.owned.pop(place, None)
            if partition is not None:
                partition.live = False
                gone.append(partition)
        return gone

    def suspended(self, partitions: list[TopicPartition], now: float) -> list[Partition]:
        """These were lost while we were cut off; they may come back."""
        gone = self.removed(partitions)
        for partition in gone:
            partition.suspend()
            self._suspended[partition.topic, partition.number] = (now, partition)
        return gone

    def expired(self, now: float) -> list[Partition]:
        """Suspended partitions that did not come back in all the time Kafka is given."""
        places = [
            place for place, (since, _) in self._suspended.items() if now - since > self._patience_s
        ]
        return [self._suspended.pop(place)[1] for place in places]

    def late(self, result: Result) -> None:
        """Its partition is not ours now: put it aside if it may count again, else drop it."""
        partition = result.entry.partition
        if partition.suspended:
            partition.stranded[result.entry.message.offset] = result
        else:
            self._metrics.late_results_dropped += 1

    def named(self, partitions: list[TopicPartition]) -> list[Partition]:
        """Those of them that are being worked on."""
        places = ((each.topic, each.partition) for each in partitions)
        return [self.owned[place] for place in places if place in self.owned]

    def resolve(self, consumer: Consumer, now: float) -> list[Entry]:
        """Look up what was committed and begin to read.

        Gives back calls of ours that somebody else finished while we were cut off.
        """
        if not self._unresolved or now < self._next_lookup_at:
            return []
        found = committed(consumer, self._unresolved)
        overtaken: list[Entry] = []
        for place, progress in found.items():
            self._unresolved.discard(place)
            _, earlier = self._suspended.pop(place, (0.0, None))
            if earlier is not None and progress is not None:
                done = [offset for offset in earlier.entries if progress.finished(offset)]
                overtaken += [earlier.entries.pop(offset) for offset in done]
            self.owned[place] = Partition(*place, next(self._epochs), progress, earlier)
        if found:
            consumer.incremental_assign(
                [
                    TopicPartition(*place, progress.position if progress else OFFSET_BEGINNING)
                    for place, progress in found.items()
                ]
            )
        self._next_lookup_at = time.monotonic() + _LOOKUP_PAUSE_S
        if self._unresolved and now - self._complained_at > _COMPLAIN_EVERY_S:
            self._complained_at = now
            LOG.warning("%d partitions wait for their committed offset", len(self._unresolved))
        if self._unresolved and now - self._unresolved_since > self._patience_s:
            raise BrokerUnavailable("the committed offsets cannot be read")
        return overtaken

    def rewound(self, partition: Partition) -> Partition:
        """The log was replaced by a shorter one: a new assignment with nothing done."""
        partition.live = False
        fresh = Partition(partition.topic, partition.number, next(self._epochs), None)
        fresh.buffer, partition.buffer = partition.buffer, fresh.buffer
        fresh.paused = partition.paused
        self.owned[partition.topic, partition.number] = fresh
        return fresh


def committed(consumer: Consumer, places: Iterable[Place]) -> dict[Place, Progress | None]:
    """What is committed, of those partitions for which Kafka says so now."""
    asked = [TopicPartition(*place) for place in places]
    try:
        answers = consumer.committed(asked, timeout=_LOOKUP_TIMEOUT_S)
    except KafkaException as exception:
        LOG.debug("committed offsets are not to be had yet: %s", exception.args[0].str())
        return {}
    found: dict[Place, Progress | None] = {}
    for answer in answers:
        if answer.error is not None:
            LOG.debug("committed offset is not to be had yet: %s", answer.error.str())
        elif answer.offset == OFFSET_INVALID:
            found[answer.topic, answer.partition] = None
        else:
            progress = decode(answer.offset, answer.metadata)
            found[answer.topic, answer.partition] = progress
    return found
