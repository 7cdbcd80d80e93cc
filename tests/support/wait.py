"""Wait for a condition, never for a while."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def until(condition: Callable[[], T], timeout_s: float = 15.0, every_s: float = 0.02) -> T:
    """The first truthy answer; an AssertionError with the last one when time is up."""
    deadline = time.monotonic() + timeout_s
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"still {answer!r} after {timeout_s} s")
        time.sleep(every_s)
    return answer
