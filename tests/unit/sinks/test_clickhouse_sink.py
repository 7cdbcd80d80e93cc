"""The sink without a server: when it writes, what it waits for, and what it forgets."""

import threading
from collections.abc import Mapping
from typing import Any

import pytest
from quixstreams.sinks import SinkBackpressureError

from sinks.batch import Source, TableRows
from sinks.clickhouse_sink import ClickHouseSink, Record, RefusedRecord
from sinks.rows.row import Place, Row
from sinks.writer import ClickHouseAway, Refused

WITHIN_S = 5.0


class FakeWriter:
    """Stores what it is given when it is let, or fails as told."""

    def __init__(self, *failures: Exception | None) -> None:
        self.failures = list(failures)
        self.stored: list[list[object]] = []
        self.refuses: set[object] = set()
        self.may_write = threading.Event()
        self.may_write.set()
        self.began = threading.Event()

    def write(self, tables: Mapping[str, TableRows]) -> list[Refused]:
        self.began.set()
        assert self.may_write.wait(WITHIN_S)
        if self.failures and (failure := self.failures.pop(0)):
            raise failure
        numbers = [row[0] for row in tables["a"].rows]
        self.stored.append(numbers)
        return [
            Refused("a", at, "no") for at, number in enumerate(numbers) if number in self.refuses
        ]


def sink_on(writer: Any, full_batch: int = 3, most_bytes: int = 1_000_000) -> ClickHouseSink:
    sink = ClickHouseSink(writer, kept.extend, most_bytes=most_bytes, full_batch=full_batch)
    kept.clear()
    return sink


kept: list[RefusedRecord] = []


def add(sink: ClickHouseSink, *numbers: int) -> None:
    for number in numbers:
        source = Source(Place("topic", 0, number), b"key", b"0123456789")
        sink.add(Record(source, [Row("a", {"x": number})]), b"key", 0, [], "topic", 0, number)


def test_a_checkpoint_that_is_not_full_is_one_write() -> None:
    writer = FakeWriter()
    sink = sink_on(writer)
    add(sink, 1, 2)
    assert writer.stored == []
    sink.flush()
    assert writer.stored == [[1, 2]]
    sink.flush()
    assert writer.stored == [[1, 2]]


def test_a_full_batch_is_written_while_the_next_is_read() -> None:
    writer = FakeWriter()
    writer.may_write.clear()
    sink = sink_on(writer)
    add(sink, 1, 2, 3)
    assert writer.began.wait(WITHIN_S)
    add(sink, 4, 5)
    assert (writer.stored, sink.buffered_bytes) == ([], 50)
    writer.may_write.set()
    sink.flush()
    assert writer.stored == [[1, 2, 3], [4, 5]]
    assert sink.buffered_bytes == 0


def test_a_third_batch_waits_for_the_first() -> None:
    writer = FakeWriter()
    writer.may_write.clear()
    sink = sink_on(writer)
    add(sink, 1, 2, 3, 4, 5)
    adding = threading.Thread(target=add, args=(sink, 6))
    adding.start()
    adding.join(0.05)
    assert adding.is_alive()
    writer.may_write.set()
    adding.join(WITHIN_S)
    assert writer.stored[0] == [1, 2, 3]
    sink.flush()
    assert writer.stored == [[1, 2, 3], [4, 5, 6]]


def test_bytes_fill_a_batch_too() -> None:
    writer = FakeWriter()
    sink = sink_on(writer, full_batch=1_000, most_bytes=40)
    add(sink, 1, 2, 3)
    sink.flush()
    assert writer.stored == [[1, 2], [3]]


@pytest.mark.parametrize("fails", [0, 1, 2])
def test_away_in_any_batch_of_a_checkpoint_sends_the_whole_checkpoint_back(fails: int) -> None:
    writer = FakeWriter(*[None] * fails, ClickHouseAway("gone", 7.0))
    sink = sink_on(writer)
    add(sink, *range(1, 9))
    with pytest.raises(SinkBackpressureError) as pressure:
        sink.flush()
    assert pressure.value.retry_after == 7.0
    assert sink.buffered_bytes == 0
    writer.stored.clear()
    add(sink, *range(1, 9))
    sink.flush()
    assert writer.stored == [[1, 2, 3], [4, 5, 6], [7, 8]]


def test_what_failed_before_a_pause_is_not_told_after_it() -> None:
    writer = FakeWriter(ClickHouseAway("gone", 1.0))
    sink = sink_on(writer)
    add(sink, 1, 2, 3, 4)
    sink.on_paused()
    sink.flush()
    add(sink, 1, 2)
    sink.flush()
    assert writer.stored == [[1, 2]]


def test_a_refused_row_of_any_batch_names_its_own_record() -> None:
    writer = FakeWriter()
    writer.refuses = {2, 5}
    sink = sink_on(writer)
    add(sink, 1, 2, 3, 4, 5)
    sink.flush()
    assert [one.place.offset for one in kept] == [2, 5]
    assert {one.table for one in kept} == {"a"}
