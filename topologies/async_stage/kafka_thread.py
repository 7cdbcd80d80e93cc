"""The thread that owns a stage's consumer and producer.

It reads, hands over to the calls on the loop, takes their results and commits them. Rebalance
callbacks run inside its polls, and its polls between transactions: a revoke waits for the commit
under way. Only when Kafka takes long to answer is the consumer polled inside one, so that it
learns about its group; no commit begins there.
"""

import logging
import threading
import time
from collections.abc import Callable
from typing import Final

from confluent_kafka import Consumer, TopicPartition

from topologies.async_stage.assignments import Assignments
from topologies.async_stage.call_runner import CallRunner
from topologies.async_stage.committer import Committer
from topologies.async_stage.errors import BrokerUnavailable
from topologies.async_stage.inbox import Inbox
from topologies.async_stage.intake import Intake
from topologies.async_stage.ownerless import OwnerlessWatch

LOG = logging.getLogger("refund_bench.async_stage")

_IDLE_POLL_S: Final = 0.25
_BUSY_WAIT_S: Final = 0.01
_FULL_WAIT_S: Final = 0.05
_HEARTBEATS_S: Final = 1.5  # one heartbeat a second, and its answer
_OBSERVE_EVERY_S: Final = 1.0


class KafkaThread:
    """One stage's Kafka side. `call` runs a function on the asyncio loop."""

    def __init__(
        self,
        topic: str,
        consumer_factory: Callable[[], Consumer],
        committer: Committer,
        assignments: Assignments,
        intake: Intake,
        runner: CallRunner,
        ownerless: OwnerlessWatch,
        inbox: Inbox,
        call: Callable[..., object],
        grace_s: float,
        revoke_wait_s: float,
    ) -> None:
        self._topic = topic
        self._consumer_factory = consumer_factory
        self._committer = committer
        self._assignments = assignments
        self._intake = intake
        self._runner = runner
        self._ownerless = ownerless
        self._inbox = inbox
        self._call = call
        self._grace_s = grace_s
        self._revoke_wait_s = revoke_wait_s
        self._closing = False
        self._consumer: Consumer | None = None
        self._stop = threading.Event()
        self._end_at = float("inf")
        self._observed_at = 0.0

    @property
    def overdue(self) -> bool:
        """Whether the grace after `stop` is over."""
        return time.monotonic() > self._end_at

    def stop(self) -> None:
        """Admit nothing more, finish what runs within the grace, commit, end."""
        self._end_at = min(self._end_at, time.monotonic() + self._grace_s)
        self._stop.set()
        self._inbox.put(None)

    def run(self) -> None:
        """Until stopped; raises StageFailed when it cannot go on."""
        try:
            self._committer.open(self._keep_polling)
        except BrokerUnavailable:
            if self._stop.is_set():
                return  # nothing was begun, so nothing is left undone
            raise
        self._consumer = consumer = self._consumer_factory()
        try:
            self._join(consumer)
            while not self._stop.is_set():
                self._turn(consumer)
            self._finish(consumer)
        finally:
            self._closing = True
            self._call(self._runner.cancel)
            consumer.close()
            self._committer.close()

    def _turn(self, consumer: Consumer) -> None:
        self._wait(consumer)
        self._intake.read(consumer)
        self._intake.discard(self._assignments.resolve(consumer, time.monotonic()))
        self._intake.hand_over(consumer)
        self._committer.commit_if_due(consumer, lambda: self._probe_membership(consumer))
        now = time.monotonic()
        if now - self._observed_at > _OBSERVE_EVERY_S:
            self._observed_at = now
            self._intake.observe()
            self._intake.forget(self._assignments.expired(now))
            self._call(self._runner.observe)
            if self._ownerless.calls_us(now):
                LOG.warning("partitions have no owner: leaving the group and joining it again")
                consumer.unsubscribe()
                self._join(consumer)

    def _join(self, consumer: Consumer) -> None:
        consumer.subscribe(
            [self._topic],
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_lost,
        )

    def _wait(self, consumer: Consumer) -> None:
        """Sleep until there is something to do: a result, a message, a commit that is due."""
        due = self._committer.wait_s(time.monotonic())
        if due is None and self._inbox.empty and self._at_rest():
            self._intake.arrived(consumer.poll(_IDLE_POLL_S))
            return
        wait = _BUSY_WAIT_S if self._intake.room > 0 else _FULL_WAIT_S
        self._collect(wait if due is None else min(wait, due))
        due = self._committer.wait_s(time.monotonic())
        if due and self._intake.calls_are_fed:
            # A result came, its commit must wait for the pace, and nobody needs us until then.
            time.sleep(due)
            self._collect()

    def _at_rest(self) -> bool:
        return self._intake.idle and not self._assignments.resolving

    def _collect(self, wait_s: float = 0.0) -> None:
        """Take the results that are there, after waiting for the first."""
        for result in self._inbox.take(wait_s):
            self._committer.add(result)

    def _serve_without_reading(self, consumer: Consumer) -> None:
        """Results and commits go on while no record may be read."""
        self._collect(_BUSY_WAIT_S)
        self._intake.hand_over(consumer)
        if self._committer.wait_s(time.monotonic()) == 0:
            self._committer.commit_all()

    def _probe_membership(self, consumer: Consumer) -> None:
        """A lost producer id may mean a twin: long enough for the group to tell us so."""
        until = time.monotonic() + _HEARTBEATS_S
        while time.monotonic() < until and not self._stop.is_set():
            self._intake.arrived(consumer.poll(0.1))

    def _keep_polling(self) -> None:
        """While a commit waits for Kafka the consumer must hear from its group all the same."""
        if self._consumer is not None and not self._closing:
            self._intake.arrived(self._consumer.poll(0))

    # Rebalances. These run inside poll, consume or close.

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign([])
        self._committer.identify(consumer)
        self._assignments.assigned(partitions, time.monotonic())
        LOG.info("assigned", extra=_naming(partitions))

    def _on_revoke(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Stop admitting, a brief wait, commit what is done, cancel the rest."""
        leaving = self._assignments.named(partitions)
        if leaving and not self._closing:
            self._intake.withdraw(leaving)
            self._committer.identify(consumer, continues=True)
            until = time.monotonic() + self._revoke_wait_s
            while time.monotonic() < min(until, self._end_at):
                if not any(each.running or not each.withdrawn.is_set() for each in leaving):
                    break
                self._serve_without_reading(consumer)
            self._collect()
            self._committer.commit_all()
        running = sum(each.running for each in leaving)
        LOG.info("revoked", extra={**_naming(partitions), "calls_cancelled": running})
        self._let_go(consumer, partitions)

    def _on_lost(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """They are another's already: write nothing."""
        LOG.warning("lost", extra=_naming(partitions))
        self._committer.forget_identity()
        gone = self._assignments.suspended(partitions, time.monotonic())
        self._intake.withdraw(gone)
        consumer.incremental_unassign([each.at() for each in gone])

    def _let_go(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        gone = self._assignments.removed(partitions)
        self._intake.forget(gone)
        consumer.incremental_unassign([each.at() for each in gone])

    def _finish(self, consumer: Consumer) -> None:
        """After stop: what runs may finish within the grace; what is done is committed.

        The consumer is polled all the while: a rebalance must not wait for us, and a commit in the
        middle of one is refused until we have heard of its end.
        """
        self._call(self._runner.stop)
        self._intake.close()
        working = True
        while working and not self.overdue:
            settled = not self._runner.unsettled
            self._collect(_BUSY_WAIT_S)
            self._keep_polling()
            self._committer.commit_if_due(consumer, lambda: None)
            working = not settled or self._committer.unwritten > 0
        self._collect()
        self._committer.commit_all()
        unwritten = self._committer.unwritten + self._assignments.stranded
        if unwritten:
            raise BrokerUnavailable(f"{unwritten} results are done and cannot be committed")


def _naming(partitions: list[TopicPartition]) -> dict[str, object]:
    return {"assigned_partitions": [each.partition for each in partitions]}
