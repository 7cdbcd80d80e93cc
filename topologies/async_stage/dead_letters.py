"""Turning a message that cannot be handled into one record that says where it came from."""

import dataclasses
import logging
from collections.abc import Callable
from typing import Final

from topologies.async_stage.message import Message, Output, checked

LOG = logging.getLogger("refund_bench.async_stage")

Wrap = Callable[[Message, BaseException], Output]

CUT_BYTES: Final = 200_000


def with_headers(topic: str) -> Wrap:
    """The default: the bytes as they came, the place and the error in headers."""

    def wrap(message: Message, error: BaseException) -> Output:
        place = f"{message.topic}/{message.partition}/{message.offset}"
        headers = {
            "origin": place.encode(),
            "origin.topic": message.topic.encode(),
            "origin.partition": str(message.partition).encode(),
            "origin.offset": str(message.offset).encode(),
            "error.type": type(error).__name__.encode(),
            "error": str(error)[:1_000].encode(),
        }
        return Output(topic, message.key or b"", message.value, headers)

    return wrap


class DeadLetterOffice:
    """Applies the application's wrapping, and has an answer when that fails or is too large."""

    def __init__(self, wrap: Wrap | None, topic: str, max_bytes: int) -> None:
        self._default = with_headers(topic)
        self._wrap = wrap or self._default
        self._max_bytes = max_bytes

    def write(self, message: Message, error: BaseException) -> Output:
        """A record that fits; a value too large to carry is cut, its place still names it."""
        output = self._attempt(message, error)
        if output.size <= self._max_bytes:
            return output
        cut = dataclasses.replace(
            message, value=message.value[:CUT_BYTES], headers={}, key=(message.key or b"")[:1_000]
        )
        output = self._attempt(cut, error)
        return output if output.size <= self._max_bytes else self._default(cut, error)

    def _attempt(self, message: Message, error: BaseException) -> Output:
        try:
            return checked([self._wrap(message, error)])[0]
        except Exception:
            LOG.exception("the application's dead letter wrapping failed, the default is used")
            return self._default(message, error)
