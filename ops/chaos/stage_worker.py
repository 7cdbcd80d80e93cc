"""A process with one stage, made to be killed. Its calls, commits and partitions are written down.

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

from ops.chaos.stage_journal import JournalWriter
from topologies import clients
from topologies.async_stage import AsyncStage, Message, Output, StageSettings


class FaultyProducer(Producer):  # type: ignore[misc]
    """Sends its own process a signal at the n-th commit, before or after the real one.

    What went through is written down: the keys of each commit, and when it began.
    """

    commits = 0  # of the process, not of this producer: a fault happens once

    def __init__(
        self, config: dict[str, Any], fault: dict[str, Any], journal: JournalWriter
    ) -> None:
        super().__init__(config)
        self.fault = fault
        self.journal = journal
        self.began = 0.0
        self.keys: list[str] = []

    def begin_transaction(self, *arguments: Any) -> Any:
        self.began = time.time()
        self.keys = []
        return super().begin_transaction(*arguments)

    def produce(self, *arguments: Any, **named: Any) -> Any:
        self.keys.append(named["key"].decode())
        return super().produce(*arguments, **named)

    def commit_transaction(self, *arguments: Any) -> Any:
        FaultyProducer.commits += 1
        mine = self.commits == self.fault["commit"]
        if mine and self.fault["when"] == "before":
            os.kill(os.getpid(), getattr(signal, self.fault["signal"]))
        answer = super().commit_transaction(*arguments)
        self.journal.note("commit", began=self.began, keys=self.keys)
        if mine and self.fault["when"] == "after":
            os.kill(os.getpid(), getattr(signal, self.fault["signal"]))
        return answer


class MovesToJournal(logging.Handler):
    """Writes down which partitions come and go, from what the engine logs."""

    def __init__(self, journal: JournalWriter) -> None:
        super().__init__()
        self.journal = journal

    def emit(self, record: logging.LogRecord) -> None:
        partitions = getattr(record, "assigned_partitions", None)
        if partitions:
            self.journal.note(record.getMessage(), partitions=partitions)


def build(given: dict[str, Any]) -> AsyncStage:
    journal = JournalWriter(given["journal"])
    logging.getLogger("refund_bench.async_stage").addHandler(MovesToJournal(journal))
    shortest, longest = given["seconds"]
    rng = random.Random()

    async def handler(message: Message) -> list[Output]:
        key = message.key or b""
        journal.note("begin", key=key.decode(), partition=message.partition)
        await asyncio.sleep(rng.uniform(shortest, longest))
        journal.note("end", key=key.decode())
        return [Output(given["output"], key, str(os.getpid()).encode())]

    class Stage(AsyncStage):
        def make_producer(self) -> Producer:
            config = clients.transactional_producer_config(
                self.group, self.ordinal, self.settings.bootstrap
            )
            fault = given.get("fault") or {"commit": 0, "when": "never"}
            return FaultyProducer({**config, **given.get("producer", {})}, fault, journal)

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
