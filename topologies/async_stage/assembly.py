"""One stage's parts, put together for one run."""

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from topologies import clients
from topologies.async_stage.admission import Admission
from topologies.async_stage.assignments import Assignments
from topologies.async_stage.call_runner import CallLimits, CallRunner
from topologies.async_stage.circuit_breaker import CircuitBreaker
from topologies.async_stage.commit_batcher import CommitBatcher, CommitLimits
from topologies.async_stage.committer import Committer
from topologies.async_stage.dead_letters import DeadLetterOffice
from topologies.async_stage.endings import Endings
from topologies.async_stage.errors import StageFailed
from topologies.async_stage.inbox import Inbox
from topologies.async_stage.intake import Intake
from topologies.async_stage.kafka_thread import KafkaThread
from topologies.async_stage.ownerless import OwnerlessWatch
from topologies.async_stage.retry_policy import RetryPolicy
from topologies.async_stage.transactor import Transactor

if TYPE_CHECKING:
    from topologies.async_stage.stage import AsyncStage

LOG = logging.getLogger("refund_bench.async_stage")


class RunningStage:
    """A stage's Kafka thread, from its start until `ended` is set."""

    def __init__(
        self, stage: "AsyncStage", loop: asyncio.AbstractEventLoop, on_failure: Callable[[], None]
    ) -> None:
        self.failure: StageFailed | None = None
        self.ended = asyncio.Event()
        self._stage = stage
        self._loop = loop
        self._on_failure = on_failure
        self._runner, self._kafka = self._assemble()
        self._thread = threading.Thread(target=self._run, name=stage.name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish what runs within the grace, commit, end."""
        self._kafka.stop()

    def log(self) -> None:
        """One structured line with every metric."""
        self._runner.observe()
        metrics = self._stage.metrics
        metrics.slots_busy_ratio = self._runner.busy.take(self._loop.time())
        LOG.info("metrics", extra={"stage": self._stage.name, **metrics.snapshot()})

    def _overdue(self) -> bool:
        return self._kafka.overdue

    def _call(self, function: Callable[..., object], *arguments: object) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(function, *arguments)

    def _run(self) -> None:
        try:
            self._kafka.run()
        except StageFailed as failure:
            self.failure = failure
        except Exception as error:
            LOG.exception("stage crashed", extra={"stage": self._stage.name})
            self.failure = StageFailed(str(error))
        if self.failure is not None:
            LOG.error("stage ends: %s", self.failure, extra={"stage": self._stage.name})
            self._call(self._on_failure)
        self._call(self.ended.set)

    def _assemble(self) -> tuple[CallRunner, KafkaThread]:
        stage, settings = self._stage, self._stage.settings
        inbox = Inbox()
        office = DeadLetterOffice(
            stage.dead_letter, settings.dead_letter_topic, settings.max_output_bytes
        )
        backoff = (settings.first_backoff_s, settings.longest_backoff_s)
        runner = CallRunner(
            stage.handler,
            Endings(office, stage.on_exhausted, stage.metrics),
            CallLimits(settings.slots, settings.attempt_timeout_s, settings.deadline_s),
            RetryPolicy(*backoff, settings.retry_after_cap_s),
            CircuitBreaker(settings.failures_to_open, settings.probe_every_s),
            stage.metrics,
            inbox.put,
            self._loop.time,
        )
        assignments = Assignments(settings.patience_s, stage.metrics)
        committer = Committer(
            Transactor(stage.make_producer, settings.patience_s, self._overdue),
            CommitBatcher(CommitLimits(settings.commit_interval_s)),
            office,
            stage.metrics,
            settings.max_output_bytes,
            settings.patience_s,
            assignments.late,
        )
        admission = Admission(settings.slots, settings.ahead, settings.span, settings.max_waiting)
        intake = Intake(
            assignments, runner, admission, stage.metrics, self._call, inbox.put, stage.key_order
        )
        ownerless = OwnerlessWatch(
            stage.group,
            stage.input,
            clients.instance_id(stage.group, stage.ordinal),
            lambda: clients.admin(settings.bootstrap),
            settings.revoke_wait_s,
        )
        kafka = KafkaThread(
            stage.input,
            stage.make_consumer,
            committer,
            assignments,
            intake,
            runner,
            ownerless,
            inbox,
            self._call,
            settings.grace_s,
            settings.revoke_wait_s,
        )
        return runner, kafka
