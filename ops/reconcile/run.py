"""One reconciliation. Safe at any time: it reads up to a common cut, gives the stages a while to pass it,
and what they have yet to pass is in flight, not different. What still differs is read again from the
start before it is called a difference, since one Kafka transaction shows in its topics one by one."""

import asyncio
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client

from ops.reconcile import progress
from ops.reconcile.book import Book
from ops.reconcile.checks import Difference, differences, totals
from ops.reconcile.reading import (
    cut,
    look_up_missing,
    read_clickhouse,
    read_erased,
    read_gateway,
    read_topic,
)
from schemas.topics import DECISIONS, LEDGER, PAYMENTS
from streams.sealing import DecisionSeal
from topologies import clients

RECHECK_AFTER_S = 2.0
POLL_S = 0.25


@dataclass(frozen=True)
class Sources:
    """Where the money is looked for, beside Kafka. The gateway is opened anew for each reading."""

    gateway: Callable[[], Any]
    """Makes an async context manager that gives a `PaymentGateway`."""
    clickhouse: Client
    seal: DecisionSeal
    """Tells our allowance's decisions from what else lies on their topic."""


def reconcile(sources: Sources, wait_s: float = 10.0) -> dict[str, Any]:
    """Compare all sources, in the keys of CONTRACT.md.

    `wait_s` is how long the stages are given to catch up with the cut, all together.

    Raises:
        KafkaException, Unfinished, GatewayUnavailable, clickhouse_connect Error: a source is away.
    """
    found = _pass(sources, wait_s)
    if found["differences"]:
        time.sleep(RECHECK_AFTER_S)
        before = {_identity(one) for one in found["differences"]}
        found = _pass(sources, wait_s)
        found["differences"] = [one for one in found["differences"] if _identity(one) in before]
    return {"ok": not found["differences"], **found}


def _identity(one: Difference) -> tuple[object, ...]:
    return one["what"], one["dispute_id"], one["payment_id"]


def _pass(sources: Sources, wait_s: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="refund-bench-") as folder:
        book = Book(Path(folder) / "reconcile.sqlite")
        try:
            return _read_and_compare(book, sources, time.monotonic() + wait_s)
        finally:
            book.close()


def _read_and_compare(book: Book, sources: Sources, patient_until: float) -> dict[str, Any]:
    """Upstream is read up to the cut, then each stage's progress, and only then what that stage left:
    whatever it has finished is there to be seen. The gateway comes first, because every refund it
    tells of then has its decision in the cut."""

    async def list_refunds() -> None:
        async with sources.gateway() as gateway:
            await read_gateway(book, gateway)

    asyncio.run(list_refunds())
    decided = cut(DECISIONS)
    unreadable = read_topic(book, DECISIONS, decided, sources.seal)
    _await(book, progress.PAYOUT, "decision WHERE NOT done", patient_until)
    paid = cut(PAYMENTS)
    unreadable += read_topic(book, PAYMENTS, paid, sources.seal)
    _await(book, progress.LEDGER_APP, "payment WHERE NOT folded", patient_until)
    entered = cut(LEDGER)
    unreadable += read_topic(book, LEDGER, entered, sources.seal)
    read_erased(book)
    _await(
        book,
        progress.SINK,
        "(SELECT sunk FROM decision UNION ALL SELECT sunk FROM payment"
        " UNION ALL SELECT sunk FROM ledger) WHERE NOT sunk",
        patient_until,
    )

    async def ask_for_missing() -> None:
        async with sources.gateway() as gateway:
            await look_up_missing(book, gateway)

    asyncio.run(ask_for_missing())
    cuts = {DECISIONS.name: decided, PAYMENTS.name: paid, LEDGER.name: entered}
    read_clickhouse(book, sources.clickhouse, cuts)
    # What came since: it excuses what the ledger knows already, and is not itself compared.
    read_topic(book, PAYMENTS, cut(PAYMENTS), sources.seal, since=paid)
    read_topic(book, DECISIONS, cut(DECISIONS), sources.seal, since=decided)
    return {
        "disputes": book.count("(SELECT dispute FROM decision WHERE NOT late UNION SELECT dispute FROM ledger)"),
        "in_flight": book.count(
            "(SELECT dispute FROM decision WHERE NOT late AND NOT (done AND sunk)"
            " UNION SELECT dispute FROM payment WHERE NOT late AND NOT (folded AND sunk))"
        ),
        "waiting_for": progress.waiting(book),
        "oldest_in_flight_s": _oldest(book),
        "totals": totals(book),
        "unreadable": unreadable,
        "differences": list(differences(book)),
    }  # fmt: skip


def _await(
    book: Book, steps: tuple[progress.Step, ...], unfinished: str, patient_until: float
) -> None:
    """Note what the stages have finished, until that is all of the cut or patience ends."""
    admin = clients.admin()
    progress.note(book, steps, admin)
    while book.count(unfinished) and time.monotonic() < patient_until:
        time.sleep(POLL_S)
        progress.note(book, steps, admin)


def _oldest(book: Book) -> float | None:
    """Seconds since the oldest event that a stage has yet to finish."""
    at: float | None = book.db.execute(
        "SELECT min(at) FROM (SELECT at FROM decision WHERE NOT late AND NOT (done AND sunk)"
        " UNION ALL SELECT at FROM payment WHERE NOT late AND NOT (folded AND sunk))"
    ).fetchone()[0]
    return None if at is None else round(max(0.0, time.time() - at), 1)
