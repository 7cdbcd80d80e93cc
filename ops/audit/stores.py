"""Which stores can be asked now; what one lacks another may have."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import Error

from ops.commands.reply import DEPENDENCY_DOWN, Failure, note
from ops.reachable import need_kafka
from sinks.connection import address_from, connect


@dataclass(frozen=True)
class Stores:
    """The stores that answer."""

    kafka: bool
    client: Client | None

    @property
    def names(self) -> list[str]:
        names = ["kafka"] if self.kafka else []
        return names + (["clickhouse"] if self.client is not None else [])


@contextmanager
def open_stores(only: str = "") -> Iterator[Stores]:
    """Kafka and ClickHouse, or the one that answers, the other's absence said; or `only` that of the name.

    Raises:
        Failure: neither answers.
    """
    kafka, client = True, None
    problems: list[str] = []
    try:
        if only != "clickhouse":
            need_kafka()
    except Failure as away:
        kafka = False
        problems.append(away.problem)
    kafka = kafka and only != "clickhouse"
    try:
        client = connect(address_from()) if only != "kafka" else None
    except (Error, OSError) as away:
        problems.append(f"ClickHouse does not answer: {away}")
    if not kafka and client is None:
        raise Failure("; ".join(problems), "start `refund-bench up`, or set REFUND_BENCH_BROKER and REFUND_BENCH_CLICKHOUSE", DEPENDENCY_DOWN)  # fmt: skip
    for problem in problems:
        note(f"not looked at: {problem}")
    try:
        yield Stores(kafka, client)
    finally:
        if client is not None:
            client.close()
