"""Entries without a broker."""

from topologies.async_stage.entry import Entry, Result
from topologies.async_stage.message import Message, Output
from topologies.async_stage.offset_codec import Progress
from topologies.async_stage.partition import Partition


def partition(number: int = 0) -> Partition:
    return Partition("input", number, 1, Progress(0))


def entry(offset: int, of: Partition | None = None, order: bytes | None = None) -> Entry:
    of = of or partition()
    key = str(offset).encode()
    return Entry(Message(of.topic, of.number, offset, key, b"value"), of, order)


def result(offset: int, of: Partition | None = None, size: int = 0) -> Result:
    return Result(entry(offset, of), [Output("output", b"", b"x" * size)] if size else [])


def offsets(results: list[Result]) -> list[int]:
    return [each.entry.message.offset for each in results]
