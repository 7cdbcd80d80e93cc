"""Disputes that meet on one order and under one customer, whatever comes between their events: settlement
and the allowance together, decisions and payments coming back late, in any interleaving."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from schemas.docket import Docket
from schemas.settlement import Decision
from schemas.topics import DECISIONS, PROPOSALS
from schemas.verdict import Verdict
from streams.allowance import Allowance, CustomerState
from streams.order_book import OrderBook
from streams.settlement import Settlement
from tests.unit.stages.events import (
    FOOD,
    NOW,
    ORDER,
    PACKS,
    SEAL,
    a_claim,
    a_docket,
    a_record,
    a_verdict,
    about,
    after,
    as_paid,
    on,
)

SETTLEMENT, ALLOWANCE = Settlement(PACKS), Allowance(PACKS, SEAL)
STEPS = {Docket: SETTLEMENT.on_docket, Verdict: SETTLEMENT.on_verdict}
LIMIT = FOOD.pack.limits.customer_limit_minor or 0
LATE_BY_35_MINUTES = after(minutes=-40).isoformat()
SCAN = [{"line_id": "L1", "packed_quantity": 0}]


class Shop:
    """Every order of one customer. `pending` holds, per source, what has yet to be delivered, in order."""

    def __init__(self) -> None:
        self.books: dict[str, OrderBook] = {}
        self.customer = CustomerState()
        self.pending: dict[str, list[Any]] = {}
        self.paid: list[Decision] = []

    def file(self, dispute: str, docket: Docket, *verdicts: Verdict) -> None:
        self.pending[f"docket {dispute}"] = [docket]
        self.pending[f"verdicts {dispute}"] = list(verdicts)

    def run(self, rng: Random) -> None:
        """Deliver everything; which source is next is drawn."""
        while self.pending:
            source = rng.choice(sorted(self.pending))
            event = self.pending[source].pop(0)
            if not self.pending[source]:
                del self.pending[source]
            self._deliver(event)

    def _deliver(self, event: Any) -> None:
        if isinstance(event, tuple):  # a proposal on its way to the allowance
            state, emits = ALLOWANCE.on_proposal(self.customer, event[0], NOW)
            assert state is not None
            self.customer = state
            for decision in on(DECISIONS.name, emits):
                self.pending[f"decided {decision.decision_id}"] = [decision, as_paid(decision)]
                self.paid += [decision] if decision.amount_minor else []
            return
        step = STEPS.get(type(event)) or (
            SETTLEMENT.on_decision if isinstance(event, Decision) else SETTLEMENT.on_payment
        )
        order = event.settles_under
        book, emits = step(self.books.get(order, OrderBook()), event, NOW)  # type: ignore[operator]
        assert book is not None
        self.books[order] = book
        for proposal in on(PROPOSALS.name, emits):
            self.pending.setdefault("proposals", []).append((proposal,))

    @property
    def total(self) -> int:
        return sum(decision.amount_minor for decision in self.paid)

    def scopes(self) -> Counter[tuple[str, str]]:
        return Counter(
            (decision.order_id, share.scope)
            for decision in self.paid
            for line in decision.lines
            if line.disposition == "pay"
            for share in line.scopes
        )


def on_order(order: str, dispute: str, *claims: Any, **record: Any) -> Docket:
    evidence = a_record(order_id=order, **record)
    return a_docket(*claims, dispute=dispute, evidence=evidence).model_copy(
        update={k: v for k, v in about(dispute, order).items() if k != "pack"}
    )


def upheld(docket: Docket) -> list[Verdict]:
    return [
        a_verdict(claim.index, "UPHELD", docket.dispute_id, category=claim.category).model_copy(
            update={"order_id": docket.order_id, "settles_under": docket.settles_under}
        )
        for claim in docket.claims
    ]


def late(dispute: str, index: int = 1) -> Any:
    return a_claim(
        index, dispute, category="LATE_DELIVERY", line_id=None, quantity=None, scope="order"
    )


def billed(dispute: str, index: int) -> Any:
    return a_claim(index, dispute, category="BILLING", line_id=None, quantity=None, scope="order")


SEEDS = pytest.mark.parametrize("seed", range(12))


@SEEDS
def test_the_same_flat_claims_reworded_ten_times_at_once_pay_once(seed: int) -> None:
    shop = Shop()
    for number in range(10):
        dispute = f"d-{number}"
        claims = [late(dispute), billed(dispute, 2)]
        docket = on_order(
            ORDER, dispute, *claims, delivered_at=LATE_BY_35_MINUTES, paid_total_minor_due=9_000
        )
        shop.file(dispute, docket, *upheld(docket))
    shop.run(Random(seed))
    assert shop.total == 4_900 + 1_000, "the late credit and the overcharge, each once"
    assert max(shop.scopes().values()) == 1


@pytest.mark.parametrize("seed", range(40))
def test_complaints_about_one_order_in_the_same_second_stay_within_its_ceiling(seed: int) -> None:
    """The whole order, single units and the delay, fought over in any order of arrival."""
    rng, shop = Random(seed), Shop()
    for number in range(rng.randint(2, 4)):
        dispute = f"d-{number}"
        whole = a_claim(1, dispute, line_id=None, quantity=None, scope="order")
        units = a_claim(1, dispute, quantity=rng.randint(1, 3))
        docket = on_order(
            ORDER,
            dispute,
            rng.choice([whole, units]),
            late(dispute, 2),
            delivered_at=None,
            order_status="cancelled_by_restaurant",
            packing_scan=SCAN,
        )
        shop.file(dispute, docket, *upheld(docket))
    shop.run(rng)
    assert shop.total <= 10_000, "what was paid for the order"
    assert max(shop.scopes().values(), default=1) == 1


@SEEDS
def test_ten_orders_of_one_customer_in_one_second_stay_within_the_limit(seed: int) -> None:
    shop = Shop()
    for number in range(10):
        dispute, order = f"d-{number}", f"order-{number}"
        claim = a_claim(1, dispute, quantity=2)
        item = {"line_id": "L1", "name": "Thali", "quantity": 2, "unit_price_minor": 40_000}
        docket = on_order(
            order, dispute, claim, line_items=[item], paid_total_minor=80_000, packing_scan=SCAN
        )
        shop.file(dispute, docket, *upheld(docket))
    shop.run(Random(seed))
    assert shop.total == 240_000 <= LIMIT, "three of 800.00 fit"
