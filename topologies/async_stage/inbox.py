"""Results on their way from the calls on the loop to the Kafka thread."""

import queue
from collections.abc import Iterator

from topologies.async_stage.entry import Result


class Inbox:
    """Filled from any thread, emptied by one. None is a nudge: there is something to do."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Result | None] = queue.SimpleQueue()

    @property
    def empty(self) -> bool:
        """Whether nothing is there now."""
        return self._queue.empty()

    def put(self, result: Result | None) -> None:
        """Add a result, or nudge."""
        self._queue.put(result)

    def take(self, wait_s: float = 0.0) -> Iterator[Result]:
        """What is there, after waiting for the first at most so many seconds."""
        try:
            result = self._queue.get(timeout=wait_s) if wait_s > 0 else self._queue.get_nowait()
            while True:
                if result is not None:
                    yield result
                result = self._queue.get_nowait()
        except queue.Empty:
            return
