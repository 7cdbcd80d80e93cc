"""What goes into a handler and what comes out of it: bytes."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One record of the input topic. A tombstone's value is empty."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes
    headers: dict[str, bytes] = field(default_factory=dict)
    timestamp_ms: int = 0
    attempt: int = 1
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What a handler keeps from one attempt to the next. It dies with the process, and where the message
    moves to another owner."""


@dataclass(frozen=True, slots=True)
class Output:
    """One record to write, in the transaction that also marks its message as done."""

    topic: str
    key: bytes
    value: bytes
    headers: dict[str, bytes] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes on the wire, a little over: key, value, headers and the record's framing."""
        headers = sum(len(name) + len(value) + 10 for name, value in self.headers.items())
        return len(self.key) + len(self.value) + headers + 100


def checked(outputs: list[Output]) -> list[Output]:
    """What the producer can write. Found out here it costs one message, there the stage."""
    if not isinstance(outputs, list):
        raise TypeError(f"a handler returns a list of Output, not {type(outputs).__name__}")
    for output in outputs:
        fine = (
            isinstance(output, Output)
            and isinstance(output.topic, str)
            and isinstance(output.key, bytes)
            and isinstance(output.value, bytes)
            and all(isinstance(value, bytes) for value in output.headers.values())
        )
        if not fine:
            raise TypeError("an Output's topic is text; its key, value and header values are bytes")
    return outputs
