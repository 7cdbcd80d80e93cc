"""Every way in which the sources can disagree about money is a difference, and nothing else is."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ops.bounded_read import Found
from ops.reconcile.book import Book
from ops.reconcile.checks import differences, totals
from ops.reconcile.progress import waiting
from schemas.ledger import LedgerEntry
from schemas.payment import Payment
from schemas.settlement import Decision
from streams.payments.port import Refund
from streams.payout import KEY_CONFLICT
from tests.unit.stages.events import (
    NOW,
    a_line,
    a_proposal,
    a_review_decision,
    about,
    as_decided,
    as_paid,
    as_refused,
)

Change = Callable[["World"], Any]


@dataclass
class World:
    """What each source says; at rest it all adds up. A change is made before it is read."""

    decisions: list[Decision] = field(default_factory=list)
    payments: list[Payment] = field(default_factory=list)
    refunds: list[Refund] = field(default_factory=list)
    ledger: dict[str, int] = field(default_factory=dict)
    rows: list[tuple[str, str, str, int, str]] = field(default_factory=list)
    finished: dict[str, int] = field(default_factory=lambda: {"done": 9, "folded": 9, "sunk": 9})
    late_payments: list[Payment] = field(default_factory=list)
    unsealed: list[Decision] = field(default_factory=list)

    def add(self, decision: Decision, payment: Payment | None = None) -> None:
        """A decision followed to its end by everyone."""
        payment = payment or as_paid(decision)
        dispute, key = decision.dispute_id, decision.decision_id
        self.decisions.append(decision)
        self.payments.append(payment)
        paid = payment.amount_minor if payment.status == "paid" else 0
        if paid:
            self.refunds.append(refund(decision))
        self.ledger[dispute] = self.ledger.get(dispute, 0) + paid
        self.rows = [row for row in self.rows if row[:2] != ("dispute", dispute)] + [
            ("decision", key, dispute, decision.amount_minor, "INR"),
            ("payment", key, dispute, paid, "INR"),
            ("dispute", dispute, dispute, self.ledger[dispute], "INR"),
        ]

    def read(self, book: Book) -> None:
        for n, decision in enumerate(self.decisions):
            book.decision(decision, at(n), late=False)
        for decision in self.unsealed:
            book.unsealed(decision)
        for n, payment in enumerate(self.payments):
            book.payment(payment, at(n), late=False)
        for refund in self.refunds:
            book.refund(refund)
        for n, (dispute, paid) in enumerate(self.ledger.items()):
            entry = LedgerEntry(
                **{k: v for k, v in about(dispute).items() if k != "pack"},
                policy="food-delivery",
                status="paid",
                sequence=9,
                filed_at=NOW,
                currency="INR",
                paid_minor=paid,
            )
            book.ledger(entry, at(n))
        for row in self.rows:
            book.row(*row, late=False)
        for payment in self.late_payments:
            book.payment(payment, at(99), late=True)
        book.reached("decision", "done", 0, self.finished["done"], [])
        book.reached("payment", "folded", 0, self.finished["folded"], [])
        for table in ("decision", "payment", "ledger"):
            book.reached(table, "sunk", 0, self.finished["sunk"], [])


def at(offset: int) -> Found:
    return Found("decisions", 0, offset, None, None, NOW, {})


def refund(decision: Decision, **changes: Any) -> Refund:
    fields = {
        "key": decision.decision_id,
        "amount_minor": decision.amount_minor,
        "currency": "INR",
        "gateway_ref": f"rf-{decision.decision_id}",
        "created_at": NOW,
        "simulated": True,
        "order_id": decision.order_id,
        "scopes": [s.scope for line in decision.lines for s in line.scopes],
    }
    return Refund.model_validate({**fields, **changes})


@pytest.fixture
def book(tmp_path: Path) -> Iterator[Book]:
    one = Book(tmp_path / "book.sqlite")
    yield one
    one.close()


@pytest.fixture
def world() -> World:
    """Paid; nothing to pay; refused; paid automatically and once more by a person."""
    found = World()
    found.add(as_decided(a_proposal(a_line(1), dispute="d-1")))
    found.add(as_decided(a_proposal(dispute="d-2")))
    refused = as_decided(a_proposal(a_line(4, dispute="d-3"), dispute="d-3"))
    found.add(refused, as_refused(refused))
    found.add(a_review_decision("r-1", a_line(2)))
    return found


def found_in(book: Book, world: World) -> list[tuple[str, str | None]]:
    world.read(book)
    return [(one["what"], one["dispute_id"]) for one in differences(book)]


def test_an_erased_disputes_entry_may_be_gone_from_the_ledger(book: Book, world: World) -> None:
    world.ledger.pop("d-2")
    book.erased("d-2")
    assert found_in(book, world) == []


def test_what_adds_up_is_no_difference(book: Book, world: World) -> None:
    assert found_in(book, world) == []
    assert sum(waiting(book).values()) == 0
    assert totals(book)["INR"] == {
        "decisions": 15_000,
        "refused": 5_000,
        "awaited": 0,
        "payments": 10_000,
        "gateway": 10_000,
        "ledger": 10_000,
        "clickhouse": 10_000,
    }


def again(world: World, decision: int = 0, ref: str = "rf-again", **changes: Any) -> None:
    world.refunds.append(refund(world.decisions[decision], gateway_ref=ref, **changes))


def other(world: World, number: int, **changes: Any) -> None:
    world.payments[number] = world.payments[number].model_copy(update=changes)


def row(world: World, kind: str, key: str, amount: int) -> None:
    """ClickHouse shows another amount in this row."""
    world.rows = [
        (k, n, dispute, amount if (k, n) == (kind, key) else before, currency)
        for k, n, dispute, before, currency in world.rows
    ]


def recomputed(world: World) -> None:
    world.decisions.append(world.decisions[0].model_copy(update={"amount_minor": 4_000}))


def other_scopes(world: World) -> None:
    lines = (a_line(7),)
    world.decisions.append(world.decisions[0].model_copy(update={"lines": lines}))


BROKEN: dict[str, tuple[Change, list[tuple[str, str | None]]]] = {
    "a decision recomputed with another amount": (recomputed, [("decision_differs", "d-1")]),
    "a decision recomputed with other scopes": (other_scopes, [("decision_differs", "d-1")]),
    "a forged decision under a true one's key": (
        lambda w: w.unsealed.append(w.decisions[0].model_copy(update={"amount_minor": 9})),
        [("decision_not_sealed", "d-1")],
    ),
    "a key paid twice": (again, [("paid_twice", "d-1")]),
    "a scope paid under two keys": (
        lambda w: w.add(as_decided(a_proposal(a_line(1), dispute="d-9"))),
        [("scope_paid_twice", "d-9")],
    ),
    "a key paid twice with another amount": (
        lambda w: again(w, amount_minor=1),
        [("amount_differs", "d-1"), ("paid_twice", "d-1")],
    ),
    "paid where nothing was decided": (
        lambda w: again(w, 1, amount_minor=5),
        [("amount_differs", "d-2")],
    ),
    "another currency at the gateway": (
        lambda w: w.refunds.__setitem__(0, refund(w.decisions[0], currency="NGN")),
        [("amount_differs", "d-1")],
    ),
    "money no decision explains": (
        lambda w: again(w, key="d-7:auto", scopes=["LATE"]),
        [("unexplained", "d-7")],
    ),
    "money under a key that is not ours": (
        lambda w: again(w, key="cash", scopes=[]),
        [("unexplained", "")],
    ),
    "the gateway knows nothing of a payment": (
        lambda w: w.refunds.pop(0),
        [("not_at_gateway", "d-1")],
    ),
    "a refused payment was paid": (lambda w: again(w, 2), [("refused_but_paid", "d-3")]),
    "a key conflict": (
        lambda w: (other(w, 2, refusal=KEY_CONFLICT), again(w, 2, amount_minor=7)),
        [("key_conflict", "d-3")],
    ),
    "no payment record": (lambda w: w.payments.pop(1), [("no_payment_record", "d-2"), ("clickhouse_unknown", "d-2")]),
    "a payment no decision explains": (
        lambda w: w.decisions.pop(1),
        [("payment_without_decision", "d-2"), ("clickhouse_unknown", "d-2")],
    ),
    "a payment of another amount": (
        lambda w: (other(w, 0, amount_minor=4_000), row(w, "payment", "d-1:auto", 4_000)),
        [("payment_differs", "d-1"), ("ledger_differs", "d-1")],
    ),
    "two payment records that differ": (
        lambda w: w.payments.append(as_refused(w.decisions[0])),
        [("payment_records_differ", "d-1")],
    ),
    "the ledger says another amount": (
        lambda w: w.ledger.update({"d-1": 5_000}),
        [("ledger_differs", "d-1"), ("clickhouse_differs", "d-1")],
    ),
    "the ledger has no entry": (
        lambda w: w.ledger.pop("d-2"),
        [("ledger_missing", "d-2")],
    ),
    "the ledger knows of money nobody paid": (
        lambda w: w.ledger.update({"d-5": 1}),
        [("ledger_differs", "d-5"), ("clickhouse_missing", "d-5")],
    ),
    "ClickHouse lacks a decision": (lambda w: w.rows.pop(0), [("clickhouse_missing", "d-1")]),
    "ClickHouse shows a row twice": (
        lambda w: w.rows.append(w.rows[0]),
        [("clickhouse_duplicate", "d-1")],
    ),
    "ClickHouse shows another amount": (lambda w: row(w, "decision", "d-1:auto", 1), [("clickhouse_differs", "d-1")]),
    "ClickHouse shows what Kafka does not hold": (
        lambda w: w.rows.append(("payment", "d-8:auto", "d-8", 5, "INR")),
        [("clickhouse_unknown", "d-8")],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "expected"), BROKEN.values(), ids=BROKEN.keys())
def test_each_disagreement_is_a_difference(
    book: Book, world: World, change: Change, expected: list[tuple[str, str | None]]
) -> None:
    change(world)
    assert sorted(found_in(book, world)) == sorted(expected)


def test_a_transaction_paid_back_under_two_families_is_paid_twice(book: Book) -> None:
    world = World()
    for dispute, family in (("d-1", "tx-1"), ("d-2", "tx-2")):
        line = a_line(1, dispute)
        line = line.model_copy(
            update={"scopes": (line.scopes[0].model_copy(update={"scope": "tx:T-9"}),)}
        )
        decision = as_decided(a_proposal(line, dispute=dispute))
        world.add(decision.model_copy(update={"order_id": family, "settles_under": family}))
    assert found_in(book, world) == [("scope_paid_twice", "d-2")]


def test_a_gateway_that_keeps_no_scopes_is_checked_by_the_decisions(book: Book) -> None:
    world = World()
    for dispute in ("d-1", "d-2"):
        world.add(as_decided(a_proposal(a_line(1), dispute=dispute)))
    world.refunds = [one.model_copy(update={"scopes": ()}) for one in world.refunds]
    assert found_in(book, world) == [("scope_paid_twice", "d-2")]


UNDER_WAY: dict[str, Change] = {
    "payout has not come to it": lambda w: (
        w.payments.pop(), w.refunds.pop(), w.ledger.update({"d-1": 5_000}),
        w.rows.pop(), w.rows.pop(), w.rows.append(("dispute", "d-1", "d-1", 5_000, "INR")),
        w.finished.update(done=3),
    ),
    "paid, and payout's record is not written": lambda w: (
        w.payments.pop(), w.ledger.update({"d-1": 5_000}),
        w.rows.pop(), w.rows.pop(), w.rows.append(("dispute", "d-1", "d-1", 5_000, "INR")),
        w.finished.update(done=3),
    ),
    "the ledger has not come to it": lambda w: (
        w.ledger.update({"d-1": 5_000}), row(w, "dispute", "d-1", 5_000), w.finished.update(folded=3),
    ),
    "the sink is away": lambda w: (w.rows.clear(), w.finished.update(sunk=0)),
    "the ledger knows a payment from after the cut": lambda w: (
        w.ledger.update({"d-2": 700}), row(w, "dispute", "d-2", 700),
        w.late_payments.append(
            as_paid(w.decisions[1], payment_id="d-2:review:r", status="paid", amount_minor=700)
        ),
    ),
    "everything was produced a second time": lambda w: (
        w.decisions.extend(list(w.decisions)),
        w.payments.extend(
            one.model_copy(update={"at": NOW + timedelta(days=1), "found_before_call": True})
            for one in list(w.payments)
        ),
    ),
}  # fmt: skip


@pytest.mark.parametrize("change", UNDER_WAY.values(), ids=UNDER_WAY.keys())
def test_what_is_under_way_or_told_again_is_no_difference(
    book: Book, world: World, change: Change
) -> None:
    change(world)
    assert found_in(book, world) == []


def test_an_offset_finished_above_the_position_counts_as_finished(book: Book, world: World) -> None:
    """The async stage finishes out of order: a hole is in flight, what lies above it is not."""
    world.finished["done"] = 0
    world.payments.pop(2)
    world.read(book)
    book.reached("decision", "done", 0, 1, [2])
    assert ("no_payment_record", "d-3") in [
        (one["what"], one["dispute_id"]) for one in differences(book)
    ]
    assert waiting(book)["payout"] == 2
