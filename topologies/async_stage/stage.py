"""The public API: a stage, and the process that runs one or several."""

import asyncio
import contextlib
import logging
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Final

from confluent_kafka import Consumer, Producer

from topologies import clients
from topologies.async_stage.assembly import RunningStage
from topologies.async_stage.call_runner import Handler
from topologies.async_stage.dead_letters import Wrap
from topologies.async_stage.endings import OnExhausted
from topologies.async_stage.errors import StageFailed
from topologies.async_stage.message import Message
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.settings import StageSettings

LOG = logging.getLogger("refund_bench.async_stage")

LOG_EVERY_S: Final = 10.0
# The calls' loop and the Kafka threads share the interpreter; at the default of 5 ms a thread
# that comes back from Kafka waits that long for a busy loop to let it in.
SWITCH_INTERVAL_S: Final = 0.001

Lifespan = Callable[[], contextlib.AbstractAsyncContextManager[object]]


class AsyncStage:
    """Reads one topic, calls the handler for each message, writes what it returns."""

    def __init__(
        self,
        name: str,
        input: str,
        handler: Handler,
        settings: StageSettings | None = None,
        *,
        on_exhausted: OnExhausted | None = None,
        dead_letter: Wrap | None = None,
        key_order: Callable[[Message], bytes] | None = None,
    ) -> None:
        self.name = name
        self.input = input
        self.handler = handler
        self.settings = settings or StageSettings()
        self.on_exhausted = on_exhausted
        self.dead_letter = dead_letter
        self.key_order = key_order
        self.metrics = StageMetrics(self.settings.slots)

    @property
    def group(self) -> str:
        """The consumer group; with the ordinal also the transactional id."""
        return self.settings.group_prefix + self.name

    @property
    def ordinal(self) -> int:
        """Which instance this is."""
        given = self.settings.ordinal
        return clients.ordinal() if given is None else given

    def make_producer(self) -> Producer:
        """The transactional producer; tests replace it with one that fails."""
        return clients.transactional_producer(self.group, self.ordinal, self.settings.bootstrap)

    def make_consumer(self) -> Consumer:
        """The consumer; a static member of the group."""
        return clients.consumer(
            self.group,
            instance=self.ordinal,
            cooperative=True,
            bootstrap=self.settings.bootstrap,
        )

    def run(self) -> None:
        """Run this stage alone; see `AsyncWorker.run`."""
        AsyncWorker([self]).run()


class AsyncWorker:
    """Several stages in one process: one asyncio loop, and for each a thread for Kafka.

    `lifespan` is entered on the loop before the first call and left after the last one: the place
    for an HTTP session that the handlers share.
    """

    def __init__(self, stages: Sequence[AsyncStage], *, lifespan: Lifespan | None = None) -> None:
        names = [stage.name for stage in stages]
        if len(set(names)) != len(names):
            raise ValueError(f"two stages of one name would be one consumer group: {names}")
        self._stages = list(stages)
        self._lifespan = lifespan or contextlib.nullcontext
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = threading.Event()
        self._running: list[RunningStage] = []

    def run(self) -> None:
        """Until SIGTERM, SIGINT or `stop()`, then return.

        When a stage cannot go on, the others finish what they have, and SystemExit is raised with
        the failure's exit code, which is never 0.
        """
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL_S))
        failures = asyncio.run(self._main())
        if failures:
            raise SystemExit(failures[0].exit_code)

    def stop(self) -> None:
        """From any thread: finish what runs, commit, end."""
        self._stopping.set()
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(self._stop_all)

    async def _main(self) -> list[StageFailed]:
        self._loop = loop = asyncio.get_running_loop()
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.stop)
        async with self._lifespan():
            self._running = [RunningStage(stage, loop, self.stop) for stage in self._stages]
            if self._stopping.is_set():
                self._stop_all()
            log = loop.create_task(self._log())
            await asyncio.gather(*(running.ended.wait() for running in self._running))
            log.cancel()
        return [running.failure for running in self._running if running.failure is not None]

    def _stop_all(self) -> None:
        for running in self._running:
            running.stop()

    async def _log(self) -> None:
        while True:
            await asyncio.sleep(LOG_EVERY_S)
            for running in self._running:
                running.log()
