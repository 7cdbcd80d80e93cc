"""What each source says of the money, side by side in a temporary SQLite file, so that memory stays
bounded however many disputes there are."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path

from ops.bounded_read import Found
from schemas.ledger import LedgerEntry
from schemas.payment import Payment
from schemas.settlement import Decision
from streams.payments.port import Refund
from streams.payout import refund_request

CACHE_KIB = 64 * 1024

SCHEMA = """
CREATE TABLE decision (
    key TEXT PRIMARY KEY, dispute TEXT, place TEXT, amount INTEGER, currency TEXT,
    part INTEGER, off INTEGER, at REAL, late INTEGER, differs INTEGER DEFAULT 0,
    done INTEGER DEFAULT 0, sunk INTEGER DEFAULT 0, request BLOB
) WITHOUT ROWID;
CREATE INDEX decision_of ON decision (dispute);
CREATE INDEX decision_at ON decision (part, off);
CREATE TABLE unsealed (key TEXT, dispute TEXT, PRIMARY KEY (key, dispute)) WITHOUT ROWID;
CREATE TABLE decision_scope (key TEXT, scope TEXT, PRIMARY KEY (key, scope)) WITHOUT ROWID;
CREATE TABLE payment (
    key TEXT PRIMARY KEY, dispute TEXT, status TEXT, amount INTEGER, currency TEXT, refusal TEXT,
    part INTEGER, off INTEGER, at REAL, late INTEGER, differs INTEGER DEFAULT 0,
    folded INTEGER DEFAULT 0, sunk INTEGER DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX payment_of ON payment (dispute);
CREATE INDEX payment_at ON payment (part, off);
CREATE TABLE refund (
    ref TEXT PRIMARY KEY, key TEXT, amount INTEGER, currency TEXT, order_id TEXT
) WITHOUT ROWID;
CREATE INDEX refund_of ON refund (key);
CREATE TABLE refund_scope (ref TEXT, scope TEXT, PRIMARY KEY (ref, scope)) WITHOUT ROWID;
CREATE TABLE ledger (
    dispute TEXT PRIMARY KEY, paid INTEGER, currency TEXT, part INTEGER, off INTEGER,
    sunk INTEGER DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX ledger_at ON ledger (part, off);
CREATE TABLE row (
    kind TEXT, key TEXT, dispute TEXT, amount INTEGER, currency TEXT, copies INTEGER, late INTEGER,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE INDEX row_of ON row (kind, dispute);
CREATE TABLE erased (dispute TEXT PRIMARY KEY) WITHOUT ROWID;
"""


class Book:
    """One reading of all sources. `row` is what ClickHouse shows an analyst; `late` came after the cut."""

    def __init__(self, file: Path) -> None:
        self.db = sqlite3.connect(file, isolation_level=None)
        self.db.row_factory = sqlite3.Row
        for pragma in ("journal_mode = OFF", "synchronous = OFF", f"cache_size = -{CACHE_KIB}"):
            self.db.execute(f"PRAGMA {pragma}")
        self.db.executescript(SCHEMA)
        self.db.execute("BEGIN")

    def close(self) -> None:
        self.db.close()

    def decision(self, event: Decision, found: Found, late: bool) -> None:
        """The first of a decision's records stands; another that says something else is noted."""
        scopes = sorted(
            {s.scope for line in event.lines if line.disposition == "pay" for s in line.scopes}
        )
        known = self.db.execute(
            "SELECT dispute, amount, currency FROM decision WHERE key = ?", (event.decision_id,)
        ).fetchone()
        if known is not None:
            before = self.db.execute(
                "SELECT scope FROM decision_scope WHERE key = ? ORDER BY scope",
                (event.decision_id,),
            )
            same = tuple(known) == (event.dispute_id, event.amount_minor, event.currency) and (
                [scope for (scope,) in before] == scopes
            )
            if not same:
                self.db.execute(
                    "UPDATE decision SET differs = 1 WHERE key = ?", (event.decision_id,)
                )
            return
        self.db.execute(
            "INSERT INTO decision (key, dispute, place, amount, currency, part, off, at, late, request)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                event.decision_id,
                event.dispute_id,
                event.settles_under,
                event.amount_minor,
                event.currency,
                found.partition,
                found.offset,
                found.at.timestamp(),
                late,
                refund_request(event).to_bytes() if event.amount_minor else None,
            ),
        )
        self.db.executemany(
            "INSERT INTO decision_scope VALUES (?, ?)", [(event.decision_id, s) for s in scopes]
        )

    def unsealed(self, event: Decision) -> None:
        """A record on `decisions` that our allowance did not make; payout pays nothing on it."""
        self.db.execute(
            "INSERT OR IGNORE INTO unsealed VALUES (?, ?)", (event.decision_id, event.dispute_id)
        )

    def payment(self, event: Payment, found: Found, late: bool) -> None:
        self.db.execute(
            "INSERT INTO payment"
            " (key, dispute, status, amount, currency, refusal, part, off, at, late)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (key) DO UPDATE SET differs = differs OR"
            " (dispute, status, amount, currency) IS NOT"
            " (excluded.dispute, excluded.status, excluded.amount, excluded.currency)",
            (
                event.payment_id,
                event.dispute_id,
                event.status,
                event.amount_minor,
                event.currency,
                event.refusal,
                found.partition,
                found.offset,
                found.at.timestamp(),
                late,
            ),
        )

    def refund(self, refund: Refund) -> None:
        self.db.execute(
            "INSERT OR IGNORE INTO refund VALUES (?, ?, ?, ?, ?)",
            (
                refund.gateway_ref,
                refund.key,
                refund.amount_minor,
                refund.currency,
                refund.order_id,
            ),
        )
        self.db.executemany(
            "INSERT OR IGNORE INTO refund_scope VALUES (?, ?)",
            [(refund.gateway_ref, scope) for scope in refund.scopes],
        )

    def ledger(self, entry: LedgerEntry, found: Found) -> None:
        """The last entry of a dispute stands."""
        self.db.execute(
            "INSERT OR REPLACE INTO ledger (dispute, paid, currency, part, off) VALUES (?, ?, ?, ?, ?)",
            (
                entry.dispute_id,
                entry.paid_minor,
                entry.currency or "",
                found.partition,
                found.offset,
            ),
        )

    def forgotten(self, dispute: str) -> None:
        """A tombstone of the ledger."""
        self.db.execute("DELETE FROM ledger WHERE dispute = ?", (dispute,))

    def erased(self, subject: str) -> None:
        """A dispute whose customer was erased: its entry was taken out of the ledger."""
        self.db.execute("INSERT OR IGNORE INTO erased VALUES (?)", (subject,))

    def row(
        self, kind: str, key: str, dispute: str, amount: int, currency: str, late: bool
    ) -> None:
        """A row of ClickHouse: kind `decision`, `payment` or `dispute`; amount is what was decided or paid."""
        self.db.execute(
            "INSERT INTO row VALUES (?, ?, ?, ?, ?, 1, ?)"
            " ON CONFLICT (kind, key) DO UPDATE SET copies = copies + 1",
            (kind, key, dispute, amount, currency, late),
        )

    def reached(
        self, table: str, flag: str, part: int, position: int, above: Iterable[int]
    ) -> None:
        """A stage has finished everything of a partition below `position`, and the offsets `above` it."""
        self.db.execute(
            f"UPDATE {table} SET {flag} = 1 WHERE part = ? AND off < ? AND NOT {flag}",
            (part, position),
        )
        self.db.executemany(
            f"UPDATE {table} SET {flag} = 1 WHERE part = ? AND off = ?",
            [(part, offset) for offset in above],
        )

    def count(self, condition: str) -> int:
        """Rows of `FROM …`."""
        found: int = self.db.execute(f"SELECT count(*) FROM {condition}").fetchone()[0]
        return found
