"""Where topics end, asked of the broker: what proves to somebody who follows them that nothing was missed."""

import time
from typing import Any, Final

from confluent_kafka import IsolationLevel, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

ASK_EVERY_S: Final = 1.0

Place = tuple[str, int]
"""Topic and partition."""


def ask_ends(admin: AdminClient, places: list[TopicPartition]) -> dict[TopicPartition, Any]:
    """Futures of where the partitions end, open transactions included: who has read so far has seen
    whatever any of them came to."""
    wanted = [TopicPartition(place.topic, place.partition) for place in places]
    asked: dict[TopicPartition, Any] = admin.list_offsets(
        dict.fromkeys(wanted, OffsetSpec.latest()),
        isolation_level=IsolationLevel.READ_UNCOMMITTED,
        request_timeout=3.0,
    )
    return asked


class TopicEnds:
    """Where do the topics end? Asked again and again; an answer counts from the moment it was asked."""

    def __init__(self, admin: AdminClient, places: list[TopicPartition]) -> None:
        self._admin = admin
        self._places = places
        self._answers: dict[TopicPartition, Any] = {}
        self._ends: dict[Place, int] | None = None
        self._asked_at = -ASK_EVERY_S

    def answered(self, reached: dict[Place, int]) -> float | None:
        """When the last question was asked, once everything up to its answer has been read.

        Raises:
            KafkaException: the broker would not say.
        """
        now = time.monotonic()
        if self._ends is None and self._answers and all(f.done() for f in self._answers.values()):
            self._ends = {
                (place.topic, place.partition): answer.result().offset
                for place, answer in self._answers.items()
            }
        ends = self._ends
        through = ends is not None and all(
            reached.get(place, 0) >= end for place, end in ends.items()
        )
        if (not self._answers or through) and now - self._asked_at >= ASK_EVERY_S:
            told = self._asked_at if through else None
            self._asked_at, self._ends = now, None
            self._answers = ask_ends(self._admin, self._places)
            return told
        return self._asked_at if through else None
