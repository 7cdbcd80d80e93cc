"""Runs calls that may block for long beside the thread that must not stop.

A transaction's calls block for as long as Kafka is away, whatever timeout they are given. A
consumer that is not polled meanwhile does not learn that its session ran out, and librdkafka then
presents itself to the returning coordinator as a stranger with our name: it fences itself.
"""

import queue
import threading
from collections.abc import Callable

Outcome = BaseException | None


class Aside:
    """One daemon thread, one call at a time."""

    def __init__(self, name: str) -> None:
        self._calls: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._outcomes: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def run(
        self, call: Callable[[], object], meanwhile: Callable[[], None], every_s: float
    ) -> None:
        """Wait for the call; while it takes long, `meanwhile` is called every so often."""
        self._calls.put(call)
        while True:
            try:
                outcome = self._outcomes.get(timeout=every_s)
            except queue.Empty:
                meanwhile()
                continue
            if outcome is not None:
                raise outcome
            return

    def close(self) -> None:
        """End the thread when its call has ended."""
        self._calls.put(None)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            outcome: Outcome = None
            try:
                call()
            except BaseException as error:
                outcome = error
            self._outcomes.put(outcome)
