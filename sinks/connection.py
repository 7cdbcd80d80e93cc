"""Where ClickHouse is, from the environment, and a client for it."""

import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

import clickhouse_connect
from clickhouse_connect.driver.client import Client

# They log tracebacks and whole URLs for what the writer says in a line; the first can quote the value
# it could not write, which can be a customer's words.
for _name in (
    "clickhouse_connect.driver.transform",
    "clickhouse_connect.driver._backend.http_sync",
):
    logging.getLogger(_name).setLevel(logging.CRITICAL)
logging.getLogger("urllib3.connectionpool").setLevel(logging.ERROR)

DEFAULT_URL = "http://127.0.0.1:8123"


@dataclass(frozen=True)
class Address:
    """An HTTP(S) endpoint that speaks ClickHouse, and who we are there."""

    host: str
    port: int
    secure: bool = False
    database: str = "default"
    user: str = "default"
    password: str = field(default="", repr=False)

    def __str__(self) -> str:
        scheme = "https" if self.secure else "http"
        return f"{scheme}://{self.host}:{self.port}/{self.database}"


def address_from(environment: Mapping[str, str] = os.environ) -> Address:
    """The address in REFUND_BENCH_CLICKHOUSE, with REFUND_BENCH_CLICKHOUSE_USER and _PASSWORD.

    Raises:
        ValueError: a URL that is not http(s)://host[:port][/database].
    """
    url = environment.get("REFUND_BENCH_CLICKHOUSE", DEFAULT_URL)
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise ValueError(
            "REFUND_BENCH_CLICKHOUSE must be http(s)://host[:port][/database]; the user and the "
            "password go into REFUND_BENCH_CLICKHOUSE_USER and REFUND_BENCH_CLICKHOUSE_PASSWORD"
        )
    secure = parts.scheme == "https"
    return Address(
        host=parts.hostname,
        port=parts.port or (8443 if secure else 8123),
        secure=secure,
        database=parts.path.strip("/") or "default",
        user=environment.get("REFUND_BENCH_CLICKHOUSE_USER", "default"),
        password=environment.get("REFUND_BENCH_CLICKHOUSE_PASSWORD", ""),
    )


def analyst_address_from(environment: Mapping[str, str] = os.environ) -> Address:
    """The same place as REFUND_BENCH_CLICKHOUSE_ANALYST with its _PASSWORD, a user that only reads the
    views; where no such user is named, the one of `address_from`.

    Raises:
        ValueError: as `address_from`.
    """
    address = address_from(environment)
    analyst = environment.get("REFUND_BENCH_CLICKHOUSE_ANALYST")
    if not analyst:
        return address
    password = environment.get("REFUND_BENCH_CLICKHOUSE_ANALYST_PASSWORD", "")
    return replace(address, user=analyst, password=password)


def connect(address: Address, *, timeout_s: float = 30.0) -> Client:
    """A client without a session, so that threads may share it.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away, or refuses us.
    """
    return clickhouse_connect.get_client(
        host=address.host,
        port=address.port,
        secure=address.secure,
        database=address.database,
        username=address.user,
        password=address.password,
        connect_timeout=5,
        send_receive_timeout=timeout_s,
        autogenerate_session_id=False,
        dedicated_pool=True,
        tz_mode="aware",
        # The server's version and address are nobody's business in a log line.
        show_clickhouse_errors="scrub",
        client_name="refund-bench",
    )
