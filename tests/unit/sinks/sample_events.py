"""The events of one dispute, modelled on the worked example, as often as a test wants it."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from schemas.base import Event, Model, PackRef
from schemas.complaint import Complaint
from schemas.dead_letter import DeadLetter
from schemas.dispute import Dispute, ScreeningFlag
from schemas.docket import Docket, Usage
from schemas.grievance import Claim, Grievance, LeftOut
from schemas.ids import auto_key, grievance_id, ruling_id, verdict_id
from schemas.ledger import AuditEntry, LedgerEntry
from schemas.letter import Letter, LetterRequest
from schemas.operation import Operation
from schemas.payment import Payment
from schemas.receipt import Receipt
from schemas.review import Review
from schemas.ruling import Ruling
from schemas.settlement import Decision, PriceLine, Proposal, ScopeShare
from schemas.verdict import CountedRuling, Verdict, Votes

FILED = datetime(2026, 11, 30, 16, 30, tzinfo=UTC)
PACK = PackRef(policy="food-delivery", pack_version=1, pack_hash="sha256:pack")
WORDS = "SECRET-WORDS of the customer"
"""Stands in every field that may hold a person's words, so that a test can look for it."""
KEY = b"the key of this installation"
SEATS = (1, 2, 3)
BENCH = {
    1: ("LATE_DELIVERY", ("UPHELD", "UPHELD", "UPHELD"), "UPHELD", 4900, 0, "pay"),
    2: ("MISSING_ITEM", ("UPHELD", "UPHELD", "UPHELD"), "UPHELD", 64000, 0, "pay"),
    3: ("QUALITY", ("ESCALATE", "ESCALATE", "UPHELD"), "ESCALATE", 0, 6000, "person"),
    4: ("PARTNER_CONDUCT", ("REJECTED", "REJECTED", "REJECTED"), "REJECTED", 0, 0, "nothing"),
}  # fmt: skip
"""Per grievance: category, the three rulings, the count, amount, amount if upheld, disposition."""
EVIDENCE: dict[str, Any] = {
    "kind": "food-order",
    "order_id": "1840",
    "customer_id": "c-9",
    "currency": "INR",
    "captured_at": "2026-11-30T16:40:00+00:00",
    "paid_total_minor": 134000,
    "merchant_id": "m-1",
    "courier_id": "k-7",
    "city": "Hyderabad",
    "note": WORDS,
}


class DisputeEvents:
    """Everything one dispute leaves in Kafka, by topic."""

    def __init__(self, number: int = 1, filed: datetime = FILED) -> None:
        self.dispute_id = f"d-{number:06d}"
        self.filed = filed
        self.order: dict[str, Any] = {
            "dispute_id": self.dispute_id,
            "order_id": f"{1839 + number}",
            "settles_under": f"{1839 + number}",
        }
        self.common: dict[str, Any] = {
            **self.order, "customer_id": f"c-{number % 50}", "pack": PACK, "simulated": True,
        }  # fmt: skip

    def after(self, seconds: float) -> datetime:
        return self.filed + timedelta(seconds=seconds)

    def with_complaint(self) -> Mapping[str, Sequence[Model]]:
        """And the complaint that began it, which is nobody's event."""
        return {"complaints": [self.complaint()], **self.all()}

    def all(self) -> dict[str, list[Event]]:
        return {
            "disputes": [self.dispute()],
            "dockets": [self.docket()],
            "grievances": [self.grievance(n) for n in BENCH],
            "rulings": [self.ruling(n, seat) for n in BENCH for seat in SEATS],
            "verdicts": [self.verdict(n) for n in BENCH],
            "proposals": [self.proposal()],
            "decisions": [self.decision()],
            "payments": [self.payment()],
            "letter-requests": [self.letter_request()],
            "letters": [self.letter()],
            "receipts": [self.receipt()],
            "reviews": [self.review()],
            "ledger": [self.ledger(sequence) for sequence in (1, 2, 9)],
            "audit": [self.audit(sequence) for sequence in (1, 2)],
            "operations": [self.operation()],
            "dead-letters": [self.dead_letter()],
        }

    def complaint(self, **changes: Any) -> Complaint:
        return Complaint(
            order_id=self.order["order_id"], customer_id=self.common["customer_id"],
            filed_at=self.filed, policy="food-delivery", text=WORDS, evidence=EVIDENCE,
        ).model_copy(update=changes)  # fmt: skip

    def dispute(self, **changes: Any) -> Dispute:
        return Dispute(
            at=self.after(0.2), **self.common, text=WORDS, filed_at=self.filed,
            received_at=self.after(0.1), evidence=EVIDENCE, evidence_hash="sha256:evidence",
            evidence_problems=(WORDS,),
            screening=(ScreeningFlag(rule="ignore-instructions", where="complaint"),),
            acknowledge_by=self.after(86_400), resolve_by=self.after(259_200),
        ).model_copy(update=changes)  # fmt: skip

    def claim(self, number: int) -> Claim:
        return Claim(
            grievance_id=grievance_id(self.dispute_id, number), index=number,
            category=BENCH[number][0], text=WORDS, span_start=3, span_end=9,
            line_id="L1" if number == 2 else None, quantity=2 if number == 2 else None,
        )  # fmt: skip

    def docket(self) -> Docket:
        return Docket(
            at=self.after(2), **self.common, text=WORDS, filed_at=self.filed,
            received_at=self.after(0.1), claims=tuple(self.claim(n) for n in BENCH),
            left_out=(LeftOut(kind="feeling", span_start=0, span_end=2),),
            evidence=EVIDENCE, evidence_hash="sha256:evidence", problem=WORDS,
            model="offline-rules", prompt_hash="sha256:extract",
            usage=self.usage(1), raw_reply=WORDS,
        )  # fmt: skip

    def usage(self, calls: int) -> Usage:
        return Usage(
            calls=calls, input_tokens=900 * calls, output_tokens=80 * calls,
            cost_micros=1500 * calls, latency_ms=1200 * calls,
        )  # fmt: skip

    def grievance(self, number: int) -> Grievance:
        claim = self.claim(number)
        return Grievance(
            at=self.after(2), **self.common, grievance_id=claim.grievance_id, claim=claim,
            evidence={"placed_at": "x", "delivered_at": WORDS}, evidence_hash="sha256:evidence",
            filed_at=self.filed, seats=SEATS, of=len(BENCH),
        )  # fmt: skip

    def ruling(self, number: int, seat: int, **changes: Any) -> Ruling:
        category, rulings, *_ = BENCH[number]
        grievance = grievance_id(self.dispute_id, number)
        return Ruling(
            at=self.after(3.5), **self.common, ruling_id=ruling_id(grievance, seat),
            grievance_id=grievance, category=category, seat=seat, ruling=rulings[seat - 1],
            confidence=0.9, citations=("delivered_at",), reason=WORDS, provider="offline-rules",
            model=f"rules-{seat}", prompt_variant="abc"[seat - 1], prompt_hash=f"sha256:p{seat}",
            usage=self.usage(1), raw_reply=WORDS, evidence_hash="sha256:evidence",
            grievance_at=self.after(2),
        ).model_copy(update=changes)  # fmt: skip

    def verdict(self, number: int) -> Verdict:
        category, rulings, counted, *_ = BENCH[number]
        grievance = grievance_id(self.dispute_id, number)
        return Verdict(
            at=self.after(3.6), **self.common, verdict_id=verdict_id(grievance, 1),
            grievance_id=grievance, category=category, ruling=counted,
            votes=Votes(**{value: rulings.count(value) for value in set(rulings)}),
            confidence=0.9, closed_by="all_seats",
            rulings=tuple(self._counted(self.ruling(number, seat)) for seat in SEATS),
        )  # fmt: skip

    def _counted(self, ruling: Ruling) -> CountedRuling:
        return CountedRuling(ruling_hash="sha256:r", weight=1, **ruling.model_dump())

    def lines(self) -> tuple[PriceLine, ...]:
        return tuple(
            PriceLine(
                grievance_id=grievance_id(self.dispute_id, number), category=category,
                ruling=counted, scope="unit" if number == 2 else "late",
                line_id="L1" if number == 2 else None, quantity=2 if number == 2 else None,
                amount_minor=amount, amount_if_upheld_minor=if_upheld, ceiling_minor=if_upheld,
                disposition=disposition, basis="2 × 320.00",
                scopes=(ScopeShare(scope="L1#1", amount_minor=amount),),
            )
            for number, (category, _, counted, amount, if_upheld, disposition) in BENCH.items()
        )  # fmt: skip

    def _priced(self) -> dict[str, Any]:
        return {
            **self.common, "currency": "INR", "lines": self.lines(), "amount_minor": 68900,
            "proposed_minor": 68900, "decision_rule": "auto_resolve_within_cap",
            "escalated": ("QUALITY",), "needs_person": True, "filed_at": self.filed,
            "received_at": self.after(0.1), "usage": self.usage(13),
        }  # fmt: skip

    def proposal(self) -> Proposal:
        return Proposal(at=self.after(3.7), proposal_id=auto_key(self.dispute_id), **self._priced())

    def decision(self) -> Decision:
        return Decision(at=self.after(3.8), decision_id=auto_key(self.dispute_id), **self._priced())

    def payment(self) -> Payment:
        return Payment(
            at=self.after(4), **self.common, payment_id=auto_key(self.dispute_id), status="paid",
            amount_minor=68900, currency="INR", gateway="embedded", gateway_ref="g-1", attempts=1,
            received_at=self.after(0.1),
        )  # fmt: skip

    def letter(self) -> Letter:
        return Letter(
            at=self.after(6), **self.common, letter_id=f"{self.dispute_id}:letter", kind="outcome",
            body=WORDS, written_by="model", model="offline-rules", prompt_hash="sha256:letter",
            rejected_drafts=(WORDS,), paid_minor=68900, currency="INR", usage=self.usage(1),
        )  # fmt: skip

    def letter_request(self) -> LetterRequest:
        return LetterRequest(
            at=self.after(4.5), **self.common, letter_id=f"{self.dispute_id}:letter", kind="outcome",
            paid_minor=68900, currency="INR", complaint_text=WORDS,
        )  # fmt: skip

    def receipt(self) -> Receipt:
        return Receipt(
            at=self.after(7), **self.common, letter_id=f"{self.dispute_id}:letter", channel="file",
            reference=f"file:{self.dispute_id}:letter",
        )  # fmt: skip

    def operation(self) -> Operation:
        return Operation(
            at=self.after(9_000), operation_id=f"read-{self.dispute_id}", subject=self.dispute_id,
            action="customer_text_read", actor="asha", role="auditor", details={"command": "explain"},
        )  # fmt: skip

    def review(self) -> Review:
        return Review(
            at=self.after(7_200), **self.order, review_id=f"{self.dispute_id}-r1", action="amount",
            amount_minor=3000, reason_code="goodwill", reviewer="asha", role="officer", note=WORDS,
        )  # fmt: skip

    def ledger(self, sequence: int) -> LedgerEntry:
        settled = sequence >= 9
        stages = {"received": self.after(0.1), "opened": self.after(0.2)}
        if settled:
            stages |= {
                "docketed": self.after(2),
                "judged": self.after(3.6),
                "decided": self.after(3.8),
                "paid": self.after(4),
            }
        return LedgerEntry(
            at=self.after(sequence / 2), **self.common, policy="food-delivery",
            status="part_paid_in_review" if settled else "judging", sequence=sequence,
            filed_at=self.filed, stages=stages, settled_at=self.after(4) if settled else None,
            tier=1, screening=("ignore-instructions",), left_out=1,
            decision_rule="auto_resolve_within_cap" if settled else None, currency="INR",
            amount_minor=68900 if settled else 0, proposed_minor=68900 if settled else 0,
            paid_minor=68900 if settled else 0, pending_minor=6000 if settled else 0,
            escalated=("QUALITY",), needs_person=settled, llm_calls=13, chain_head="sha256:link",
        )  # fmt: skip

    def audit(self, sequence: int) -> AuditEntry:
        return AuditEntry(
            at=self.after(sequence), dispute_id=self.dispute_id, sequence=sequence,
            topic="disputes", partition=1, offset=7, event_hash="sha256:e", previous="sha256:p",
            chain="sha256:c",
        )  # fmt: skip

    def dead_letter(self) -> DeadLetter:
        return DeadLetter(
            at=self.after(1), dead_letter_id=f"intake:complaints-3-{self.dispute_id}",
            stage="intake", topic="complaints", partition=3, offset=8, value="Z0FBQUFB",
            error="text: is empty",
        )  # fmt: skip
