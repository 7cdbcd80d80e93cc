"""Fixtures every kind of test may use."""

from collections.abc import Iterator

import pytest
from hypothesis import settings

from ops.local.errors import DependencyMissing
from ops.local.kafka import LocalKafka
from tests.support.kafka import Topics, kafka_is_required

# A neighbour on the same cores must not fail a test: none of them is about time.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKafka]:
    """Apache Kafka for the whole session: started by the first test that asks.

    Leave it running. A test that wants to stop or kill a broker starts one of its own.
    """
    broker = LocalKafka(tmp_path_factory.mktemp("kafka"))
    try:
        broker.start()
    except DependencyMissing as missing:
        if kafka_is_required():
            pytest.fail(f"REQUIRE_KAFKA=1: {missing}", pytrace=False)
        pytest.skip(f"no Apache Kafka: {missing}")
    yield broker
    broker.stop()


@pytest.fixture
def topics(kafka: LocalKafka) -> Iterator[Topics]:
    """Topics of this test's own, deleted after it."""
    mine = Topics(kafka.bootstrap)
    yield mine
    mine.delete()
