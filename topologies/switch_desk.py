"""Reads the kill switch's state from Kafka, and writes a turn of it with its record in one transaction."""

import time
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka import Message as Record

from schemas.switch import PAYOUTS, Switch
from schemas.topics import OPERATIONS, SWITCHES
from streams.payments.kill_switch import SwitchState, Turn
from topologies import clients
from topologies.partitioner import partition_of

AT = TopicPartition(
    SWITCHES.name, partition_of(PAYOUTS.encode(), SWITCHES.partitions), OFFSET_BEGINNING
)
"""Where the one key of the switch lies."""
ENDS_ARE_TOLD: dict[str, Any] = {"enable.partition.eof": True}
BROKER_ANSWERS_WITHIN_S = 10.0


class SwitchUnreadable(ConnectionError):
    """The switch's state cannot be read; until it can, payout pays nothing."""


def state_of(record: Record) -> SwitchState | None:
    """The state that a record tells; None for a record of another key."""
    if record.key() != PAYOUTS.encode():
        return None
    value, (_, at_ms) = record.value(), record.timestamp()
    at = datetime.fromtimestamp(at_ms / 1000, UTC)
    try:
        return SwitchState.of(Switch.from_bytes(value), at) if value is not None else SwitchState()
    except ValueError:
        return SwitchState.unreadable(at)


def read_switch(
    bootstrap: str | None = None, within_s: float = BROKER_ANSWERS_WITHIN_S
) -> SwitchState:
    """The state as last committed.

    Raises:
        SwitchUnreadable: the broker did not tell the whole topic in time.
        KafkaException: the topic is not there, or may not be read.
    """
    state = SwitchState()
    consumer = clients.consumer("refund-bench.switch-desk", bootstrap=bootstrap, **ENDS_ARE_TOLD)
    try:
        consumer.assign([AT])
        give_up = time.monotonic() + within_s
        while time.monotonic() < give_up:
            record = consumer.poll(0.2)
            if record is None:
                continue
            error = record.error()
            if error is None:
                state = state_of(record) or state
            elif error.code() == KafkaError._PARTITION_EOF:
                return state
            elif error.fatal() or error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise KafkaException(error)
    finally:
        consumer.close()
    raise SwitchUnreadable(f"{SWITCHES.name}: Kafka at {clients.broker()} did not answer in time")


def write_turn(producer: Producer, turn: Turn) -> None:
    """State and record, both or neither. The producer's transactions must have been initialised.

    Raises:
        KafkaException: neither was written, or nobody knows; read the state again.
    """
    producer.begin_transaction()
    try:
        producer.produce(SWITCHES.name, key=PAYOUTS, value=turn.switch.to_bytes())
        producer.produce(
            OPERATIONS.name, key=turn.operation.subject, value=turn.operation.to_bytes()
        )
        producer.commit_transaction(BROKER_ANSWERS_WITHIN_S)
    except KafkaException:
        producer.abort_transaction(BROKER_ANSWERS_WITHIN_S)
        raise
