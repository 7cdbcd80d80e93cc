"""Optional order: of the messages with one key, one at a time and in the order they came."""

from collections import deque

from topologies.async_stage.entry import Entry
from topologies.async_stage.partition import Partition


class KeyOrder:
    """Who stands behind whom. Entries without an order key never wait."""

    def __init__(self) -> None:
        self._behind: dict[bytes, deque[Entry]] = {}
        self._head: dict[bytes, Entry] = {}
        self.blocked = 0

    def enter(self, entry: Entry) -> bool:
        """Whether this entry may go at once; otherwise `leave` hands it out later."""
        if entry.order is None:
            return True
        if entry.order not in self._head:
            self._head[entry.order] = entry
            return True
        self._behind.setdefault(entry.order, deque()).append(entry)
        self.blocked += 1
        return False

    def leave(self, entry: Entry) -> Entry | None:
        """The entry is settled or dropped; the next of its key may go."""
        if entry.order is None or self._head.get(entry.order) is not entry:
            return None
        behind = self._behind.get(entry.order)
        if not behind:
            del self._head[entry.order]
            return None
        follower = behind.popleft()
        self.blocked -= 1
        if not behind:
            del self._behind[entry.order]
        self._head[entry.order] = follower
        return follower

    def forget(self, gone: set[Partition]) -> None:
        """Drop the waiting entries of partitions that are no longer ours."""
        for key, behind in list(self._behind.items()):
            kept = deque(entry for entry in behind if entry.partition not in gone)
            self.blocked -= len(behind) - len(kept)
            if kept:
                self._behind[key] = kept
            else:
                del self._behind[key]
