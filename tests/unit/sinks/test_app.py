"""Quix dataframes, without a broker: every topic ends in the sink, unreadable records end nowhere."""

import logging
from contextvars import copy_context
from typing import Any

import pytest
from quixstreams import Application
from quixstreams.context import set_message_context
from quixstreams.models import MessageContext
from quixstreams.models.topics import TopicConfig

from sinks.app import build, read
from sinks.clickhouse_sink import Record, RefusedRecord, stop_at_refused
from sinks.connection import Address
from sinks.rows.projections import PROJECTIONS, projections
from sinks.rows.row import Place
from tests.unit.sinks.sample_events import KEY, WORDS, DisputeEvents

NOWHERE = Address("127.0.0.1", 1)
DISPUTES = next(one for one in PROJECTIONS if one.topic == "disputes")


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Application:
    """An application that takes the broker's word on topics from us."""
    app = Application(
        broker_address="127.0.0.1:1", consumer_group="test", auto_create_topics=False, loglevel=None
    )
    there = TopicConfig(num_partitions=12, replication_factor=1)
    monkeypatch.setattr(
        app._topic_manager._admin,
        "inspect_topics",
        lambda names, timeout=None: dict.fromkeys(names, there),
    )
    return app


def test_a_record_of_every_topic_reaches_the_sink(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    sink = build(app, KEY, stop_at_refused, NOWHERE)
    added: list[tuple[Record, str, int, int]] = []

    def add(
        value: Any, key: Any, timestamp: int, headers: Any, topic: str, partition: int, offset: int
    ) -> None:
        added.append((value, topic, partition, offset))

    monkeypatch.setattr(sink, "add", add)
    frames = app._dataframe_registry.compose_all()
    for topic, events in DisputeEvents().with_complaint().items():
        context = MessageContext(topic=topic, partition=3, offset=41, size=1)
        _run(frames[topic], events[0].to_bytes(), context)
        _run(frames[topic], None, context)
        _run(frames[topic], b"{}", context)
        value, *place = added.pop()
        assert place == [topic, 3, 41]
        assert value.source.place == Place(topic, 3, 41)
        assert value.rows
        assert added == []


def _run(frame: Any, value: bytes | None, context: MessageContext) -> None:
    inside = copy_context()
    inside.run(set_message_context, context)
    inside.run(frame, value, b"key", 0, [])


def test_every_topic_that_leaves_rows_is_read(app: Application) -> None:
    build(app, KEY, stop_at_refused, NOWHERE)
    read_ones = {topic.name for topic in app._dataframe_registry.consumer_topics}
    assert read_ones == {one.topic for one in projections(KEY)}


def test_an_unreadable_record_is_skipped_with_a_line_that_quotes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken = DisputeEvents().dispute().to_bytes().replace(b'"tier":1', f'"tier":"{WORDS}"'.encode())
    with caplog.at_level(logging.WARNING):
        assert read(DISPUTES, Place("disputes", 2, 5), b"k", broken) is None
        assert read(DISPUTES, Place("disputes", 2, 6), b"k", WORDS.encode()) is None
    assert "tier" in caplog.text
    assert WORDS not in caplog.text


def test_a_tombstone_leaves_no_rows_and_no_line(caplog: pytest.LogCaptureFixture) -> None:
    assert read(DISPUTES, Place("disputes", 2, 5), b"k", None) is None
    assert caplog.text == ""


def test_an_event_of_which_no_row_can_be_made_is_refused_and_stops_nobody() -> None:
    """JSON may be read at depths at which it cannot be written again."""
    deep = b"[" * 300 + b"]" * 300
    event = DisputeEvents().dispute().to_bytes()
    event = event.replace(b'"evidence":{', b'"evidence":{"x":' + deep + b",")
    assert deep in event
    refused: list[RefusedRecord] = []
    assert read(DISPUTES, Place("disputes", 2, 5), b"k", event, refused.extend) is None
    assert [(one.place.offset, one.reason) for one in refused] == [
        (5, "no row can be made of it: TypeError")
    ]
