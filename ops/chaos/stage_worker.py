"""A process with one stage, made to be killed. Its calls are written down as they begin and end.

python -m ops.chaos.stage_worker '{"bootstrap": …, "input": …, …}'
"""

import asyncio
import json
import logging
import os
import random
import signal
import sys
import time
from typing import Any

from confluent_kafka import Producer

from topologies import clients
from topologies.async_stage import AsyncStage, Message, Output, StageSettings


class FaultyProducer(Producer):  # type: ignore[misc]
    """Sends its own process a signal at the n-th commit, before or after the real one."""

    commits = 0  # of the process, not of this producer: a fault happens once

    def __init__(self, config: dict[str, Any], fault: dict[str, Any], calls: "Calls") -> None:
        super().__init__(config)
        self.fault = fault
        self.calls = calls
        self.began = 0.0

    def begin_transaction(self, *arguments: Any) -> Any:
        self.began = time.time()
        return super().begin_transaction(*arguments)

    def commit_transaction(self, *arguments: Any) -> Any:
        FaultyProducer.commits += 1
        mine = self.commits == self.fault["commit"]
        if mine and self.fault["when"] == "before":
            os.kill(os.getpid(), getattr(signal, self.fault["signal"]))
        answer = super().commit_transaction(*arguments)
        self.calls.note("commit", f"{self.began:.6f}".encode())
        if mine and self.fault["when"] == "after":
            os.kill(os.getpid(), getattr(signal, self.fault["signal"]))
        return answer


class Calls:
    """One line per beginning and end of a call, and per commit; a line survives the process that wrote it."""

    def __init__(self, path: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(self, what: str, key: bytes) -> None:
        line = f"{what} {key.decode()} {os.getpid()} {time.time():.6f}\n"
        os.write(self._file, line.encode())


def build(given: dict[str, Any]) -> AsyncStage:
    calls = Calls(given["calls"])
    shortest, longest = given["seconds"]
    rng = random.Random()

    async def handler(message: Message) -> list[Output]:
        key = message.key or b""
        calls.note("begin", key)
        await asyncio.sleep(rng.uniform(shortest, longest))
        calls.note("end", key)
        return [Output(given["output"], key, str(os.getpid()).encode())]

    class Stage(AsyncStage):
        def make_producer(self) -> Producer:
            config = clients.transactional_producer_config(
                self.group, self.ordinal, self.settings.bootstrap
            )
            fault = given.get("fault") or {"commit": 0, "when": "never"}
            return FaultyProducer({**config, **given.get("producer", {})}, fault, calls)

    settings = StageSettings(
        bootstrap=given["bootstrap"],
        ordinal=given["ordinal"],
        group_prefix=given["prefix"],
        dead_letter_topic=given["dead"],
        **given.get("settings", {}),
    )
    return Stage("killed", given["input"], handler, settings)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    stage = build(json.loads(sys.argv[1]))
    stage.run()
