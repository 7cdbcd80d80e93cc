"""Reads every source into the book: Kafka's decisions, payments and ledger, the gateway, ClickHouse."""

from clickhouse_connect.driver.client import Client

from ops.bounded_read import Span, every_partition, spans, stream
from ops.reconcile.book import Book
from schemas.base import Model
from schemas.ledger import LedgerEntry
from schemas.operation import Operation
from schemas.payment import Payment
from schemas.settlement import Decision
from schemas.topics import DECISIONS, LEDGER, OPERATIONS, PAYMENTS, Topic
from streams.payments.port import PaymentGateway, RefundRequest
from streams.sealing import DecisionSeal

READ_WITHIN_S = 3_600.0
Cut = dict[int, int]
"""Partition → the first offset that is not looked at."""

ROWS = {
    "decision": "SELECT decision_id, dispute_id, amount_minor, currency, kafka_partition, kafka_offset"
    " FROM v_decisions",
    "payment": "SELECT payment_id, dispute_id, if(status = 'paid', amount_minor, 0), currency,"
    " kafka_partition, kafka_offset FROM v_payments",
    "dispute": "SELECT dispute_id, dispute_id, paid_minor, currency, kafka_partition, kafka_offset"
    " FROM v_disputes_current",
}
"""What an analyst sees, so that a duplicate counts as one does to them."""
TOPIC_OF = {"decision": DECISIONS, "payment": PAYMENTS, "dispute": LEDGER}


def cut(topic: Topic) -> Cut:
    """Where the topic ends now, committed records only."""
    return {span.partition: span.end for span in spans(every_partition(topic))}


def read_topic(
    book: Book, topic: Topic, until: Cut, seal: DecisionSeal, since: Cut | None = None
) -> int:
    """The topic's records from `since` up to the cut; those from `since` on count as late.

    Returns the number of records nobody can read; whoever decides on them made dead letters of them.

    Raises:
        Unfinished: the end was not reached.
        KafkaException: the broker is away.
    """
    wanted = [
        Span(one.topic, one.partition, max(one.start, (since or {}).get(one.partition, 0)), end)
        for one in spans(every_partition(topic))
        if (end := until.get(one.partition, 0)) > one.start
    ]
    kind = topic.event
    assert issubclass(kind, Model)
    unreadable = 0
    for found in stream([one for one in wanted if one.start < one.end], READ_WITHIN_S):
        if found.value is None:
            if topic is LEDGER:
                book.forgotten((found.key or b"").decode("utf-8", "replace"))
            continue
        try:
            event = kind.from_bytes(found.value)
        except ValueError:
            unreadable += 1
            continue
        if isinstance(event, Decision) and not seal.holds(event):
            book.unsealed(event)
        elif isinstance(event, Decision):
            book.decision(event, found, late=since is not None)
        elif isinstance(event, Payment):
            book.payment(event, found, late=since is not None)
        elif isinstance(event, LedgerEntry):
            book.ledger(event, found)
    return unreadable


def read_erased(book: Book) -> None:
    """Disputes whose customer was erased, which the chain of operations tells for as long as payments are kept.

    Raises:
        KafkaException: the broker is away.
    """
    for found in stream(spans(every_partition(OPERATIONS)), READ_WITHIN_S):
        if found.value is None or b"customer_erased" not in found.value:
            continue
        try:
            operation = Operation.from_bytes(found.value)
        except ValueError:
            continue  # a dead letter tells of it
        if operation.action == "customer_erased":
            book.erased(operation.subject)


async def read_gateway(book: Book, gateway: PaymentGateway) -> None:
    """Every refund the gateway tells of.

    Raises:
        GatewayUnavailable: it does not answer.
    """
    async for refund in gateway.refunds():
        book.refund(refund)


async def look_up_missing(book: Book, gateway: PaymentGateway) -> None:
    """Refunds made while the list was read: what Kafka calls paid and the list did not hold.

    Raises:
        GatewayUnavailable: it does not answer.
    """
    missing = book.db.execute(
        "SELECT d.request FROM payment p JOIN decision d USING (key)"
        " WHERE p.status = 'paid' AND NOT p.late AND d.request IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.key = p.key)"
    ).fetchall()
    for (request,) in missing:
        found = await gateway.look_up(RefundRequest.from_bytes(request))
        if found is not None:
            book.refund(found)


def read_clickhouse(book: Book, client: Client, cuts: dict[str, Cut]) -> None:
    """What analysts see. A row is the newest of its key: one from after the cut is there, and not compared.

    Raises:
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away.
    """
    for kind, sql in ROWS.items():
        ends = cuts[TOPIC_OF[kind].name]
        with client.query_row_block_stream(sql) as blocks:
            for block in blocks:
                for key, dispute, amount, currency, part, offset in block:
                    late = offset >= ends.get(part, 0)
                    book.row(kind, key, dispute, amount, currency, late)
