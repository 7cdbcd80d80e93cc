"""The sink's own figures: added up, told now and then, and at once when ClickHouse is back."""

import logging
from typing import Any

import pytest

from sinks.flush_log import FlushLog


class Clock:
    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def told(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [
        {name: record.__dict__.get(name) for name in ("flushes", "records", "rows", "bytes", "flush_p50_s", "flush_max_s", "behind_s", "waits")}
        for record in caplog.records if record.getMessage().startswith("stored")
    ]  # fmt: skip


def test_flushes_are_added_up_and_told_every_thirty_seconds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    clock, wall = Clock(), Clock(2_000.0)
    log = FlushLog(clock, wall)
    log.flushed(3, 7, 900, 0.1, 1_999_000)
    assert [one["rows"] for one in told(caplog)] == [7]
    for took_s in (0.1, 0.2, 0.9):
        clock.now += 9
        log.flushed(10, 20, 1_000, took_s, 1_990_000)
    assert len(told(caplog)) == 1
    clock.now += 9
    log.flushed(10, 20, 1_000, 0.2, 1_995_000)
    assert told(caplog)[1] == {
        "flushes": 4, "records": 40, "rows": 80, "bytes": 4_000, "flush_p50_s": 0.2, "flush_max_s": 0.9,
        "behind_s": 5.0, "waits": 0,
    }  # fmt: skip


def test_that_clickhouse_is_back_is_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    clock = Clock()
    log = FlushLog(clock, Clock())
    log.flushed(1, 1, 1, 0.1, None)
    for _ in range(3):
        clock.now += 2
        log.waits()
    clock.now += 1
    log.flushed(5, 5, 5, 0.1, 400_000)
    assert [record.__dict__.get("away_s") for record in caplog.records][1:2] == [5.0]
    assert [(one["waits"], one["rows"], one["behind_s"]) for one in told(caplog)] == [
        (0, 1, None),
        (3, 5, 600.0),
    ]
