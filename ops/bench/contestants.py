"""One process that reads messages, waits as long as each says, and writes a record: ours or a peer's.

    python -m ops.bench.contestants '{"name": "ours", "bootstrap": …, "input": …, "output": …, …}'

A message's value begins with the seconds its call takes. A record's `returned` header is the wall
clock at which the call returned. With `calls` every call's begin and end go to that file.
"""

import asyncio
import ctypes
import gc
import json
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

from topologies import clients

Given = dict[str, Any]

QUIX_CALLS_PER_MESSAGE = 3
"""The seats of a bench: what Quix alone can run at the same time, in one `apply`."""


class CallLog:
    """When each call began and ended."""

    def __init__(self, path: str | None) -> None:
        self._file: IO[str] | None = open(path, "a") if path else None  # noqa: SIM115

    def note(self, begin: float, end: float) -> None:
        if self._file is not None:
            self._file.write(f"{begin:.6f} {end:.6f}\n")

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class MallInfo(ctypes.Structure):
    """glibc's `struct mallinfo2`."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def tell_memory(path: str) -> None:
    """What is in use: bytes of the heap, and blocks of Python's own."""
    gc.collect()
    glibc = ctypes.CDLL(None)
    glibc.mallinfo2.restype = MallInfo
    heap = glibc.mallinfo2()
    found = {"heap": heap.uordblks + heap.hblkhd, "blocks": sys.getallocatedblocks()}
    unfinished = Path(f"{path}.part")
    unfinished.write_text(json.dumps(found))
    unfinished.rename(path)


def seconds(value: bytes) -> float:
    """How long this message's call takes."""
    return float(value.split(b"|", 1)[0])


def now() -> bytes:
    return f"{time.time():.6f}".encode()


def ours(given: Given, log: CallLog) -> None:
    """The async stage; several where `stages` says so, each on its own topic and group."""
    from topologies.async_stage import AsyncStage, AsyncWorker, Message, Output, StageSettings

    async def handler(message: Message) -> list[Output]:
        begin = time.time()
        wait = seconds(message.value)
        if wait:
            await asyncio.sleep(wait)
        log.note(begin, time.time())
        return [Output(given["output"], message.key or b"", b"", {"returned": now()})]

    settings = StageSettings(
        slots=given["slots"], bootstrap=given["bootstrap"], ordinal=0, group_prefix=given["group"]
    )
    signal.signal(signal.SIGUSR1, lambda *_: tell_memory(given["memory"]))
    names = [f"ours-{number}" for number in range(given.get("stages", 1))]
    AsyncWorker([AsyncStage(name, given["input"], handler, settings) for name in names]).run()


def quix_apply(given: Given, log: CallLog) -> None:
    """Quix alone: one message at a time, its calls together inside `apply`."""
    from quixstreams import Application

    app = Application(
        broker_address=given["bootstrap"],
        consumer_group=given["group"],
        auto_offset_reset="earliest",
        processing_guarantee="exactly-once",
        commit_interval=0.1,
        consumer_poll_timeout=0.05,
        auto_create_topics=False,
        use_changelog_topics=False,
        state_dir=tempfile.mkdtemp(prefix="refund-bench-quix-"),
        loglevel="ERROR",
    )
    read = app.topic(given["input"], value_deserializer="bytes", key_deserializer="bytes")
    write = app.topic(given["output"], value_serializer="bytes", key_serializer="bytes")
    pool = ThreadPoolExecutor(QUIX_CALLS_PER_MESSAGE)

    def one_call(wait: float) -> None:
        begin = time.time()
        time.sleep(wait)
        log.note(begin, time.time())

    def calls(value: bytes) -> bytes:
        list(pool.map(one_call, [seconds(value)] * QUIX_CALLS_PER_MESSAGE))
        return b""

    frame = app.dataframe(read).apply(calls)
    frame.set_headers(lambda *_: [("returned", now())]).to_topic(write)
    app.run()


def arroyo_threads(given: Given, log: CallLog) -> None:
    """arroyo's RunTaskInThreads, then Produce, then CommitOffsets: at least once, in order."""
    from arroyo.backends.kafka import KafkaConsumer, KafkaPayload, KafkaProducer
    from arroyo.processing.processor import StreamProcessor
    from arroyo.processing.strategies import (
        CommitOffsets,
        ProcessingStrategyFactory,
        Produce,
        RunTaskInThreads,
    )
    from arroyo.types import Topic

    class Factory(ProcessingStrategyFactory):  # type: ignore[type-arg, misc]
        def create_with_partitions(self, commit: Any, partitions: Any) -> Any:
            produce = Produce(producer, Topic(given["output"]), CommitOffsets(commit))
            return RunTaskInThreads(call, given["slots"], 2 * given["slots"], produce)

    def call(message: Any) -> KafkaPayload:
        begin = time.time()
        time.sleep(seconds(message.payload.value))
        log.note(begin, time.time())
        return KafkaPayload(message.payload.key, b"", [("returned", now())])

    producer = KafkaProducer(clients.producer_config(given["bootstrap"]))
    config = clients.consumer_config(given["group"], bootstrap=given["bootstrap"])
    processor = StreamProcessor(KafkaConsumer(config), Topic(given["input"]), Factory())
    signal.signal(signal.SIGTERM, lambda *_: processor.signal_shutdown())
    processor.run()


CONTESTANTS: dict[str, Callable[[Given, CallLog], None]] = {
    "ours": ours,
    "quix_apply": quix_apply,
    "arroyo_threads": arroyo_threads,
}


def main() -> None:
    given = json.loads(sys.argv[1])
    log = CallLog(given.get("calls"))
    try:
        CONTESTANTS[given["name"]](given, log)
    finally:
        log.close()


if __name__ == "__main__":
    main()
