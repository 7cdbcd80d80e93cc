"""Logs of every app: one JSON object a line on stderr, with ids and never with a customer's words.

What may leave is decided here and not by whoever logs: extras must be short and plain, those named
like a text are dropped, and an exception's message is shown only where it is known not to quote the
record it failed on.
"""

import logging
import os
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Final

import orjson

OURS: Final = ("refund_bench", "schemas", "streams", "topologies", "sinks", "ops")
"""Loggers that speak at INFO; everybody else's from WARNING up."""

WORDS: Final = frozenset(
    {
        "body", "complaint", "complaint_text", "description", "draft", "evidence", "key_text", "letter",
        "note", "payload", "prompt", "quote", "raw", "raw_reply", "record", "reply", "text", "value",
    }
)  # fmt: skip
"""Names under which a customer's, a judge's or an officer's words travel."""

LONGEST: Final = 400
_STANDARD: Final = frozenset(logging.makeLogRecord({}).__dict__) | {
    "message",
    "asctime",
    "taskName",
}
_FIRST: Final = ("dispute_id", "stage", "event_id")
_QUOTES_NOTHING: Final = ("schemas", "streams", "topologies", "sinks", "ops")


def set_up_logging(verbose: bool | None = None, level: int | str | None = None) -> None:
    """Send every log line to stderr; plain for people, JSON for machines.

    `verbose` None means plain on a terminal, JSON elsewhere. `REFUND_BENCH_LOG` (`json` or `plain`)
    and `REFUND_BENCH_LOG_LEVEL` decide where the caller does not.
    """
    said = os.environ.get("REFUND_BENCH_LOG", "")
    plain = sys.stderr.isatty() if verbose is None and said not in ("json", "plain") else False
    plain = plain or bool(verbose) or (verbose is None and said == "plain")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if plain else JsonLines())
    logging.root.handlers[:] = [handler]
    logging.root.setLevel(logging.WARNING)
    chosen = level or os.environ.get("REFUND_BENCH_LOG_LEVEL", "").upper() or logging.INFO
    for name in OURS:
        logging.getLogger(name).setLevel(chosen)
    logging.captureWarnings(True)


def only_ours() -> None:
    """For a command at a terminal: libraries repeat at length what it says in one line."""
    for handler in logging.root.handlers:
        handler.addFilter(
            lambda line: line.levelno >= logging.ERROR or line.name.split(".")[0] in OURS
        )


def extras(record: logging.LogRecord) -> dict[str, Any]:
    """The fields given through `extra` that may be shown, ids first."""
    given = {
        name: value
        for name, value in record.__dict__.items()
        if name not in _STANDARD and not name.startswith("_") and value is not None
    }
    ordered = {name: given[name] for name in _FIRST if name in given} | given
    shown = {
        name: _plain(value)
        for name, value in ordered.items()
        # Our own reasons are codes such as `overloaded`; a judge's is a sentence.
        if name not in WORDS and not (name == "reason" and " " in str(value).strip())
    }
    return {name: value for name, value in shown.items() if value is not None}


def _plain(value: object) -> Any:
    """A scalar as it is, a short text, a list of those; None for what could hold a record."""
    if isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:LONGEST] + "…"
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in list(value)[:50]]
    if isinstance(value, datetime):
        return value.isoformat()
    return None


def failure(error: BaseException) -> dict[str, Any]:
    """An exception without what it may quote: its type, where it was raised, and its words if they are ours."""
    places = [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(error.__traceback__)
    ]
    told: dict[str, Any] = {"type": f"{type(error).__module__}.{type(error).__name__}"}
    if _may_be_shown(error):
        told["message"] = str(error)[:LONGEST]
    told["at"] = places[-12:]
    if error.__cause__ is not None:
        told["cause"] = failure(error.__cause__)
    return told


def _may_be_shown(error: BaseException) -> bool:
    """True for our own exceptions and those of the network; a pydantic or codec error quotes its input."""
    module = type(error).__module__.split(".")[0]
    return module in (*_QUOTES_NOTHING, "confluent_kafka", "cimpl") or isinstance(error, OSError)


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": _message(record),
            **{name: value for name, value in extras(record).items() if name not in _RESERVED},
        }
        if record.exc_info and record.exc_info[1]:
            line["error_at"] = failure(record.exc_info[1])
        return orjson.dumps(line, default=lambda _: None).decode()


_RESERVED: Final = frozenset({"at", "level", "logger", "error_at"})


class PlainLines(logging.Formatter):
    """The same for a person at a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S.%f")[:-3]
        fields = " ".join(f"{name}={value}" for name, value in extras(record).items())
        line = f"{at} {record.levelname:7} {_message(record)}"
        if fields:
            line += f"  [{fields}]"
        if record.exc_info and record.exc_info[1]:
            told = failure(record.exc_info[1])
            line += "\n  " + " ".join(str(told[key]) for key in ("type", "message") if key in told)
            line += "".join(f"\n    {place}" for place in told["at"])
        return line


def _message(record: logging.LogRecord) -> str:
    """The message; a lone surrogate in it must not stop the line."""
    return record.getMessage().encode("utf-8", "replace").decode()[: 4 * LONGEST]
