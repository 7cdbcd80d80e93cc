"""The transactional producer: writes a batch of results and their offsets, or nothing.

Three ends: `commit` returns, the batch is written; `Aborted`, nothing is written and the same
results may be written again; `InDoubt`, nobody knows, a new producer is in place and the committed
offsets tell. A producer that loses its id twice in a short time has a twin: `Fenced`.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from confluent_kafka import KafkaError, KafkaException, Producer, TopicPartition

from topologies.async_stage.aside import Aside
from topologies.async_stage.entry import Result
from topologies.async_stage.errors import BrokerUnavailable, Fenced
from topologies.async_stage.membership import Membership

LOG = logging.getLogger("refund_bench.async_stage")

CALL_TIMEOUT_S: Final = 5.0
MEANWHILE_EVERY_S: Final = 0.5
TWIN_WITHIN_S: Final = 30.0

_TOO_LARGE: Final = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE}
_LOST_ID: Final = {
    KafkaError._FENCED,
    KafkaError.INVALID_PRODUCER_EPOCH,
    KafkaError.INVALID_PRODUCER_ID_MAPPING,
    KafkaError.UNKNOWN_PRODUCER_ID,
}


class Aborted(Exception):
    """Nothing was written. `too_large` are the results the broker will not take as they are."""

    def __init__(self, reason: str, too_large: list[Result]) -> None:
        super().__init__(reason)
        self.reason = reason
        self.too_large = too_large


class InDoubt(Exception):
    """The producer is gone and with it the knowledge whether the batch was written."""


class Transactor:
    """Owns the producer of one stage. Used by its Kafka thread, which it keeps from blocking."""

    def __init__(
        self,
        producer_factory: Callable[[], Producer],
        patience_s: float,
        giving_up: Callable[[], bool],
    ) -> None:
        self._factory = producer_factory
        self._patience_s = patience_s
        self._giving_up = giving_up
        self._producer: Producer | None = None
        self._lost_at: float | None = None
        self._aside = Aside("transactions")
        self._meanwhile: Callable[[], None] = _nothing

    def open(self, meanwhile: Callable[[], None] | None = None) -> None:
        """A producer of our id: whoever had it before is fenced, its open transaction aborted.

        `meanwhile` is called every so often while Kafka takes long to answer, from now on.
        """
        self._meanwhile = meanwhile or self._meanwhile
        self._aside.run(self._open, self._meanwhile, MEANWHILE_EVERY_S)

    def close(self) -> None:
        """Drop the producer; no transaction is open."""
        self._producer = None
        self._aside.close()

    def lost(self, why: str) -> None:
        """The producer's id is gone. Once that is an outage's doing, soon again it is a twin's."""
        now = time.monotonic()
        if self._lost_at is not None and now - self._lost_at < TWIN_WITHIN_S:
            raise Fenced(f"our transactional id was taken twice in a short time: {why}")
        self._lost_at = now

    def reopen(self) -> None:
        """After `InDoubt`: a new producer, same id."""
        if self._producer is not None:
            self._producer.purge()
        self.open()

    def commit(
        self, batch: list[Result], positions: list[TopicPartition], membership: Membership
    ) -> None:
        """Write the batch's records and these positions, all or nothing."""
        self._aside.run(
            lambda: self._commit(batch, positions, membership), self._meanwhile, MEANWHILE_EVERY_S
        )

    # From here on in the thread beside.

    def _open(self) -> None:
        self._producer = self._factory()
        self._patiently("init_transactions", self._producer.init_transactions, retry_all=True)

    def _commit(
        self, batch: list[Result], positions: list[TopicPartition], membership: Membership
    ) -> None:
        producer = self._current()
        too_large: list[Result] = []
        try:
            producer.begin_transaction()
            for result in batch:
                self._produce(result, too_large)
            self._patiently(
                "send_offsets_to_transaction",
                lambda timeout: producer.send_offsets_to_transaction(
                    positions, membership.metadata, timeout
                ),
            )
            self._patiently("commit_transaction", producer.commit_transaction)
        except KafkaException as exception:
            error: KafkaError = exception.args[0]
            self._abort(error)
            raise Aborted(error.name(), too_large) from exception

    def _produce(self, result: Result, too_large: list[Result]) -> None:
        producer = self._current()

        def delivered(error: KafkaError | None, _message: object) -> None:
            if error is not None and error.code() in _TOO_LARGE and result not in too_large:
                too_large.append(result)

        for output in result.outputs:
            arguments = {
                "topic": output.topic,
                "key": output.key,
                "value": output.value,
                "headers": list(output.headers.items()),
                "on_delivery": delivered,
            }
            give_up_at = time.monotonic() + self._patience_s
            while True:
                try:
                    producer.produce(**arguments)
                    break
                except BufferError:
                    if time.monotonic() > give_up_at or self._giving_up():
                        raise BrokerUnavailable("the producer's queue stays full") from None
                    producer.poll(0.05)
                except KafkaException as exception:
                    if exception.args[0].code() in _TOO_LARGE:
                        too_large.append(result)
                    raise

    def _abort(self, error: KafkaError) -> None:
        """Leave the failed transaction; raises InDoubt when that is not possible.

        That somebody has our group instance id may be our own old view of ourselves after an
        outage. The consumer knows better: its heartbeats end the stage when it is so.
        """
        if error.fatal() or error.code() in _LOST_ID:
            raise InDoubt(error.str())
        try:
            self._patiently("abort_transaction", self._current().abort_transaction)
        except KafkaException as exception:
            raise InDoubt(exception.args[0].str()) from exception

    def _patiently(
        self, name: str, call: Callable[[float], object], *, retry_all: bool = False
    ) -> None:
        """Repeat a call that may be repeated, as long as Kafka may take to come back."""
        give_up_at = time.monotonic() + self._patience_s
        while True:
            try:
                call(CALL_TIMEOUT_S)
                return
            except KafkaException as exception:
                error: KafkaError = exception.args[0]
                repeatable = error.retriable() or (retry_all and not error.fatal())
                if not repeatable or error.txn_requires_abort():
                    raise
                if time.monotonic() > give_up_at or self._giving_up():
                    raise BrokerUnavailable(f"{name} got no answer: {error.str()}") from exception
                LOG.warning("%s is repeated: %s", name, error.str())
                time.sleep(0.05)

    def _current(self) -> Producer:
        assert self._producer is not None
        return self._producer


def _nothing() -> None:
    pass
