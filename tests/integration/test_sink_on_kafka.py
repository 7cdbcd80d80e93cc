"""The sink app on Apache Kafka: ClickHouse absent at the start, then killed, then the sink killed."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from clickhouse_connect.driver.exceptions import Error

from ops.local.errors import DependencyMissing
from ops.local.kafka import LocalKafka
from ops.local.tether import Child, kill_group, spawn
from tests.integration.test_sink import counts, expected, kafka_of, opener
from tests.support.clickhouse import ClickHouseProcess
from tests.support.kafka import kafka_is_required
from tests.support.wait import until
from topologies import clients
from topologies.topic_admin import create_topics


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[LocalKafka]:
    """A broker of this test's own, because the sink reads the topics by their real names."""
    kafka = LocalKafka(tmp_path / "kafka")
    try:
        kafka.start()
    except DependencyMissing as missing:
        if kafka_is_required():
            pytest.fail(f"REQUIRE_KAFKA=1: {missing}", pytrace=False)
        pytest.skip(f"no Apache Kafka: {missing}")
    yield kafka
    kafka.stop()


class SinkProcess:
    def __init__(self, folder: Path, broker: LocalKafka, server: ClickHouseProcess) -> None:
        self._log = folder / "sink.log"
        self._environment = {
            "REFUND_BENCH_BROKER": broker.bootstrap,
            "REFUND_BENCH_CLICKHOUSE": server.url,
            "REFUND_BENCH_INSTALLATION_KEY": "only for this test",
            "REFUND_BENCH_PROVIDER": "offline-rules",
            "REFUND_BENCH_STATE_DIR": str(folder / "state"),
        }
        self._child: Child | None = None

    def start(self) -> None:
        refund_bench = Path(sys.executable).with_name("refund-bench")
        with open(self._log, "ab") as log:
            self._child = spawn([str(refund_bench), "run", "sink"], log, env=self._environment)

    def kill(self) -> None:
        if self._child is not None:
            kill_group(self._child)

    def said(self, words: str) -> bool:
        assert self._child is not None
        assert self._child.poll() is None, self._log.read_text()[-2_000:]
        return words in self._log.read_text()


def produce(broker: LocalKafka, first: int, last: int) -> None:
    producer = clients.producer(broker.bootstrap)
    for place, key, value in kafka_of(last)[len(kafka_of(first)) :]:
        producer.produce(place.topic, value, key)
    assert producer.flush(30) == 0


@pytest.mark.long
@pytest.mark.kafka
@pytest.mark.timeout(180)
def test_every_event_is_stored_once_whatever_is_killed(tmp_path: Path, broker: LocalKafka) -> None:
    create_topics(broker.bootstrap, 1)
    server = ClickHouseProcess(tmp_path)
    sink = SinkProcess(tmp_path, broker, server)
    open_client = opener(server, "default")

    def stored() -> dict[str, int]:
        try:
            with open_client() as client:
                return counts(client)
        except Error:
            return {}

    try:
        produce(broker, 0, 30)
        sink.start()
        until(lambda: sink.said("ClickHouse cannot write"), timeout_s=40)
        server.start()
        until(lambda: stored() == expected(30), timeout_s=40)

        server.kill()
        produce(broker, 30, 60)
        until(lambda: sink.said("ConnectionRefusedError"), timeout_s=20)
        server.start()
        until(lambda: len(stored()) > 0 and stored()["disputes"] > 30, timeout_s=40)

        produce(broker, 60, 90)
        sink.kill()
        sink.start()
        until(lambda: stored() == expected(90), timeout_s=40)
    finally:
        sink.kill()
        server.kill()
