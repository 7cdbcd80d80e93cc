"""Our murmur2 is that of Apache Kafka's clients, so the partition we expect is the one a record gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from topologies.partitioner import murmur2, partition_of

# From Apache Kafka's own tests, org.apache.kafka.common.utils.UtilsTest.testMurmur2.
VECTORS = {
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


@pytest.mark.parametrize(("data", "hashed"), VECTORS.items())
def test_the_vectors_of_apache_kafka(data: bytes, hashed: int) -> None:
    assert murmur2(data) == hashed & 0xFFFFFFFF


@given(st.binary(max_size=64), st.integers(1, 100))
def test_every_key_has_a_partition(key: bytes, partitions: int) -> None:
    assert 0 <= partition_of(key, partitions) < partitions
    assert partition_of(key, partitions) == (murmur2(key) & 0x7FFFFFFF) % partitions


def test_keys_spread_over_all_partitions() -> None:
    found = {partition_of(f"order-{n}".encode(), 12) for n in range(200)}
    assert found == set(range(12))
