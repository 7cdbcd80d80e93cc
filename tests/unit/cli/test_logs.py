"""Logs hold ids and never a customer's words."""

import io
import logging
from collections.abc import Iterator

import orjson
import pytest

from ops.logs import JsonLines, PlainLines, set_up_logging
from schemas.complaint import Complaint
from topologies.settings import SettingsError

WORDS = "the customer's own words"


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonLines())
    log = logging.getLogger("refund_bench.test")
    log.handlers, log.propagate = [handler], False
    log.setLevel(logging.INFO)
    yield stream
    log.handlers, log.propagate = [], True


def test_a_line_is_one_json_object_with_the_ids_first(said: io.StringIO) -> None:
    logging.getLogger("refund_bench.test").info(
        "paid %d", 3, extra={"count": 3, "stage": "payout", "dispute_id": "d-1", "event_id": "e-1"}
    )
    line = orjson.loads(said.getvalue())
    assert list(line) == ["at", "level", "logger", "message", "dispute_id", "stage", "event_id", "count"]  # fmt: skip
    assert (line["message"], line["dispute_id"], line["level"]) == ("paid 3", "d-1", "info")


def test_fields_that_hold_words_are_dropped(said: io.StringIO) -> None:
    complaint = {"text": WORDS}
    logging.getLogger("refund_bench.test").info(
        "x", extra={"text": WORDS, "value": WORDS, "note": WORDS, "record": complaint, "other": complaint, "reason": WORDS},
    )  # fmt: skip
    assert "words" not in said.getvalue()
    logging.getLogger("refund_bench.test").info("x", extra={"reason": "gateway_unavailable"})
    assert "gateway_unavailable" in said.getvalue()


@pytest.mark.parametrize("formatter", [JsonLines(), PlainLines()])
def test_an_exception_tells_where_and_not_what_it_quotes(formatter: logging.Formatter) -> None:
    def fail(kind: str) -> None:
        if kind == "pydantic":
            Complaint.model_validate({"text": [WORDS], "order_id": WORDS})
        if kind == "codec":
            f"{WORDS}\ud83d".encode()
        raise ValueError(WORDS)

    for kind in ("pydantic", "codec", "value"):
        try:
            fail(kind)
        except ValueError as error:
            record = logging.makeLogRecord(
                {"msg": "step failed", "exc_info": (type(error), error, error.__traceback__)}
            )
        line = formatter.format(record)
        assert WORDS not in line
        assert "test_logs.py" in line


def test_our_own_exceptions_say_what_to_do() -> None:
    error = SettingsError("REFUND_BENCH_PROVIDER is not set; choose one")
    record = logging.makeLogRecord({"msg": "x", "exc_info": (SettingsError, error, None)})
    assert "choose one" in JsonLines().format(record)


def test_a_lone_surrogate_does_not_stop_the_line() -> None:
    record = logging.makeLogRecord({"msg": "half \ud83d"})
    assert orjson.loads(JsonLines().format(record))["message"] == "half ?"


def test_set_up_once_or_twice_there_is_one_handler() -> None:
    before = logging.root.handlers[:], logging.root.level
    try:
        set_up_logging()
        set_up_logging()
        assert len(logging.root.handlers) == 1
        assert isinstance(logging.root.handlers[0].formatter, JsonLines)
        set_up_logging(verbose=True)
        assert isinstance(logging.root.handlers[0].formatter, PlainLines)
    finally:
        logging.root.handlers[:], logging.root.level = before[0], before[1]
