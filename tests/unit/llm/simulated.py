"""The simulated loop for code that computes its waits in fractions.

A timer that is due a rounding error too early asks again for no time at all, and a clock that only
jumps would stand still there for ever; a real one has moved on by then.
"""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.unit.async_stage.simulated_time import JumpingSelector

T = TypeVar("T")

TICK_S = 1e-6


class TickingSelector(JumpingSelector):
    def select(self, timeout: float | None = None) -> list[Any]:
        found = super().select(timeout)
        self.now += TICK_S
        return found


class TickingLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self.selector = TickingSelector()
        super().__init__(self.selector)

    def time(self) -> float:
        return self.selector.now


def simulate(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=TickingLoop) as runner:
        return runner.run(main)
