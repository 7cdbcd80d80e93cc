"""The one place where Kafka clients are made.

Every producer, consumer and admin client of the project, the CLI and the load generator
included, comes from here, because one client with another partitioner sends a key to another
partition and one client that reads uncommitted records sees payments that never happened.

The connection comes from the environment: `REFUND_BENCH_BROKER`, and librdkafka's security
properties as `REFUND_BENCH_KAFKA_<PROPERTY>` (`REFUND_BENCH_KAFKA_SASL_PASSWORD` is
`sasl.password`). The Quix applications take the same dictionaries as their extra configuration.
"""

import os
from collections.abc import Mapping
from concurrent.futures import Future
from typing import Any, Final, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

Config = dict[str, Any]
T = TypeVar("T")

DEFAULT_BROKER: Final = "127.0.0.1:9092"
MAX_MESSAGE_BYTES: Final = 2_000_000
SESSION_TIMEOUT_MS: Final = 6_000
HEARTBEAT_INTERVAL_MS: Final = 1_000
TRANSACTION_TIMEOUT_MS: Final = 10_000
# What a group's coordinator is asked must not run out before it is answered: while the coordinator is
# away librdkafka 2.12 then aborts the process. So it is given the most there is, and `answer` waits less.
COORDINATOR_TIMEOUT_S: Final = 3_600

# librdkafka's own default hashes with CRC32: it sends most keys to another partition than Quix
# and Java do.
PARTITIONER: Final = "murmur2_random"

_ENVIRONMENT_PREFIX: Final = "REFUND_BENCH_KAFKA_"
_SECURITY_PREFIXES: Final = ("security.", "sasl.", "ssl.", "enable.ssl.", "https.")


def broker(environment: Mapping[str, str] = os.environ) -> str:
    """The bootstrap servers, `host:port[,host:port]`."""
    return environment.get("REFUND_BENCH_BROKER") or DEFAULT_BROKER


def ordinal(environment: Mapping[str, str] = os.environ) -> int:
    """Which instance of its app this process is: 0, 1, 2 … (a StatefulSet's ordinal)."""
    text = environment.get("REFUND_BENCH_ORDINAL") or "0"
    if not text.isdigit():
        raise ValueError(f"REFUND_BENCH_ORDINAL must be a whole number from 0, not {text!r}")
    return int(text)


def security(environment: Mapping[str, str] = os.environ) -> Config:
    """The security properties found in the environment."""
    found: Config = {}
    for name, value in environment.items():
        if name.startswith(_ENVIRONMENT_PREFIX):
            key = name.removeprefix(_ENVIRONMENT_PREFIX).lower().replace("_", ".")
            if key.startswith(_SECURITY_PREFIXES):
                found[key] = value
    return found


def connection(bootstrap: str | None = None) -> Config:
    """Where the broker is, and how to be let in."""
    return {"bootstrap.servers": bootstrap or broker(), **security()}


def instance_id(app: str, instance: int) -> str:
    """One stable name per app and ordinal.

    It is both `transactional.id` and `group.instance.id`: a restart fences the dead process at
    once and takes its partitions back without waiting for a session to run out.
    """
    return f"{app}-{instance}"


def producer_settings() -> Config:
    """What every producer has in common, without the connection."""
    return {
        "partitioner": PARTITIONER,
        "enable.idempotence": True,
        "acks": "all",
        "message.max.bytes": MAX_MESSAGE_BYTES,
        "batch.size": 900_000,
        "linger.ms": 2,
        "compression.type": "lz4",
        "topic.metadata.propagation.max.ms": 5_000,
    }


def transactional_settings(app: str, instance: int) -> Config:
    """What makes a producer transactional, on top of `producer_settings`."""
    return {
        "transactional.id": instance_id(app, instance),
        "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
        # A retry that outlives the transaction is of no use to it.
        "message.timeout.ms": TRANSACTION_TIMEOUT_MS,
    }


def consumer_settings() -> Config:
    """What every consumer has in common, without the connection and the group."""
    return {
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "isolation.level": "read_committed",
        "allow.auto.create.topics": False,
        "session.timeout.ms": SESSION_TIMEOUT_MS,
        "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS,
        "group.protocol": "classic",
        # A partition that was just assigned or resumed waits for the fetch under way to return.
        "fetch.wait.max.ms": 100,
        "fetch.min.bytes": 1,
        "fetch.queue.backoff.ms": 50,
        # By default each consumer may hold 64 MB; six stages share one process.
        "queued.min.messages": 2_000,
        "queued.max.messages.kbytes": 16_384,
        "fetch.message.max.bytes": MAX_MESSAGE_BYTES,
    }


def producer_config(bootstrap: str | None = None) -> Config:
    """A plain idempotent producer's whole configuration."""
    return {**connection(bootstrap), **producer_settings()}


def transactional_producer_config(app: str, instance: int, bootstrap: str | None = None) -> Config:
    """A transactional producer's whole configuration."""
    return {**producer_config(bootstrap), **transactional_settings(app, instance)}


def consumer_config(
    group: str,
    *,
    instance: int | None = None,
    cooperative: bool = False,
    bootstrap: str | None = None,
) -> Config:
    """A consumer's whole configuration; with `instance` it is a static member of its group."""
    config = {**connection(bootstrap), **consumer_settings(), "group.id": group}
    if instance is not None:
        config["group.instance.id"] = instance_id(group, instance)
    if cooperative:
        config["partition.assignment.strategy"] = "cooperative-sticky"
    return config


def admin_config(bootstrap: str | None = None) -> Config:
    """An admin client's whole configuration."""
    return connection(bootstrap)


def producer(bootstrap: str | None = None, **extra: Any) -> Producer:
    """A plain idempotent producer."""
    return Producer({**producer_config(bootstrap), **extra})


def transactional_producer(
    app: str, instance: int, bootstrap: str | None = None, **extra: Any
) -> Producer:
    """A transactional producer; the caller calls `init_transactions`."""
    return Producer({**transactional_producer_config(app, instance, bootstrap), **extra})


def consumer(
    group: str,
    *,
    instance: int | None = None,
    cooperative: bool = False,
    bootstrap: str | None = None,
    **extra: Any,
) -> Consumer:
    """A consumer that commits nothing by itself and reads only committed records."""
    config = consumer_config(group, instance=instance, cooperative=cooperative, bootstrap=bootstrap)
    return Consumer({**config, **extra})


def answer(asked: Future[T], within_s: float) -> T:
    """What an admin client was asked.

    Raises:
        KafkaException: Kafka's error, or `_TIMED_OUT` where there is no answer in time.
    """
    try:
        return asked.result(within_s)
    except TimeoutError as error:
        late = KafkaError(KafkaError._TIMED_OUT, f"no answer in {within_s:g} s")
        raise KafkaException(late) from error


def admin(bootstrap: str | None = None) -> AdminClient:
    """An admin client."""
    return AdminClient(admin_config(bootstrap))
