"""The address of ClickHouse comes from the environment, and never shows the password."""

import pytest

from sinks.connection import Address, address_from


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (None, Address("127.0.0.1", 8123)),
        ("http://ch:9000/bench", Address("ch", 9000, database="bench")),
        ("https://ch.example", Address("ch.example", 8443, secure=True)),
        ("http://[::1]:8123/", Address("::1", 8123)),
    ],
)
def test_an_address_is_read_from_its_url(url: str | None, expected: Address) -> None:
    assert address_from({"REFUND_BENCH_CLICKHOUSE": url} if url else {}) == expected


def test_user_and_password_have_variables_of_their_own() -> None:
    address = address_from(
        {"REFUND_BENCH_CLICKHOUSE_USER": "sink", "REFUND_BENCH_CLICKHOUSE_PASSWORD": "s3cret"}
    )
    assert (address.user, address.password) == ("sink", "s3cret")
    assert "s3cret" not in f"{address} {address!r}"


@pytest.mark.parametrize("url", ["ch:8123", "tcp://ch:9000", "http://", "http://me:pw@ch:8123"])
def test_a_url_of_another_kind_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="REFUND_BENCH_CLICKHOUSE_PASSWORD"):
        address_from({"REFUND_BENCH_CLICKHOUSE": url})
