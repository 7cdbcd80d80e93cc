"""What must hold between the sources, one query each. Every row of a query is a difference."""

from collections.abc import Iterator
from typing import Any

from ops.reconcile.book import Book

CHECKS: dict[str, tuple[str, str]] = {
    "decision_not_sealed": (
        "a record on `decisions` that our allowance did not make; payout pays nothing on it",
        "SELECT dispute, key FROM unsealed",
    ),
    "decision_differs": (
        "one decision id with two contents; a recomputation may never change a decision",
        "SELECT dispute, key FROM decision WHERE differs",
    ),
    "no_payment_record": (
        "payout has finished with the decision and left no payment record",
        """SELECT dispute, key FROM decision d WHERE done AND NOT late
           AND NOT EXISTS (SELECT 1 FROM payment p WHERE p.key = d.key)""",
    ),
    "payment_without_decision": (
        "a payment record no decision explains",
        """SELECT dispute, key FROM payment p WHERE NOT late
           AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.key = p.key)""",
    ),
    "payment_records_differ": (
        "two payment records of one decision contradict each other",
        "SELECT dispute, key FROM payment WHERE differs",
    ),
    "payment_differs": (
        "the payment record has another amount, currency or dispute than its decision",
        """SELECT d.dispute, d.key FROM decision d JOIN payment p USING (key)
           WHERE p.status != 'refused' AND NOT p.late AND (d.dispute, d.currency, d.amount)
           IS NOT (p.dispute, p.currency, p.amount)""",
    ),
    "key_conflict": (
        "the gateway holds something else under the decision's key",
        "SELECT dispute, key FROM payment WHERE refusal = 'key_conflict' AND NOT late",
    ),
    "amount_differs": (
        "the gateway paid another amount or currency than was decided",
        """SELECT d.dispute, d.key FROM decision d JOIN refund r USING (key)
           LEFT JOIN payment p USING (key)
           WHERE (d.amount, d.currency) IS NOT (r.amount, r.currency)
           AND p.refusal IS NOT 'key_conflict' GROUP BY d.key""",
    ),
    "refused_but_paid": (
        "recorded as refused, and the gateway paid",
        """SELECT p.dispute, p.key FROM payment p WHERE p.status = 'refused' AND NOT p.late
           AND p.refusal IS NOT 'key_conflict'
           AND EXISTS (SELECT 1 FROM refund r WHERE r.key = p.key)""",
    ),
    "not_at_gateway": (
        "recorded as paid, and the gateway knows nothing of it",
        """SELECT p.dispute, p.key FROM payment p WHERE p.status = 'paid' AND NOT p.late
           AND NOT EXISTS (SELECT 1 FROM refund r WHERE r.key = p.key)""",
    ),
    "unexplained": (
        "money at the gateway that no decision explains",
        """SELECT CASE WHEN instr(key, ':') THEN substr(key, 1, instr(key, ':') - 1) ELSE '' END, key
           FROM refund r WHERE NOT EXISTS (SELECT 1 FROM decision d WHERE d.key = r.key)
           GROUP BY key""",
    ),
    "paid_twice": (
        "two refunds under one key",
        """SELECT d.dispute, key FROM refund LEFT JOIN decision d USING (key)
           GROUP BY key HAVING count(*) > 1""",
    ),
    "scope_paid_twice": (
        "one pay scope in two refunds under different keys",
        # A transaction's scope is the same scope whatever it settles under.
        """WITH told AS (
             SELECT r.ref, r.key, s.scope FROM refund r JOIN refund_scope s USING (ref)
             UNION SELECT r.ref, r.key, s.scope FROM refund r JOIN decision_scope s USING (key)
             WHERE NOT EXISTS (SELECT 1 FROM refund_scope x WHERE x.ref = r.ref)
           ), placed AS (
             SELECT t.*, d.dispute, CASE WHEN scope LIKE 'tx:%' THEN ''
               ELSE coalesce(d.place, r.order_id, '') END AS place
             FROM told t JOIN refund r USING (ref) LEFT JOIN decision d ON d.key = t.key
           )
           SELECT max(dispute), max(key) || ' ' || scope FROM placed
           GROUP BY place, scope HAVING count(DISTINCT key) > 1""",
    ),
    "ledger_missing": (
        "the ledger has read the payment and has no entry of the dispute",
        """SELECT DISTINCT p.dispute, p.key FROM payment p WHERE p.folded AND NOT p.late
           AND NOT EXISTS (SELECT 1 FROM ledger l WHERE l.dispute = p.dispute)
           AND NOT EXISTS (SELECT 1 FROM erased e WHERE e.dispute = p.dispute)
           AND EXISTS (SELECT 1 FROM decision d WHERE d.key = p.key)""",
    ),
    "ledger_differs": (
        "the ledger's paid amount is not the sum of the dispute's payments",
        """SELECT l.dispute, NULL FROM ledger l LEFT JOIN (
             SELECT dispute, sum(CASE WHEN status = 'paid' THEN amount ELSE 0 END) AS paid,
             max(late OR NOT folded) AS under_way FROM payment GROUP BY dispute
           ) p USING (dispute)
           WHERE coalesce(p.under_way, 0) = 0 AND l.paid != coalesce(p.paid, 0)""",
    ),
    "clickhouse_missing": (
        "ClickHouse has been given the record and does not show it",
        """SELECT dispute, key FROM decision d WHERE sunk AND NOT late
           AND NOT EXISTS (SELECT 1 FROM row WHERE kind = 'decision' AND row.key = d.key)
           UNION ALL SELECT dispute, key FROM payment p WHERE sunk AND NOT late
           AND NOT EXISTS (SELECT 1 FROM row WHERE kind = 'payment' AND row.key = p.key)
           UNION ALL SELECT dispute, NULL FROM ledger l WHERE sunk
           AND NOT EXISTS (SELECT 1 FROM row WHERE kind = 'dispute' AND row.key = l.dispute)""",
    ),
    "clickhouse_duplicate": (
        "ClickHouse shows one record more than once",
        "SELECT dispute, key FROM row WHERE copies > 1",
    ),
    "clickhouse_unknown": (
        "ClickHouse shows what Kafka does not hold",
        """SELECT dispute, key FROM row r WHERE kind = 'decision' AND NOT late
           AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.key = r.key)
           UNION ALL SELECT dispute, key FROM row r WHERE kind = 'payment' AND NOT late
           AND NOT EXISTS (SELECT 1 FROM payment p WHERE p.key = r.key)""",
    ),
    "clickhouse_differs": (
        "ClickHouse shows another amount or currency than Kafka",
        """SELECT d.dispute, d.key FROM decision d JOIN row r ON r.kind = 'decision' AND r.key = d.key
           WHERE (r.dispute, r.amount, r.currency) IS NOT (d.dispute, d.amount, d.currency)
           AND NOT d.differs AND NOT r.late
           UNION ALL SELECT p.dispute, p.key FROM payment p
           JOIN row r ON r.kind = 'payment' AND r.key = p.key
           WHERE (r.dispute, r.amount, r.currency)
           IS NOT (p.dispute, CASE WHEN p.status = 'paid' THEN p.amount ELSE 0 END, p.currency)
           AND NOT p.differs AND NOT r.late
           UNION ALL SELECT l.dispute, NULL FROM ledger l
           JOIN row r ON r.kind = 'dispute' AND r.key = l.dispute
           WHERE l.sunk AND NOT r.late AND (r.amount, r.currency) IS NOT (l.paid, l.currency)""",
    ),
}
"""Name → what is wrong, and the query that finds it: the dispute, and the payment key where there is one."""

SUMS = {
    "decisions": "SELECT sum(amount) FROM decision WHERE dispute = ?",
    "gateway": "SELECT sum(amount) FROM refund WHERE key >= ? || ':' AND key < ? || ';'",
    "ledger": "SELECT paid FROM ledger WHERE dispute = ?",
    "clickhouse": "SELECT sum(amount) FROM row WHERE kind = 'payment' AND dispute = ?",
}
"""What each source says was decided or paid in a dispute; None where it says nothing."""

Difference = dict[str, Any]


def differences(book: Book) -> Iterator[Difference]:
    """Every difference, in the keys of CONTRACT.md; amounts are of the whole dispute, in minor units."""
    for name, (meaning, query) in CHECKS.items():
        for dispute, key in book.db.execute(query).fetchall():
            yield {
                "dispute_id": dispute,
                "what": name,
                **{source: _sum(book, sql, dispute) for source, sql in SUMS.items()},
                "payment_id": key,
                "meaning": meaning,
            }


def _sum(book: Book, sql: str, dispute: str | None) -> int | None:
    found = book.db.execute(sql, (dispute,) * sql.count("?")).fetchone()
    return found[0] if found else None


TOTALS = {
    "decisions": "SELECT currency, sum(amount) FROM decision WHERE NOT late GROUP BY 1",
    "refused": "SELECT d.currency, sum(d.amount) FROM decision d JOIN payment p USING (key)"
    " WHERE p.status = 'refused' GROUP BY 1",
    "awaited": "SELECT currency, sum(amount) FROM decision d WHERE NOT late"
    " AND NOT EXISTS (SELECT 1 FROM payment p WHERE p.key = d.key) GROUP BY 1",
    "payments": "SELECT currency, sum(amount) FROM payment WHERE status = 'paid' AND NOT late GROUP BY 1",
    "gateway": "SELECT currency, sum(amount) FROM refund GROUP BY 1",
    "ledger": "SELECT currency, sum(paid) FROM ledger GROUP BY 1",
    "clickhouse": "SELECT currency, sum(amount) FROM row WHERE kind = 'payment' GROUP BY 1",
}


def totals(book: Book) -> dict[str, dict[str, int]]:
    """Currency → source → minor units. At rest decisions = refused + payments, and the rest equals payments."""
    found: dict[str, dict[str, int]] = {}
    for source, sql in TOTALS.items():
        for currency, amount in book.db.execute(sql):
            if currency:
                found.setdefault(currency, dict.fromkeys(TOTALS, 0))[source] = amount or 0
    return dict(sorted(found.items()))
