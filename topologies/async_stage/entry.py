"""A message on its way through the stage, and its result."""

import asyncio
from dataclasses import dataclass, field

from topologies.async_stage.message import Message, Output
from topologies.async_stage.partition import Partition


@dataclass(slots=True, eq=False)
class Entry:
    """One admitted message. It belongs to one assignment of its partition and dies with it."""

    message: Message
    partition: Partition
    order: bytes | None = None
    deadline_at: float = 0.0
    first_started_at: float | None = None
    dropped: bool = False
    counted_in: Partition | None = None
    task: asyncio.Task[None] | None = None


@dataclass(slots=True, eq=False)
class Result:
    """What an entry came to: the records to write with its offset."""

    entry: Entry
    outputs: list[Output] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Bytes to write."""
        return sum(output.size for output in self.outputs)
