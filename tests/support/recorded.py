"""Disputes taken through the real stages in one process, each event recorded as a broker would hold it."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from ops.audit.stored import Place, View, stored
from ops.cases import complaint_of, evidence_of
from schemas.base import Model
from schemas.complaint import Complaint
from schemas.ids import operations_chain
from schemas.ledger import AuditEntry
from schemas.operation import Operation
from schemas.payment import Payment
from schemas.settlement import Decision
from schemas.topics import AUDIT, BY_NAME, COMPLAINTS, EVIDENCE, OPERATIONS, PARTITIONS, PAYMENTS
from streams.allowance import Allowance, CustomerState
from streams.emit import Emit, emit
from streams.extraction import extract
from streams.intake import Intake
from streams.intake_memory import IntakeState
from streams.judging import judge
from streams.ledger import on_event
from streams.ledger_account import LedgerState
from streams.ledger_chain import Place as LinkedPlace
from streams.ledger_chain import on_operation
from streams.llm.offline_rules.model import OfflineRules
from streams.order_book import OrderBook
from streams.policies.loader import PackRegistry
from streams.sealing import DecisionSeal
from streams.settlement import Settlement
from streams.tally import Tally
from topologies.extraction import emits as extracted
from topologies.ledger import INPUTS as CHAINED_INPUTS
from topologies.partitioner import partition_of

BEGIN = datetime(2026, 9, 18, 17, 0, tzinfo=UTC)
KEY = b"an installation key for tests"
TICK = timedelta(milliseconds=40)
LINKED = {topic.name for topic, _ in CHAINED_INPUTS}
Log = list[tuple[Place, str, bytes, datetime]]


class Recorded:
    """A broker, a clock and every stage; `file` runs until nothing is left to do."""

    def __init__(self, packs: PackRegistry | None = None, disagreement: float = 0.0) -> None:
        self.packs = packs or PackRegistry.load()
        self.log: Log = []
        self.now = BEGIN
        self._offsets: Counter[tuple[str, int]] = Counter()
        self._waiting: deque[tuple[Place, Model | dict[str, Any], bytes, datetime]] = deque()
        self._state: dict[tuple[str, str], Any] = {}
        self._model = OfflineRules(disagreement)
        self._intake = Intake(self.packs, KEY)
        self._tally, self._settlement = Tally(self.packs), Settlement(self.packs)
        self._allowance = Allowance(self.packs, DecisionSeal(KEY))

    def file(self, case: dict[str, Any], **changes: Any) -> None:
        """File a labelled case, its complaint changed, a moment after what came before."""
        complaint = Complaint.model_validate({**complaint_of(case), **changes})
        self.now = max(self.now, complaint.filed_at + timedelta(hours=1))
        body = evidence_of(case)
        if body is not None:
            same = {k: changes[k] for k in ("order_id", "customer_id") if k in changes}
            body = {**body, **same, "captured_at": self.now.isoformat()}
            self._put(EVIDENCE.name, complaint.order_id, body, orjson.dumps(body))
        self._put(COMPLAINTS.name, complaint.order_id, complaint, complaint.to_bytes())
        self.run()

    def operate(self, operation: Operation) -> None:
        self.send(emit(OPERATIONS, operation))
        self.run()

    def send(self, item: Emit) -> None:
        if item.event is not None:
            self._put(item.topic, item.key, item.event, item.event.to_bytes())

    def run(self) -> None:
        while self._waiting:
            place, event, value, at = self._waiting.popleft()
            for item in self._step(place, event, value, at):
                self.send(item)

    def view(self, name: str = "kafka", log: Log | None = None) -> View:
        """What a store that holds the log, or another one, holds."""
        view = View(name)
        for place, key, value, at in self.log if log is None else log:
            if place.topic in (COMPLAINTS.name, EVIDENCE.name):
                continue
            one = stored(place, key, at, value)
            assert one is not None
            view.add(one)
            if place.topic == AUDIT.name:
                view.add_link(AuditEntry.from_bytes(value))
        return view

    def events(self, topic: str) -> list[Any]:
        kind: Any = BY_NAME[topic].event
        return [kind.from_bytes(value) for place, _, value, _ in self.log if place.topic == topic]

    def _put(self, topic: str, key: str, event: Any, value: bytes) -> None:
        partition = partition_of(key.encode(), PARTITIONS)
        place = Place(topic, partition, self._offsets[topic, partition])
        self._offsets[topic, partition] += 1
        self.now += TICK
        self.log.append((place, key, value, self.now))
        self._waiting.append((place, event, value, self.now))

    def _clock(self) -> datetime:
        return self.now

    def _fold(self, stage: str, key: str, empty: Any, step: Callable[..., Any], *args: Any) -> list[Emit]:  # fmt: skip
        held = self._state.get((stage, key), empty)
        after, made = step(held, *args)
        self._state[stage, key] = after if after is not None else empty
        return list(made)

    def _step(self, place: Place, event: Any, value: bytes, at: datetime) -> list[Emit]:
        made: list[Emit] = []
        topic = place.topic
        if topic == COMPLAINTS.name:
            return self._fold("intake", event.order_id, IntakeState(), self._intake.on_complaint, event, at)  # fmt: skip
        if topic == EVIDENCE.name:
            order = str(event.get("order_id") or event.get("transaction_id"))
            return self._fold("intake", order, IntakeState(), self._intake.on_evidence, order, event, at)  # fmt: skip
        if topic in LINKED:
            where = LinkedPlace(*place)
            made += self._fold("ledger", event.settles_under, LedgerState(), on_event, event, value, where, at)  # fmt: skip
        if topic == OPERATIONS.name:
            chain = operations_chain(event.subject)
            return self._fold("ledger", chain, LedgerState(), on_operation, event, value, LinkedPlace(*place), at)  # fmt: skip
        if topic == "disputes":
            pack = self.packs.get(event.pack.policy, event.pack.pack_version)
            docket, grievances = asyncio.run(extract(event, pack, self._model, self._clock))
            made += extracted(docket, grievances, self.packs)
        if topic == "grievances":
            pack = self.packs.get(event.pack.policy, event.pack.pack_version)
            for seat in event.seats:
                ruling = asyncio.run(judge(event, seat, pack, self._model, self._clock))
                assert ruling is not None
                made.append(emit(BY_NAME["rulings"], ruling))
        if topic == "rulings":
            made += self._fold("tally", event.grievance_id, None, self._tally.on_ruling, event, at)
        if topic == "proposals":
            made += self._fold("allowance", event.customer_id, CustomerState(), self._allowance.on_proposal, event, at)  # fmt: skip
        take = {
            "dockets": self._settlement.on_docket,
            "verdicts": self._settlement.on_verdict,
            "reviews": self._settlement.on_review,
            "decisions": self._settlement.on_decision,
            "payments": self._settlement.on_payment,
        }.get(topic)
        if take is not None:
            made += self._fold("settlement", event.settles_under, OrderBook(), take, event, at)
        if isinstance(event, Decision):
            made.append(emit(PAYMENTS, self._paid(event)))
        return made

    def _paid(self, decision: Decision) -> Payment:
        shared = set(Payment.model_fields) & set(Decision.model_fields) - {"at"}
        return Payment(
            **decision.model_dump(include=shared),
            at=self.now,
            payment_id=decision.decision_id,
            status="paid" if decision.amount_minor else "not_required",
            gateway="embedded",
        )
