"""Which offsets of one partition are unfinished, and what a commit may therefore say.

Offsets come in ascending order with gaps: transaction markers, aborted records and what
compaction removed are never delivered. An offset that was passed over holds no work, so it
counts as finished; that makes "everything delivered so far except the unfinished" the whole
state, and its size the number of messages in flight.
"""

from collections import OrderedDict, deque
from collections.abc import Collection, Iterable
from enum import Enum

from topologies.async_stage.offset_codec import Progress


class Arrival(Enum):
    """What a delivered offset is to us."""

    NEW = "new"
    DONE = "done"  # finished before the restart: not to be done again
    DUPLICATE = "duplicate"  # delivered before in this assignment
    REWOUND = "rewound"  # below what was committed: the log was replaced, start over from here


class OffsetTracker:
    """One assignment of one partition."""

    def __init__(self, committed: Progress | None = None) -> None:
        self._start: int | None = committed.position if committed else None
        self._next = committed.position if committed else 0
        self._done_ahead: deque[int] = deque(committed.finished_above() if committed else ())
        self._unfinished: OrderedDict[int, None] = OrderedDict()

    @property
    def lowest(self) -> int:
        """The lowest unfinished offset, or the next one expected."""
        return next(iter(self._unfinished), self._next)

    @property
    def span(self) -> int:
        """How many offsets lie between the lowest unfinished one and the last delivered."""
        return self._next - self.lowest

    @property
    def has_unfinished(self) -> bool:
        """Whether anything delivered is unfinished."""
        return bool(self._unfinished)

    @property
    def unfinished(self) -> list[int]:
        """The offsets delivered and not finished, ascending."""
        return list(self._unfinished)

    def fits(self, offset: int, span: int) -> bool:
        """Whether admitting this offset keeps the span of unfinished offsets within bounds."""
        return not self._unfinished or offset - self.lowest < span

    def admit(self, offset: int) -> Arrival:
        """Take note of a delivered offset."""
        if self._start is None:
            self._start = self._next = offset
        if offset < self._start:
            return Arrival.REWOUND
        if offset < self._next:
            return Arrival.DUPLICATE
        self._next = offset + 1
        done = False
        while self._done_ahead and self._done_ahead[0] <= offset:
            done = self._done_ahead.popleft() == offset
        if done:
            return Arrival.DONE
        self._unfinished[offset] = None
        return Arrival.NEW

    def progress(self, finishing: Collection[int] = ()) -> Progress:
        """What to commit when these offsets finish with it."""
        remaining = [offset for offset in self._unfinished if offset not in finishing]
        position = remaining[0] if remaining else self._next
        if not remaining:
            for offset in self._done_ahead:
                if offset != position:
                    break
                position += 1
        top = self._next - 1
        for offset in reversed(remaining):
            if offset != top:
                break
            top -= 1
        bits = bytearray()
        if remaining and top > position:
            bits = bytearray(b"\xff" * ((top - position) // 8 + 1))
            _clear(bits, (offset - position for offset in remaining if offset < top))
            _clear(bits, range(top - position + 1, 8 * len(bits)))
        _set(bits, (offset - position for offset in self._done_ahead if offset >= position))
        return Progress(position, bytes(bits))

    def finish(self, offsets: Iterable[int]) -> None:
        """These offsets' results are committed."""
        for offset in offsets:
            self._unfinished.pop(offset, None)


def _clear(bits: bytearray, places: Iterable[int]) -> None:
    for place in places:
        bits[place >> 3] &= ~(1 << (place & 7)) & 0xFF


def _set(bits: bytearray, places: Iterable[int]) -> None:
    for place in places:
        if place >> 3 >= len(bits):
            bits.extend(bytes((place >> 3) + 1 - len(bits)))
        bits[place >> 3] |= 1 << (place & 7)
