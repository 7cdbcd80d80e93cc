"""The embedded gateway's memory: an append-only SQLite file that survives kill -9.

Table `refunds` is the money: one row each, never changed, never removed. It deliberately allows
two rows of one key, as a real gateway does once it has forgotten an idempotency key: that is how a
test sees that somebody paid twice. Table `keys` holds what is not yet forgotten.
"""

import json
import sqlite3
import uuid
from datetime import UTC, datetime, timedelta
from pathlib import Path

from streams.payments.port import Refund, RefundRequest

SCHEMA = """
CREATE TABLE IF NOT EXISTS refunds (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    gateway_ref TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    reference TEXT NOT NULL,
    order_id TEXT NOT NULL,
    account TEXT NOT NULL,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    simulated INTEGER NOT NULL,
    scopes TEXT NOT NULL,
    created_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS refunds_by_reference ON refunds (reference, id);
CREATE TRIGGER IF NOT EXISTS refunds_stay_as_they_are BEFORE UPDATE ON refunds
    BEGIN SELECT RAISE(ABORT, 'refunds are append-only'); END;
CREATE TRIGGER IF NOT EXISTS refunds_stay BEFORE DELETE ON refunds
    BEGIN SELECT RAISE(ABORT, 'refunds are append-only'); END;
CREATE TABLE IF NOT EXISTS keys (
    key TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    refund_id INTEGER NOT NULL REFERENCES refunds (id),
    created_at TEXT NOT NULL
);
"""


class OtherBody(Exception):
    """The key is known with another request."""


class RefundLedger:
    """One writer; call it from one thread."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.row_factory = sqlite3.Row
        self._db.execute("PRAGMA journal_mode = WAL")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.executescript(SCHEMA)

    def pay(self, request: RefundRequest, forget_after_s: float | None) -> tuple[Refund, bool]:
        """The refund of this key, and whether it was paid just now. On disk when it returns.

        Raises:
            OtherBody: the key came before with something else.
        """
        now = datetime.now(UTC)
        body = json.dumps(request.model_dump(mode="json", exclude_none=True), sort_keys=True)
        self._db.execute("BEGIN IMMEDIATE")
        try:
            if forget_after_s is not None:
                oldest = now - timedelta(seconds=forget_after_s)
                self._db.execute("DELETE FROM keys WHERE created_at < ?", (oldest.isoformat(),))
            known = self._db.execute("SELECT * FROM keys WHERE key = ?", (request.key,)).fetchone()
            if known is not None and known["body"] != body:
                raise OtherBody(request.key)
            paid_now = known is None
            refund_id = self._insert(request, body, now) if paid_now else known["refund_id"]
            row = self._db.execute("SELECT * FROM refunds WHERE id = ?", (refund_id,)).fetchone()
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        return _refund(row), paid_now

    def by_reference(self, reference: str) -> list[dict[str, object]]:
        """Oldest first; more than one means that money moved twice."""
        rows = self._db.execute(
            "SELECT * FROM refunds WHERE reference = ? ORDER BY id", (reference,)
        )
        return [_plain(row) for row in rows]

    def after(
        self, refund_id: int, limit: int, since: datetime | None = None
    ) -> list[dict[str, object]]:
        """A page of what was paid at or after `since` (UTC), oldest first."""
        rows = self._db.execute(
            "SELECT * FROM refunds WHERE id > ? AND created_at >= ? ORDER BY id LIMIT ?",
            (refund_id, since.isoformat() if since else "", limit),
        )
        return [_plain(row) for row in rows]

    def close(self) -> None:
        self._db.close()

    def _insert(self, request: RefundRequest, body: str, now: datetime) -> int:
        refund_id = self._db.execute(
            "INSERT INTO refunds (gateway_ref, key, reference, order_id, account, amount_minor,"
            " currency, simulated, scopes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                f"rf_{uuid.uuid4().hex}",
                request.key,
                request.reference,
                request.order_id,
                request.account,
                request.amount_minor,
                request.currency,
                request.simulated,
                json.dumps(request.scopes),
                now.isoformat(),
            ),
        ).lastrowid
        assert refund_id is not None
        self._db.execute(
            "INSERT INTO keys VALUES (?, ?, ?, ?)", (request.key, body, refund_id, now.isoformat())
        )
        return refund_id


def _plain(row: sqlite3.Row) -> dict[str, object]:
    fields = dict(row)
    return {
        **fields,
        "simulated": bool(fields["simulated"]),
        "scopes": json.loads(fields["scopes"]),
    }


def _refund(row: sqlite3.Row) -> Refund:
    return Refund.model_validate(_plain(row))
