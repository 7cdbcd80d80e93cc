"""Which disputes a customer has, in ClickHouse and in the ledger."""

from clickhouse_connect.driver.client import Client

from ops.bounded_read import every_partition, read_all
from schemas.ledger import LedgerEntry
from schemas.topics import LEDGER

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
    named, latest = customer.encode(), dict[str, LedgerEntry]()
    for one in read_all(every_partition(LEDGER), lambda r: r.value is None or named in r.value):
        if one.value is None:
            latest.pop((one.key or b"").decode("utf-8", "replace"), None)
            continue
        entry = LedgerEntry.from_bytes(one.value)
        if entry.customer_id == customer:
            latest[entry.dispute_id] = entry
    return latest
