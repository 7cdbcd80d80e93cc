"""Reads what Kafka holds now, from a start to the end at the time of asking, and then stops.

Committed records only, no consumer group, nothing committed: any number of people may read at once.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson
from confluent_kafka import IsolationLevel, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import OffsetSpec

from schemas.topics import PARTITIONS, Topic
from topologies import clients
from topologies.partitioner import partition_of

ANSWER_WITHIN_S = 8.0
_NO_LEADER_YET = (KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE)
READ_WITHIN_S = 120.0
FIRST_LOOK_BACK = 5_000
"""Offsets of a partition's end looked at first; most questions are about something recent."""


class Unfinished(RuntimeError):
    """The broker stopped answering before the end was reached."""


@dataclass(frozen=True)
class Span:
    """Offsets [start, end) of a partition."""

    topic: str
    partition: int
    start: int
    end: int


@dataclass(frozen=True)
class Found:
    """One record."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    at: datetime
    """The broker's time of it."""
    headers: dict[str, bytes]


Keep = Callable[[Found], bool]


def partition_for(topic: Topic, key: str) -> tuple[str, int]:
    """The partition in which records with this key stand."""
    return topic.name, partition_of(key.encode(), PARTITIONS)


def named(identifier: str) -> bytes:
    """How an id stands in the bytes of an event: a quotation mark in it is escaped there."""
    return orjson.dumps(identifier)


def every_partition(topic: Topic) -> list[tuple[str, int]]:
    return [(topic.name, number) for number in range(PARTITIONS)]


def spans(
    places: Iterable[tuple[str, int]],
    since: datetime | None = None,
    bootstrap: str | None = None,
) -> list[Span]:
    """What the partitions hold, from the first record at or after `since`.

    Raises:
        KafkaException: the broker is away, or there is no such topic.
    """
    wanted = [TopicPartition(topic, number) for topic, number in dict.fromkeys(places)]
    begin = (
        OffsetSpec.for_timestamp(int(since.timestamp() * 1000)) if since else OffsetSpec.earliest()
    )
    starts = offsets(wanted, begin, bootstrap)
    ends = offsets(wanted, OffsetSpec.latest(), bootstrap)
    found = [Span(*place, starts[place], ends[place]) for place in ends]
    # A negative start: no record is as young as `since`.
    return [span for span in found if 0 <= span.start < span.end]


def offsets(
    partitions: list[TopicPartition], spec: OffsetSpec, bootstrap: str | None = None
) -> dict[tuple[str, int], int]:
    """Topic and partition → the offset that `spec` asks for, of committed records. Asked again while a leader
    takes its place, as it does in a new topic and after a restart.

    Raises:
        KafkaException: the broker is away, or there is no such topic.
    """
    admin = clients.admin(bootstrap)  # its answers die with it
    give_up_at = time.monotonic() + ANSWER_WITHIN_S
    while True:
        answers = admin.list_offsets(
            dict.fromkeys(partitions, spec),
            isolation_level=IsolationLevel.READ_COMMITTED,
            request_timeout=ANSWER_WITHIN_S,
        )
        try:
            return {
                (place.topic, place.partition): clients.answer(told, ANSWER_WITHIN_S + 2).offset
                for place, told in answers.items()
            }
        except KafkaException as error:
            if error.args[0].code() not in _NO_LEADER_YET or time.monotonic() > give_up_at:
                raise
        time.sleep(0.1)


def read(wanted: list[Span], keep: Keep, within_s: float = READ_WITHIN_S) -> list[Found]:
    """The records of the spans that `keep` wants, in order of partition and offset.

    Raises:
        Unfinished: the end was not reached in time.
        KafkaException: a partition cannot be read.
    """
    found = [one for one in stream(wanted, within_s) if keep(one)]
    return sorted(found, key=lambda one: (one.topic, one.partition, one.offset))


def stream(
    wanted: list[Span], within_s: float = READ_WITHIN_S, bootstrap: str | None = None
) -> Iterator[Found]:
    """The records of the spans one at a time, in order within each partition; nothing is kept.

    Raises:
        Unfinished: the end was not reached in time.
        KafkaException: a partition cannot be read.
    """
    if not wanted:
        return
    open_ends = {(span.topic, span.partition): span.end for span in wanted}
    ends_are_told: clients.Config = {"enable.partition.eof": True}
    consumer = clients.consumer("refund-bench.cli", bootstrap=bootstrap, **ends_are_told)
    try:
        consumer.assign([TopicPartition(span.topic, span.partition, span.start) for span in wanted])
        give_up = time.monotonic() + within_s
        while open_ends:
            if time.monotonic() > give_up:
                raise Unfinished(
                    f"Kafka did not give everything within {within_s:.0f} s; "
                    f"{len(open_ends)} partitions are unfinished"
                )
            for message in consumer.consume(1_000, 0.1):
                one = _take(message, open_ends)
                if one is not None:
                    yield one
    finally:
        consumer.close()


def _take(message: Any, open_ends: dict[tuple[str, int], int]) -> Found | None:
    """The record if it lies within its span; notes where a span's end was reached."""
    place = (message.topic(), message.partition())
    error = message.error()
    if error is not None:
        if error.code() != KafkaError._PARTITION_EOF:
            raise KafkaException(error)
        open_ends.pop(place, None)  # what follows the last record is a transaction's marker
        return None
    end = open_ends.get(place)
    if end is None:
        return None
    if message.offset() >= end - 1:
        del open_ends[place]
    return _record(message) if message.offset() < end else None


def _record(message: Any) -> Found:
    _, milliseconds = message.timestamp()
    return Found(
        topic=message.topic(),
        partition=message.partition(),
        offset=message.offset(),
        key=message.key(),
        value=message.value(),
        at=datetime.fromtimestamp(max(milliseconds, 0) / 1000, UTC),
        headers={name: value or b"" for name, value in message.headers() or ()},
    )


def read_all(places: Iterable[tuple[str, int]], keep: Keep) -> list[Found]:
    """Everything in these partitions that `keep` wants."""
    return read(spans(places), keep)


def newest(place: tuple[str, int], keep: Keep) -> Found | None:
    """The last record of a partition that `keep` wants, looked for from the end backwards."""
    for whole in spans([place]):
        end, step = whole.end, FIRST_LOOK_BACK
        while end > whole.start:
            start = max(whole.start, end - step)
            found = read([Span(*place, start, end)], keep)
            if found:
                return found[-1]
            end, step = start, step * 4
    return None
