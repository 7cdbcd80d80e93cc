"""How much work to let in, and which partitions to stop reading."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Admission:
    """Bounds that keep the slots full and the memory small.

    Pausing makes librdkafka throw away what it fetched, so a little is buffered first and a
    paused partition is resumed well before it has room for everything again.
    """

    slots: int
    prefetch: int
    span: int
    max_waiting: int
    buffer: int = 64

    def room(self, running: int, queued: int, waiting: int) -> int:
        """How many more messages to hand over: the slots, a little more, never without bound."""
        if waiting >= self.max_waiting:
            return 0
        return max(0, self.slots + self.prefetch - running - queued)

    def pauses(self, buffered: int) -> bool:
        """Whether a partition with this many messages it cannot hand over stops being read."""
        return buffered >= self.buffer

    def resumes(self, buffered: int) -> bool:
        """Whether a paused partition is read again."""
        return buffered <= self.buffer // 4
