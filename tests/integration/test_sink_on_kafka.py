"""The sink app on Apache Kafka: it and ClickHouse killed under load, connections cut, ClickHouse away."""

import pytest

from ops.chaos import sink
from ops.local.errors import DependencyMissing
from tests.support.kafka import kafka_is_required


@pytest.mark.long
@pytest.mark.kafka
@pytest.mark.timeout(400)
def test_every_record_is_shown_once_whatever_is_killed() -> None:
    """On a broker of its own, because the sink reads the topics by their real names."""
    try:
        found = sink.run(kills=6, clickhouse_kills=2, count=60, away_s=5)
    except DependencyMissing as missing:
        if kafka_is_required():
            pytest.fail(f"REQUIRE_KAFKA=1: {missing}", pytrace=False)
        pytest.skip(f"no Apache Kafka: {missing}")
    assert found["ok"], found
    assert (found["lost"], found["duplicate_rows"], found["strange_rows"]) == (0, 0, 0)
    assert len(found["records"]) == 17
    assert found["kills"] == 8


@pytest.mark.long
@pytest.mark.kafka
@pytest.mark.timeout(600)
def test_clickhouse_away_for_minutes_is_caught_up_with_in_bounded_memory() -> None:
    try:
        found = sink.run(kills=0, clickhouse_kills=0, count=500, away_s=120)
    except DependencyMissing as missing:
        if kafka_is_required():
            pytest.fail(f"REQUIRE_KAFKA=1: {missing}", pytrace=False)
        pytest.skip(f"no Apache Kafka: {missing}")
    assert found["ok"], found
    assert found["lag_when_back"] > 1_000
    # 64 MB of records, their rows, and what writing them down takes.
    assert found["sink_mb_peak"] < found["sink_mb_before_away"] + 500
