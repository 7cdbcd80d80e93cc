"""Creates the topics of the contract, and says where a broker's topics differ from it.

Changelogs of the stateful stages are made here too, never by a stage's start: Quix would give them
the broker's defaults, and a changelog without compaction loses state.
"""

import dataclasses
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic, ResourceType

from schemas.topics import ALL, MAX_MESSAGE_BYTES, PARTITIONS, Topic
from topologies import clients
from topologies.quix_app import changelog, group
from topologies.settings import Settings

log = logging.getLogger("refund_bench.topics")

REQUEST_TIMEOUT_S = 20.0
ANSWER_WITHIN_S = 8.0
"""A broker that is there answers in milliseconds; one that is not should be said soon."""
COPIES = 3
"""How many copies of each record where the cluster has as many brokers and nobody said otherwise."""


@dataclass(frozen=True)
class Wanted:
    """A topic as it should be on the broker."""

    name: str
    partitions: int
    config: Mapping[str, str]
    stage: str | None = None
    """The stage whose state this changelog holds."""


@dataclass(frozen=True)
class Difference:
    """One way in which the broker is not as the contract says."""

    topic: str
    what: str
    expected: str
    found: str
    remedy: str


def stateful_inputs() -> dict[str, tuple[Topic, ...]]:
    """Each stateful stage and its inputs, as its topology declares them."""
    from topologies import allowance, intake, ledger, settlement, tally

    # Only the names of the inputs are read, so the installation's secret is not needed here.
    settings = Settings.from_environment(
        {**os.environ, "REFUND_BENCH_INSTALLATION_KEY": "only input names are read"}
    )
    makers: tuple[Callable[[Settings], Any], ...] = (
        intake.stage, tally.stage, settlement.stage, allowance.stage, ledger.stage,
    )  # fmt: skip
    return {stage.name: stage.inputs for stage in (make(settings) for make in makers)}


def wanted(replication: int) -> list[Wanted]:
    """Every topic and changelog of the installation."""
    topics = [Wanted(topic.name, topic.partitions, topic.config(replication)) for topic in ALL]
    config = {
        "cleanup.policy": "compact",
        "max.message.bytes": str(MAX_MESSAGE_BYTES),
        "message.timestamp.type": "LogAppendTime",
        "min.insync.replicas": str(min(2, replication)),
    }
    changelogs = [
        Wanted(changelog(stage, inputs), PARTITIONS, config, stage)
        for stage, inputs in stateful_inputs().items()
    ]
    return topics + changelogs


def copies(brokers: int, environment: Mapping[str, str] = os.environ) -> int:
    """The replication factor: what REFUND_BENCH_REPLICATION says, else 3 or all the brokers there are."""
    if environment.get("REFUND_BENCH_REPLICATION"):
        return int(environment["REFUND_BENCH_REPLICATION"])
    if brokers < COPIES:
        log.warning(
            "the cluster has %d broker(s), so topics keep %d copies; set REFUND_BENCH_REPLICATION to decide",
            brokers, brokers,
        )  # fmt: skip
    return max(1, min(COPIES, brokers))


def create_topics(bootstrap: str | None = None, replication: int | None = None) -> list[str]:
    """Create what is missing and touch nothing that is there; the names created.

    Raises:
        KafkaException: the broker is away, or refuses a topic.
    """
    admin = clients.admin(bootstrap)
    metadata = admin.list_topics(timeout=ANSWER_WITHIN_S)
    factor = replication or copies(len(metadata.brokers))
    missing = [topic for topic in wanted(factor) if topic.name not in metadata.topics]
    new = [
        NewTopic(topic.name, topic.partitions, factor, config=dict(topic.config))
        for topic in missing
    ]
    if not new:
        return []
    created = admin.create_topics(new, operation_timeout=REQUEST_TIMEOUT_S)
    return [name for name, future in created.items() if _is_new(future)]


def _is_new(future: Any) -> bool:
    """False where somebody else created the topic in the meantime."""
    try:
        future.result(timeout=REQUEST_TIMEOUT_S)
    except KafkaException as error:
        if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
            raise
        return False
    return True


def describe_topics(
    bootstrap: str | None = None, replication: int | None = None
) -> tuple[list[dict[str, Any]], list[Difference]]:
    """Every topic of the contract as it is on the broker, and every difference.

    Raises:
        KafkaException: the broker is away.
    """
    admin = clients.admin(bootstrap)
    metadata = admin.list_topics(timeout=ANSWER_WITHIN_S)
    factor = replication or copies(len(metadata.brokers))
    expected = wanted(factor)
    configs = _configs(admin, [topic.name for topic in expected if topic.name in metadata.topics])
    found: list[dict[str, Any]] = []
    differences: list[Difference] = []
    for topic in expected:
        there = metadata.topics.get(topic.name)
        if there is None:
            differences.append(
                Difference(topic.name, "topic", "there", "missing", "refund-bench topics create")
            )
            continue
        replicas = min((len(part.replicas) for part in there.partitions.values()), default=0)
        config = {key: configs[topic.name].get(key, "") for key in topic.config}
        found.append(
            {
                "name": topic.name,
                "partitions": len(there.partitions),
                "replication": replicas,
                "config": config,
                "changelog_of": topic.stage,
            }
        )
        differences += _compare(topic, factor, len(there.partitions), replicas, config)
    return found, differences + _other_changelogs(expected, metadata.topics)


def _compare(
    topic: Wanted, factor: int, partitions: int, replicas: int, config: Mapping[str, str]
) -> Iterable[Difference]:
    if partitions != topic.partitions:
        yield Difference(
            topic.name, "partitions", str(topic.partitions), str(partitions),
            "never change it in place: keys would move and state would not follow; make the topic anew",
        )  # fmt: skip
    if replicas != factor:
        yield Difference(
            topic.name, "replication", str(factor), str(replicas),
            "reassign the replicas, or set REFUND_BENCH_REPLICATION to what the cluster should keep",
        )  # fmt: skip
    for key, value in topic.config.items():
        if config[key] != value:
            yield Difference(
                topic.name, key, value, config[key],
                f"kafka-configs --alter --topic {topic.name} --add-config {key}={value}",
            )  # fmt: skip


def _other_changelogs(expected: list[Wanted], existing: Iterable[str]) -> list[Difference]:
    """Changelogs of our stages under another set of inputs, on which those stages refuse to start."""
    known = {topic.name for topic in expected}
    stages = {topic.stage: topic.name for topic in expected if topic.stage}
    return [
        Difference(
            name, "input set", right, name,
            f"give {stage} its old inputs back, or migrate the state and delete this changelog",
        )
        for name in sorted(existing)
        for stage, right in stages.items()
        if name.startswith(f"changelog__{group(stage)}--") and name not in known
    ]  # fmt: skip


def _configs(admin: AdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    if not names:
        return {}
    asked = [ConfigResource(ResourceType.TOPIC, name) for name in names]
    return {
        resource.name: {
            entry.name: str(entry.value)
            for entry in future.result(timeout=REQUEST_TIMEOUT_S).values()
        }
        for resource, future in admin.describe_configs(asked).items()
    }


def as_row(difference: Difference) -> dict[str, str]:
    return dataclasses.asdict(difference)
