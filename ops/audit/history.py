"""The events of some disputes, read once, by dispute and topic, for whoever recounts them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ops.audit.stored import Stored
from schemas.topics import Topic


@dataclass(frozen=True)
class Told:
    """One event and the record it came as."""

    event: Any
    record: Stored


class History:
    """Everything known of some disputes, each record once."""

    def __init__(self, records: Iterable[Stored]) -> None:
        self._told: dict[tuple[str, str], list[Told]] = {}
        self.erased: set[str] = set()
        """Disputes of which an event was erased: nothing can be recounted without it."""
        unique = {record.place: record for record in records}
        for record in sorted(unique.values(), key=lambda one: one.place):
            if record.erased:
                self.erased.add(record.chain)
            event = record.event()
            if event is not None:
                topic = record.place.topic
                self._told.setdefault((record.chain, topic), []).append(Told(event, record))

    def of(self, dispute_id: str, topic: Topic) -> list[Told]:
        """The events of a topic about a dispute, in the order of their places."""
        return self._told.get((dispute_id, topic.name), [])

    def first(self, dispute_id: str, topic: Topic) -> Told | None:
        return next(iter(self.of(dispute_id, topic)), None)

    def every(self, topic: Topic) -> list[Told]:
        """The events of a topic about any dispute, in the order of their places."""
        found = [
            told for (_, name), all_ in self._told.items() if name == topic.name for told in all_
        ]
        return sorted(found, key=lambda told: told.record.place)
