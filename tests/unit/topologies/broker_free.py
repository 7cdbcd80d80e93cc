"""A Quix application without a broker: records in by hand, what it produces caught, its state in a folder."""

from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from quixstreams import Application
from quixstreams.context import set_message_context
from quixstreams.models import MessageContext
from quixstreams.models.topics import TopicConfig, TopicManager

from schemas.base import Model
from schemas.topics import PARTITIONS
from topologies.keyed_stage import STATE_KEY, KeyedStage
from topologies.partitioner import partition_of
from topologies.quix_app import group

NOW = datetime(2026, 9, 18, 17, 0, tzinfo=UTC)


class FakeAdmin:
    """Says of every topic that it is there, with our partitions."""

    def inspect_topics(self, names: list[str], timeout: float = 0) -> dict[str, TopicConfig]:
        config = {"retention.ms": "-1", "retention.bytes": "-1", "max.message.bytes": "2097152"}
        there = TopicConfig(num_partitions=PARTITIONS, replication_factor=1, extra_config=config)
        return dict.fromkeys(names, there)


@dataclass(frozen=True)
class Produced:
    """One record as it would reach the broker."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Any = field(default=None, compare=False)


def an_application(stage: str, folder: Path, changelogs: bool = False) -> Application:
    """An application that never connects."""
    return Application(
        broker_address="127.0.0.1:1",
        consumer_group=group(stage),
        auto_create_topics=False,
        use_changelog_topics=changelogs,
        state_dir=folder,
        topic_manager=TopicManager(FakeAdmin(), consumer_group=group(stage)),  # type: ignore[arg-type]
        loglevel=None,
    )


class Bench:
    """One keyed stage, wired as in production."""

    def __init__(self, stage: KeyedStage[Any], folder: Path) -> None:
        self.app = an_application(stage.name, folder)
        stage.wire(self.app)
        self.produced: list[Produced] = []
        self.app._producer.produce = self._catch  # type: ignore[method-assign]
        self._frames = self.app._dataframe_registry.compose_all()
        self.app._processing_context.init_checkpoint()
        self._offset = 0
        self.stream_id = next(iter(self.app._state_manager.stores))
        self._assigned: set[int] = set()

    def _catch(
        self,
        topic: str,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: Any = None,
        **_: Any,
    ) -> None:
        self.produced.append(Produced(topic, key, value, headers))

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        partition: int | None = None,
        at: datetime = NOW,
        headers: list[tuple[str, bytes]] | None = None,
    ) -> list[Produced]:
        """One input record; what it made the stage produce."""
        if partition is None:
            partition = partition_of(key or b"", PARTITIONS)
        self._assign(partition)
        before = len(self.produced)
        context = MessageContext(topic=topic, partition=partition, offset=self._offset, size=0)
        self._offset += 1
        inside = copy_context()
        inside.run(set_message_context, context)
        inside.run(self._frames[topic], value, key, int(at.timestamp() * 1000), headers or [])
        return self.produced[before:]

    def send_event(self, topic: str, key: str, event: Model, **more: Any) -> list[Produced]:
        return self.send(topic, key.encode(), event.to_bytes(), **more)

    def state(self, key: str) -> bytes | None:
        """The state kept under a key, as bytes."""
        partition = partition_of(key.encode(), PARTITIONS)
        self._assign(partition)
        transaction = self.app._processing_context.checkpoint.get_store_transaction(
            stream_id=self.stream_id, partition=partition
        )
        found: bytes | None = transaction.get_bytes(STATE_KEY, prefix=key.encode())
        return found

    def _assign(self, partition: int) -> None:
        if partition not in self._assigned:
            self.app._state_manager.on_partition_assign(self.stream_id, partition, {})
            self._assigned.add(partition)

    def close(self) -> None:
        self.app._state_manager.close()
