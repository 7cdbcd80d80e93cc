"""Settlement, allowance and payout together under whatever comes: disputes that meet on one order or one
transaction, people who decide, appeals, refusals, lost answers, and any event a second time."""

import contextlib
from collections import Counter, defaultdict
from datetime import datetime
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from schemas.docket import Docket
from schemas.payment import Payment
from schemas.review import Review
from schemas.settlement import Decision, Proposal
from schemas.timer import Deadline
from schemas.topics import DECISIONS, LETTER_REQUESTS, PROPOSALS, TIMERS
from schemas.verdict import Verdict
from streams.allowance import Allowance, CustomerState
from streams.beyond_lines import unrecorded_limit
from streams.order_book import OrderBook
from streams.payments.port import GatewayRefused, GatewayUnavailable, Refund, RefundRequest
from streams.payout import pay
from streams.recomputed import Recomputed
from streams.settlement import Settlement
from tests.support.memory_gateway import MemoryGateway
from tests.unit.stages.events import (
    BANK,
    CUSTOMER,
    FOOD,
    NOW,
    PACKS,
    SEAL,
    a_claim,
    a_docket,
    a_record,
    a_review,
    a_verdict,
    about,
    after,
    on,
    rung,
)

SETTLEMENT, ALLOWANCE = Settlement(PACKS), Allowance(PACKS, SEAL)
ORDERS = ("o-1", "o-2")
TRANSACTIONS = ("T-1", "T-2", "T-3")
RULINGS = st.sampled_from(["UPHELD", "UPHELD", "UPHELD", "REJECTED", "ESCALATE"])
CATEGORIES = ("MISSING_ITEM", "WRONG_ITEM", "QUALITY", "PACKAGING", "LATE_DELIVERY", "BILLING")
OWED = ("failed_transfer", "duplicate_debit", "excess_charge", "unauthorised")
PEOPLE = st.sampled_from(["asha", "bola", "chidi"])


class Gateway(MemoryGateway):
    """Refuses, and loses its answer after paying, when it is told to."""

    refuses = False
    loses = False

    async def refund(self, request: RefundRequest) -> Refund:
        if self.refuses:
            raise GatewayRefused("account_closed", "told to")
        paid = await super().refund(request)
        if self.loses:
            self.loses = False
            raise GatewayUnavailable("told to")
        return paid


def now() -> datetime:
    return NOW


def run(coroutine: Any) -> Any:
    """The gateway of this test never waits."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


class Money(RuleBasedStateMachine):
    """`queues` hold, per source, what is under way, in order; a rule delivers the head of one of them."""

    @initialize(
        paid=st.sampled_from([10_000, 9_000, 0]),
        before=st.sampled_from([0, 0, 2_500, 5_000]),
        late=st.booleans(),
    )
    def shop(self, paid: int, before: int, late: bool) -> None:
        self.books: dict[str, OrderBook] = {}
        self.customer = CustomerState()
        self.gateway = Gateway()
        self.queues: dict[str, list[Any]] = defaultdict(list)
        self.seen: list[Any] = []
        self.disputes: dict[str, Docket] = {}
        self.windows: list[Deadline] = []
        self.recorded: set[str] = set()
        self.reviews: dict[str, list[Review]] = defaultdict(list)
        self.decided: dict[str, Decision] = {}
        self.letters: Counter[str] = Counter()
        self.paid_total, self.before, self.late = paid, min(before, paid), late

    # What comes.

    @rule(
        order=st.sampled_from(ORDERS),
        claims=st.lists(
            st.tuples(
                st.sampled_from(CATEGORIES),
                st.sampled_from(["L1", "L2", None]),
                st.sampled_from([1, 2, None]),
                st.booleans(),
                RULINGS,
            ),
            max_size=4,
        ),
        evidence=st.sampled_from(["record", "record", "record", "none"]),
        scan=st.booleans(),
        cancelled=st.booleans(),
    )
    def complain(
        self, order: str, claims: list[Any], evidence: str, scan: bool, cancelled: bool
    ) -> None:
        dispute = f"d-{len(self.disputes)}"
        made = [
            a_claim(
                i,
                dispute,
                category=category,
                line_id=None if category in ("LATE_DELIVERY", "BILLING") else line,
                quantity=quantity,
                scope="order" if whole or category == "LATE_DELIVERY" else "line",
            )
            for i, (category, line, quantity, whole, _) in enumerate(claims, 1)
        ]
        record = self._record(order, scan, cancelled) if evidence == "record" else None
        if record:
            self.recorded.add(order)
        outcome = None if record else "evidence_unavailable"
        docket = a_docket(
            *(made if record else []), dispute=dispute, evidence=record, outcome=outcome
        )
        self._file(docket, about(dispute, order), [ruling for *_, ruling in claims])

    @rule(
        own=st.sampled_from(TRANSACTIONS),
        others=st.sets(st.sampled_from(TRANSACTIONS)),
        category=st.sampled_from(OWED),
        ruling=RULINGS,
        reversed_minor=st.sampled_from([0, 0, 1_000]),
        amount=st.sampled_from([420_000, 420_000, 60_000_000]),
    )
    def complain_of_a_transaction(
        self,
        own: str,
        others: set[str],
        category: str,
        ruling: str,
        reversed_minor: int,
        amount: int,
    ) -> None:
        """The record of each names whom it likes: systems of record do not agree."""
        dispute = f"d-{len(self.disputes)}"
        record = {
            "kind": "bank-transaction", "transaction_id": own, "customer_id": CUSTOMER, "currency": "NGN",
            "amount_minor": amount, "due_minor": 400_000, "initiated_at": after(hours=-2).isoformat(),
            "rail": "bill", "status": "FAILED", "reversed_minor": reversed_minor,
            "captured_at": after(seconds=1).isoformat(),
            "related": [
                {"transaction_id": other, "amount_minor": 420_000, "same_reference": True}
                for other in sorted(others - {own})
            ],
        }  # fmt: skip
        under = min({own, *others})
        claim = a_claim(1, dispute, category=category, line_id=None, quantity=None)
        docket = a_docket(claim, dispute=dispute, evidence=record)
        place = {**about(dispute, own, BANK), "settles_under": under}
        self._file(docket, place, [ruling])

    def _record(self, order: str, scan: bool, cancelled: bool) -> dict[str, Any]:
        refunds: list[dict[str, Any]] = []
        if self.before:
            refunds.append({"refund_id": "theirs", "amount_minor": self.before, "line_id": "L1"})
        refunds += [
            {"refund_id": paid.key, "amount_minor": paid.amount_minor}
            for paid in self.gateway.paid
            if paid.order_id == order
        ]
        if sum(refund["amount_minor"] for refund in refunds) > self.paid_total:
            refunds = refunds[:1]
        more: dict[str, Any] = {}
        if scan:
            more["packing_scan"] = [{"line_id": "L1", "packed_quantity": 0}]
        if cancelled:
            more |= {"order_status": "cancelled_by_restaurant", "delivered_at": None}
        elif self.late:
            more["delivered_at"] = after(minutes=-20).isoformat()
        return a_record(
            order_id=order,
            line_items=[
                {"line_id": "L1", "name": "Naan", "quantity": 2, "unit_price_minor": 2_500},
                {"line_id": "L2", "name": "Dal", "quantity": 1, "unit_price_minor": 5_000},
            ],
            paid_total_minor=self.paid_total,
            paid_total_minor_due=max(0, self.paid_total - 700),
            refunds=refunds,
            **more,
        )

    def _file(self, docket: Docket, place: dict[str, Any], rulings: list[str]) -> None:
        docket = docket.model_copy(update=place)
        dispute = docket.dispute_id
        self.disputes[dispute] = docket
        self.queues[f"docket {dispute}"].append(docket)
        for claim, ruling in zip(docket.claims, rulings, strict=False):
            verdict = a_verdict(claim.index, ruling, dispute, category=claim.category)
            self.queues[f"verdict {dispute} {claim.index}"].append(verdict.model_copy(update=place))

    @rule(
        data=st.data(),
        action=st.sampled_from(["approve", "amount", "reject", "appeal", "more_evidence"]),
        reviewer=PEOPLE,
        role=st.sampled_from(["officer", "lead", "lead", "customer"]),
        amount=st.sampled_from([0, 1, 2_500, 5_000, 10_000, 420_000, 9_007_199_254_740_991]),
    )
    def decide(
        self, data: st.DataObject, action: str, reviewer: str, role: str, amount: int
    ) -> None:
        if not self.disputes:
            return
        docket = self.disputes[data.draw(st.sampled_from(sorted(self.disputes)))]
        number = sum(map(len, self.reviews.values()))
        review = a_review(
            action,
            f"r-{number}",
            reviewer,
            dispute_id=docket.dispute_id,
            order_id=docket.order_id,
            settles_under=docket.settles_under,
            role=role,
            **({"amount_minor": amount} if action == "amount" else {}),
        )
        self.reviews[docket.dispute_id].append(review)
        self.queues[f"reviews {docket.settles_under}"].append(review)

    # What the pipeline does with it.

    @rule(data=st.data(), refuses=st.booleans(), loses=st.booleans())
    def deliver(self, data: st.DataObject, refuses: bool, loses: bool) -> None:
        waiting = sorted(source for source, events in self.queues.items() if events)
        if waiting:
            self.gateway.refuses, self.gateway.loses = refuses and loses, loses
            self._take(data.draw(st.sampled_from(waiting)))

    @rule()
    def go_on(self) -> None:
        """Everything under way ends, sources in their order."""
        self.gateway.refuses = self.gateway.loses = False
        while waiting := sorted(source for source, events in self.queues.items() if events):
            self._take(waiting[0])

    @rule(data=st.data())
    def tell_again(self, data: st.DataObject) -> None:
        if self.seen:
            self._deliver(data.draw(st.sampled_from(self.seen)))

    @rule(data=st.data())
    def a_window_ends(self, data: st.DataObject) -> None:
        if self.windows:
            self._deliver(data.draw(st.sampled_from(self.windows)))

    def _take(self, source: str) -> None:
        event = self.queues[source].pop(0)
        self.seen.append(event)
        self._deliver(event)

    def _deliver(self, event: Any) -> None:
        with contextlib.suppress(Recomputed):  # a dead letter; the first decision stands
            self._hand_over(event)
        self._check()

    def _hand_over(self, event: Any) -> None:
        if isinstance(event, tuple) and isinstance(event[0], Proposal):
            state, emits = ALLOWANCE.on_proposal(self.customer, event[0], NOW)
            assert state is not None
            self.customer = CustomerState.model_validate_json(state.to_bytes())
            for decision in on(DECISIONS.name, emits):
                self.decided[decision.decision_id] = decision
                self.queues[f"decisions {decision.settles_under}"].append(decision)
                self.queues[f"payout {decision.settles_under}"].append((decision,))
            return
        if isinstance(event, tuple):
            self._pay(event[0])
            return
        steps: dict[type, Any] = {
            Docket: SETTLEMENT.on_docket,
            Verdict: SETTLEMENT.on_verdict,
            Decision: SETTLEMENT.on_decision,
            Payment: SETTLEMENT.on_payment,
            Review: SETTLEMENT.on_review,
            Deadline: SETTLEMENT.on_deadline,
        }
        key = event.waiting_key if isinstance(event, Deadline) else event.settles_under
        book, emits = steps[type(event)](self.books.get(key, OrderBook()), event, NOW)
        if book is not None:
            self.books[key] = OrderBook.model_validate_json(book.to_bytes())
        for proposal in on(PROPOSALS.name, emits):
            self.queues["proposals"].append((proposal,))
        for timer in on(TIMERS.name, emits):
            if timer is not None and timer.kind == "docket_window":
                self.windows.append(rung(timer))
        self.letters.update(request.letter_id for request in on(LETTER_REQUESTS.name, emits))

    def _pay(self, decision: Decision) -> None:
        assert SEAL.holds(decision)
        try:
            payment = run(pay(decision, self.gateway, "http", 1, now))
        except GatewayUnavailable:
            self.queues[f"payout {decision.settles_under}"].insert(0, (decision,))
            return
        self.queues[f"payments {decision.settles_under}"].append(payment)

    # What must hold, always.

    def _check(self) -> None:
        assert max(self.letters.values(), default=1) == 1
        keys = Counter(paid.key for paid in self.gateway.paid)
        assert max(keys.values(), default=1) == 1, "one key, one payment"
        scopes = Counter(
            scope if scope.startswith("tx:") else f"{paid.order_id} {scope}"
            for paid in self.gateway.paid
            for scope in paid.scopes
        )
        assert max(scopes.values(), default=1) == 1, f"a scope is paid once: {scopes}"
        for order in ORDERS:
            self._check_order(order)
        for paid in self.gateway.paid:
            self._check_people(self.decided[paid.key])

    def _check_order(self, order: str) -> None:
        paid = [one for one in self.gateway.paid if one.order_id == order]
        automatic = sum(one.amount_minor for one in paid if one.key.endswith(":auto"))
        left = self.paid_total - self.before
        assert automatic <= left, f"automatic payments on {order}"
        most = left
        if any(
            docket.order_id == order and docket.evidence is None
            for docket in self.disputes.values()
        ):
            most = max(left, unrecorded_limit(FOOD.pack))  # nobody could know, until a record came
        assert sum(one.amount_minor for one in paid) <= most, f"everything paid on {order}"

    def _check_people(self, decision: Decision) -> None:
        if decision.review_id is None:
            assert decision.tier == 1 or decision.pack.policy == FOOD.pack.policy
            return
        reviews = self.reviews[decision.dispute_id]
        (mine,) = [review for review in reviews if review.review_id == decision.review_id]
        assert mine.action in ("approve", "amount")
        assert mine.role in ("officer", "lead")
        pack = FOOD if decision.pack.policy == FOOD.pack.policy else BANK
        limit = next(r.limit_minor for r in pack.pack.roles if r.role == mine.role)
        assert limit is None or decision.amount_minor <= limit
        if decision.tier >= 3:
            assert {r.reviewer for r in reviews if r.action in ("approve", "amount")} > {
                mine.reviewer
            }

    def teardown(self) -> None:
        """Every dispute ends: paid, closed, or before a person; nothing is left under way."""
        if not hasattr(self, "books"):
            return
        self.go_on()
        for dispute, docket in self.disputes.items():
            book = self.books[docket.settles_under].disputes[dispute]
            assert f"{dispute}:auto" in book.told
            assert not book.early
            assert book.needs_person or not book.pending(), "what waits has somebody to wait for"
            assert set(book.decisions) <= set(book.told)
            gone = sum(p.amount_minor for p in self.gateway.paid if p.key.startswith(dispute + ":"))
            said = sum(line.amount_minor for line in book.lines if line.disposition == "pay")
            assert gone == said, "the book says what was paid"


TestMoney = Money.TestCase
TestMoney.settings = settings(max_examples=25, stateful_step_count=30, deadline=None)
