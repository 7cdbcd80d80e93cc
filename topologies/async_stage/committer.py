"""From finished results to a committed transaction, and through everything that can go wrong.

Nothing leaves the trackers before Kafka said that the transaction is committed. An aborted
batch waits for the next one; a batch in doubt is looked up in the committed offsets, which
name every finished message, so no call is paid twice and no record written twice.
"""

import logging
import time
from collections.abc import Callable

from confluent_kafka import Consumer, TopicPartition

from topologies.async_stage.assignments import Place, committed
from topologies.async_stage.commit_batcher import CommitBatcher
from topologies.async_stage.dead_letters import DeadLetterOffice
from topologies.async_stage.entry import Result
from topologies.async_stage.errors import BrokerUnavailable, OutputTooLarge
from topologies.async_stage.membership import Membership, read
from topologies.async_stage.metrics import StageMetrics
from topologies.async_stage.offset_codec import Progress, encode
from topologies.async_stage.partition import Partition
from topologies.async_stage.transactor import Aborted, InDoubt, Transactor

LOG = logging.getLogger("refund_bench.async_stage")


class Committer:
    """Used by the Kafka thread only."""

    def __init__(
        self,
        transactor: Transactor,
        batcher: CommitBatcher,
        office: DeadLetterOffice,
        metrics: StageMetrics,
        max_output_bytes: int,
        patience_s: float,
        late: Callable[[Result], object],
    ) -> None:
        self._transactor = transactor
        self._batcher = batcher
        self._office = office
        self._metrics = metrics
        self._max_output_bytes = max_output_bytes
        self._patience_s = patience_s
        self._late = late
        self._meanwhile: Callable[[], None] = lambda: None
        self._busy = False
        self._membership: Membership | None = None
        self._failing_since: float | None = None
        self._in_doubt: list[Result] = []
        self.recovering = False

    def open(self, meanwhile: Callable[[], None]) -> None:
        """Get the producer ready; `meanwhile` keeps the consumer served while Kafka is away."""
        self._meanwhile = meanwhile
        self._transactor.open(meanwhile)

    def close(self) -> None:
        """Drop the producer."""
        self._transactor.close()

    # Who we are.

    def identify(self, consumer: Consumer, *, continues: bool = False) -> None:
        """Take the snapshot that commits are made under; `continues` only as the same member."""
        found = read(consumer.consumer_group_metadata())
        if continues and not (found and self._membership and found.continues(self._membership)):
            found = None
        self._membership = found
        self._failing_since = None

    def forget_identity(self) -> None:
        """We are out of the group: commit nothing until the next assignment."""
        self._membership = None

    # What waits.

    @property
    def unwritten(self) -> int:
        """Results that are not committed, as far as we know."""
        return len(self._batcher) + len(self._in_doubt)

    def add(self, result: Result) -> None:
        """A result; what is done with it depends on whether its partition is still ours."""
        if _is_late(result):
            self._late(result)
            return
        for output in result.outputs:
            if output.size > self._max_output_bytes:
                self._replace(result, f"an output of {output.size} bytes for {output.topic}")
                break
        self._batcher.add(result)

    def wait_s(self, now: float) -> float | None:
        """How long until a commit is due; None when none will be without news from the group."""
        if self._busy:
            return None
        if self.recovering:
            return 0.0
        return self._batcher.wait_s(now) if self._membership else None

    # The commit.

    def commit_if_due(self, consumer: Consumer, probe_membership: Callable[[], None]) -> None:
        """Commit what waits, if the pace allows it; mend what a lost producer left."""
        if self.recovering:
            self._recover(consumer, probe_membership)
        elif self.wait_s(time.monotonic()) == 0:
            self._drop_late()
            self._commit()
        self._metrics.results_waiting = len(self._batcher)

    def commit_all(self) -> None:
        """In a rebalance or at the end: everything, now; what cannot be is left for later."""
        self._drop_late()
        while self._may_commit() and self._commit():
            pass

    def _may_commit(self) -> bool:
        """Not inside another commit: callbacks may run while one waits for Kafka."""
        ready = len(self._batcher) > 0 and self._membership is not None
        return ready and not self._busy and not self.recovering

    def _drop_late(self) -> None:
        for result in self._batcher.remove(_is_late):
            self._late(result)

    def _commit(self) -> bool:
        """One transaction; False when nothing was written."""
        assert self._membership is not None
        started = time.monotonic()
        batch = self._batcher.take(started)
        if not batch:
            return False
        self._busy = True
        try:
            self._transactor.commit(batch, _positions(batch), self._membership)
        except Aborted as aborted:
            self._aborted(batch, aborted)
            return False
        except InDoubt as doubt:
            LOG.warning("the producer is lost, the outcome is looked up: %s", doubt)
            self._in_doubt = batch
            self.recovering = True
            self._transactor.lost(str(doubt))
            return False
        finally:
            self._busy = False
        self._written(batch)
        outputs = sum(len(result.outputs) for result in batch)
        self._metrics.committed(time.monotonic() - started, len(batch), outputs)
        self._failing_since = None
        return True

    def _written(self, batch: list[Result]) -> None:
        self._batcher.committed(batch)
        for result in batch:
            result.entry.partition.finish(result.entry.message.offset)

    def _aborted(self, batch: list[Result], aborted: Aborted) -> None:
        now = time.monotonic()
        LOG.warning("transaction aborted, its results are kept: %s", aborted)
        self._metrics.aborts[aborted.reason] += 1
        self._batcher.aborted(batch, now)
        if aborted.too_large:
            if len(batch) == 1:
                self._replace(batch[0], "an output larger than its topic takes")
            else:
                self._batcher.isolate(len(batch))
        self._failing_since = self._failing_since or now
        if now - self._failing_since > self._patience_s:
            raise BrokerUnavailable(f"no transaction has been committed for long: {aborted}")

    def _replace(self, result: Result, fault: str) -> None:
        error = OutputTooLarge(fault)
        self._metrics.dead_letters[type(error).__name__] += 1
        result.outputs = [self._office.write(result.entry.message, error)]

    # The repair.

    def _recover(self, consumer: Consumer, probe_membership: Callable[[], None]) -> None:
        """A new producer; what the lost one left is read from the committed offsets."""
        batch, self._in_doubt = self._in_doubt, []
        self._busy = True
        self._metrics.producers_replaced += 1
        probe_membership()
        self._transactor.reopen()
        for result in filter(_is_late, batch):
            self._late(result)
        ours = [result for result in batch if not _is_late(result)]
        found = self._look_up(consumer, {_place(result) for result in ours})
        written = [result for result in ours if _is_in(found, result)]
        unwritten = [result for result in ours if not _is_in(found, result)]
        LOG.warning("%d results were written, %d are written again", len(written), len(unwritten))
        self._written(written)
        self._metrics.results += len(written)
        self._batcher.aborted(unwritten, time.monotonic())
        self.recovering = self._busy = False

    def _look_up(self, consumer: Consumer, places: set[Place]) -> dict[Place, Progress | None]:
        give_up_at = time.monotonic() + self._patience_s
        found: dict[Place, Progress | None] = {}
        while missing := places - found.keys():
            found.update(committed(consumer, missing))
            self._meanwhile()
            if time.monotonic() > give_up_at:
                raise BrokerUnavailable("the committed offsets cannot be read")
        return found


def _is_late(result: Result) -> bool:
    return not result.entry.partition.live


def _place(result: Result) -> Place:
    return result.entry.partition.topic, result.entry.partition.number


def _is_in(found: dict[Place, Progress | None], result: Result) -> bool:
    progress = found[_place(result)]
    return progress is not None and progress.finished(result.entry.message.offset)


def _positions(batch: list[Result]) -> list[TopicPartition]:
    finishing: dict[Partition, set[int]] = {}
    for result in batch:
        finishing.setdefault(result.entry.partition, set()).add(result.entry.message.offset)
    positions = []
    for partition, offsets in finishing.items():
        progress = partition.tracker.progress(offsets)
        positions.append(
            TopicPartition(
                partition.topic, partition.number, progress.position, metadata=encode(progress)
            )
        )
    return positions
