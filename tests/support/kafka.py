"""Topics of a test's own on the broker all tests share."""

import os
import uuid
from collections.abc import Mapping

from confluent_kafka.admin import AdminClient, NewTopic


class Topics:
    """Every name gets the same random prefix, so that tests cannot meet on one broker."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.prefix = f"t{uuid.uuid4().hex[:10]}-"
        self._admin = AdminClient({"bootstrap.servers": bootstrap})
        self._made: list[str] = []

    def make(
        self, *names: str, partitions: int = 4, config: Mapping[str, str] | None = None
    ) -> list[str]:
        """Create the topics and return their full names, in the order asked for."""
        full = [self.prefix + name for name in names]
        new = [NewTopic(name, partitions, 1, config=dict(config or {})) for name in full]
        for created in self._admin.create_topics(new).values():
            created.result(timeout=15)
        self._made += full
        return full

    def group(self, name: str = "group") -> str:
        """A consumer group or transactional id nobody else uses."""
        return self.prefix + name

    def delete(self) -> None:
        """What was made, and what a Quix app made under our prefix besides (changelogs)."""
        there = self._admin.list_topics(timeout=15).topics
        ours = [name for name in there if self.prefix in name]
        if ours:
            for deleted in self._admin.delete_topics(ours).values():
                deleted.exception(timeout=15)


def kafka_is_required() -> bool:
    return os.environ.get("REQUIRE_KAFKA") == "1"
