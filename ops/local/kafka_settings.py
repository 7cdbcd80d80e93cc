"""How the one local node is configured: every setting that differs from Kafka's own, and why."""

from collections.abc import Mapping
from pathlib import Path

LOGGING = """\
status = warn
shutdownHook = disable
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{ISO8601} %-5p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
# Warns on each produce with acks=1 or a closed client; nothing anyone could act on here.
logger.network.name = org.apache.kafka.common.network
logger.network.level = error
"""

MB = 1024 * 1024


def server_properties(
    data: Path, port: int, controller_port: int, settings: Mapping[str, str]
) -> str:
    ours: dict[str, object] = {
        "process.roles": "broker,controller",
        "node.id": 1,
        "controller.quorum.voters": f"1@127.0.0.1:{controller_port}",
        "listeners": f"PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller_port}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{port}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs": data,
        # As in production: a topic nobody declared is a mistake, a message is at most 2 MB.
        "auto.create.topics.enable": "false",
        "num.partitions": 12,
        "message.max.bytes": 2 * MB,
        # Kafka's own topics, for one node and two cores.
        "offsets.topic.replication.factor": 1,
        "offsets.topic.num.partitions": 4,
        "transaction.state.log.replication.factor": 1,
        "transaction.state.log.min.isr": 1,
        "transaction.state.log.num.partitions": 4,
        "share.coordinator.state.topic.replication.factor": 1,
        "share.coordinator.state.topic.min.isr": 1,
        # A dead producer's transaction holds its readers: look for expired ones every second.
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": 1000,
        "group.initial.rebalance.delay.ms": 0,
        # A killed broker may only come back once its old session has run out (9 s by default).
        "broker.session.timeout.ms": 2500,
        "broker.heartbeat.interval.ms": 500,
        # Small files and buffers: hundreds of partitions, a few megabytes each.
        "log.segment.bytes": 64 * MB,
        "log.index.size.max.bytes": MB,
        "log.cleaner.threads": 1,
        "log.cleaner.dedupe.buffer.size": 8 * MB,
        "num.network.threads": 2,
        "num.io.threads": 4,
        "auto.leader.rebalance.enable": "false",
    }
    return "".join(f"{name}={value}\n" for name, value in {**ours, **settings}.items())
