"""switches, payments ► payout's gate: one thread that follows both from where they matter, and trips the switch."""

import asyncio
import atexit
import contextlib
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Final

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka import Message as Record
from confluent_kafka.admin import AdminClient

from schemas.payment import Payment
from schemas.topics import PAYMENTS, SWITCHES
from streams.payments import kill_switch
from streams.payments.ceiling import WINDOW
from topologies import clients
from topologies.payout_gate import PayoutGate
from topologies.switch_desk import AT, BROKER_ANSWERS_WITHIN_S, ENDS_ARE_TOLD, state_of, write_turn
from topologies.topic_ends import Place, TopicEnds, ask_ends

log = logging.getLogger("refund_bench.payout")

AGAIN_AFTER_S: Final = 1.0


class PayoutWatch:
    """Runs from `start` until the process ends; whatever goes wrong is tried again, and the gate stays shut."""

    def __init__(self, gate: PayoutGate) -> None:
        self._gate = gate
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._release: Callable[[], Any] = gate.release
        self._producer: Producer | None = None
        self._said = kill_switch.SwitchState()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin following; a second call changes nothing. Held payments are released on `loop`."""
        if self._thread is None:
            self._release = lambda: loop.call_soon_threadsafe(self._gate.release)
            self._thread = threading.Thread(target=self._run, name="payout-watch", daemon=True)
            self._thread.start()
            atexit.register(self.stop)

    def stop(self) -> None:
        """End the thread."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(2)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._follow()
            except Exception as error:
                log.error("payouts are paused: the kill switch cannot be read: %s", error)
                self._stop.wait(AGAIN_AFTER_S)

    def _follow(self) -> None:
        """Read both topics until something fails; then from the start again."""
        admin = clients.admin()
        consumer = clients.consumer("refund-bench.payout-watch", **ENDS_ARE_TOLD)
        try:
            places = _places(admin, consumer)
            self._gate.known(None)  # old states pass by until the end is reached
            consumer.assign(places)
            reached: dict[Place, int] = {}
            question = TopicEnds(admin, places)
            while not self._stop.is_set():
                for record in consumer.consume(500, 0.1):
                    self._take(record, reached)
                asked_at = question.answered(reached)
                if asked_at is not None:
                    self._gate.known(asked_at)
                    self._say()
                if self._gate.passing is not None:
                    self._trip()
                if self._gate.holds:
                    with contextlib.suppress(RuntimeError):  # the loop has ended before us
                        self._release()
        finally:
            consumer.close()

    def _take(self, record: Record, reached: dict[Place, int]) -> None:
        place, error = (record.topic(), record.partition()), record.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                reached[place] = record.offset()
            elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise KafkaException(error)
            return
        if place[0] == SWITCHES.name:
            state = state_of(record)
            if state is not None:
                self._gate.switched(state)
        else:
            try:
                self._gate.paid(Payment.from_bytes(record.value() or b""), _time_of(record))
            except ValueError:
                log.exception("a record on payments that is none: nothing of it counts")
        reached[place] = record.offset() + 1

    def _say(self) -> None:
        """Once per change, and never of a state that only passed by."""
        state = self._gate.state
        if state != self._said:
            log.warning(
                "payouts are %s", "paused" if state.paused else "running",
                extra={"by": state.by, "reason": state.reason},
            )  # fmt: skip
            self._said = state

    def _trip(self) -> None:
        """Pause everybody. While that fails this instance holds all the same."""
        passing, state = self._gate.passing, self._gate.state
        if passing is None:
            return
        turn = kill_switch.trip(state, passing.payment_id, passing.details, datetime.now(UTC))
        if turn is None:
            return
        try:
            if self._producer is None:
                name = "refund-bench.payout-trip"
                self._producer = clients.transactional_producer(name, clients.ordinal())
                self._producer.init_transactions(BROKER_ANSWERS_WITHIN_S)
            write_turn(self._producer, turn)
        except KafkaException:
            self._producer = None
            raise
        log.error("payouts tripped", extra={"alarm": "payouts_tripped", **passing.details})
        self._gate.switched(kill_switch.SwitchState.of(turn.switch, datetime.now(UTC)))


def _places(admin: AdminClient, consumer: Consumer) -> list[TopicPartition]:
    """The switch from its beginning, the payments of the window.

    Raises:
        KafkaException: the broker is away, or a topic is missing.
    """
    since_ms = int((datetime.now(UTC) - WINDOW).timestamp() * 1000)
    asked = [TopicPartition(PAYMENTS.name, each, since_ms) for each in range(PAYMENTS.partitions)]
    # Asked first: where nothing is young enough the reading begins here, and not wherever the end is by then.
    now_at = {
        place.partition: answer.result().offset for place, answer in ask_ends(admin, asked).items()
    }
    places = [AT]
    for found in consumer.offsets_for_times(asked, timeout=BROKER_ANSWERS_WITHIN_S):
        if found.error is not None:
            raise KafkaException(found.error)
        offset = found.offset if found.offset >= 0 else now_at[found.partition]
        places.append(TopicPartition(found.topic, found.partition, offset))
    return places


def _time_of(record: Record) -> datetime:
    _, at_ms = record.timestamp()
    return datetime.fromtimestamp(at_ms / 1000, UTC)
