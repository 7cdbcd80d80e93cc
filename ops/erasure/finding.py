"""Which disputes a customer has, in ClickHouse and in the ledger; and whether whom a record is about was erased."""

from collections.abc import Collection
from datetime import datetime

import orjson
from clickhouse_connect.driver.client import Client

from ops.bounded_read import every_partition, named, partition_for, read, read_all, spans
from schemas.ids import customer_hash
from schemas.ledger import LedgerEntry
from schemas.operation import Operation
from schemas.topics import LEDGER, OPERATIONS

_NAMED_IN = ("complaints", "disputes", "proposals", "disputes_current")


def disputes_of(client: Client, customer: str) -> set[str]:
    """The customer's disputes that ClickHouse knows.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    asked = " UNION DISTINCT ".join(
        f"SELECT dispute_id FROM {table} WHERE customer_id = {{customer:String}}"
        for table in _NAMED_IN
    )
    return {str(row[0]) for row in client.query(asked, {"customer": customer}).result_rows}


def entries_of(customer: str) -> dict[str, LedgerEntry]:
    """The customer's disputes in the ledger, as they stand.

    Raises:
        KafkaException: the broker is away.
    """
    said, latest = named(customer), dict[str, LedgerEntry]()
    for one in read_all(every_partition(LEDGER), lambda r: r.value is None or said in r.value):
        if one.value is None:
            latest.pop((one.key or b"").decode("utf-8", "replace"), None)
            continue
        entry = LedgerEntry.from_bytes(one.value)
        if entry.customer_id == customer:
            latest[entry.dispute_id] = entry
    return latest


def subjects_of(value: bytes, installation_key: bytes) -> set[str]:
    """Under what an erasure of whom this record is about stands: its dispute, its customer's HMAC. Nothing for
    bytes that cannot be read."""
    try:
        record = orjson.loads(value)
    except ValueError:
        return set()
    if not isinstance(record, dict):
        return set()
    dispute, customer = record.get("dispute_id"), record.get("customer_id")
    found = {dispute} if isinstance(dispute, str) and dispute else set()
    if isinstance(customer, str) and customer:
        found.add(customer_hash(installation_key, customer))
    return found


def erased_since(subjects: Collection[str], since: datetime) -> datetime | None:
    """When the first of these was erased, at or after `since`; None where none was.

    Raises:
        KafkaException: the broker is away.
    """
    keys = {subject.encode() for subject in subjects}
    places = [partition_for(OPERATIONS, subject) for subject in subjects]
    acts = [
        Operation.from_bytes(one.value)
        for one in read(spans(places, since), lambda r: r.key in keys)
        if one.value is not None
    ]
    return min((act.at for act in acts if act.action == "customer_erased"), default=None)
