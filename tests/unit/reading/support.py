"""Disputes, a scripted model and a fixed clock for the reading stages."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from schemas.base import canonical_bytes
from schemas.dispute import Dispute
from schemas.docket import Usage
from schemas.ids import evidence_hash
from streams.llm.port import (
    ExtractionDraft,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Reply,
    RulingDraft,
)
from streams.policies.loader import LoadedPack, PackRegistry

NOW = datetime(2026, 10, 2, 12, 0, tzinfo=UTC)
PACKS = PackRegistry.load()
FOOD = PACKS.latest("food-delivery")
BANK = PACKS.latest("bank-disputes-ng")

ORDER: dict[str, Any] = {
    "kind": "food-order",
    "order_id": "o-77",
    "customer_id": "c-5",
    "currency": "INR",
    "captured_at": "2026-10-02T11:00:00+00:00",
    "placed_at": "2026-10-02T09:00:00+00:00",
    "delivered_at": "2026-10-02T10:30:00+00:00",
    "delivery_sla_minutes": 40,
    "line_items": [
        {"line_id": "L1", "name": "Khichdi", "quantity": 3, "unit_price_minor": 15000},
        {"line_id": "L2", "name": "Buttermilk", "quantity": 2, "unit_price_minor": 4000},
    ],
    "paid_total_minor": 53000,
    "packing_scan": [
        {"line_id": "L1", "packed_quantity": 2},
        {"line_id": "L2", "packed_quantity": 2},
    ],
    "packaging_condition_recorded": False,
    "partner_rating_at_handover": None,
}


def now() -> datetime:
    return NOW


def dispute(text: str, pack: LoadedPack = FOOD, **changes: Any) -> Dispute:
    evidence = changes.pop("evidence", ORDER)
    return Dispute(
        **{
            "at": NOW,
            "dispute_id": "d-1",
            "order_id": "o-77",
            "customer_id": "c-5",
            "settles_under": "o-77",
            "pack": pack.ref,
            "text": text,
            "filed_at": NOW,
            "received_at": NOW,
            "evidence": evidence,
            "evidence_hash": evidence_hash(canonical_bytes(evidence)) if evidence else None,
            **changes,
        }
    )


class Scripted:
    """A model that says what it is told to, one answer after another, and remembers what it was asked."""

    provider = "scripted"
    model = "script-1"
    simulated = False

    def __init__(self, *answers: Any, seen: tuple[str, ...] | None = None) -> None:
        self._answers: Iterable[Any] = iter(answers)
        self._seen = seen
        self.extractions: list[ExtractionTask] = []
        self.judgings: list[JudgingTask] = []
        self.letters: list[LetterTask] = []

    def _next(self) -> Any:
        answer = next(self._answers)  # type: ignore[call-overload]
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Reply):
            return answer
        return Reply(
            draft=answer,
            usage=Usage(calls=1, input_tokens=10, output_tokens=5),
            provider=self.provider,
            model=self.model,
            raw="raw",
            seen=self._seen,
        )

    async def extract(self, task: ExtractionTask) -> Reply[ExtractionDraft]:
        self.extractions.append(task)
        return self._next()  # type: ignore[no-any-return]

    async def judge(self, task: JudgingTask) -> Reply[RulingDraft]:
        self.judgings.append(task)
        return self._next()  # type: ignore[no-any-return]

    async def write_letter(self, task: LetterTask) -> Reply[str]:
        self.letters.append(task)
        return self._next()  # type: ignore[no-any-return]


def failed(failure: Any, problem: str | None = None) -> Reply[Any]:
    return Reply(
        draft=None,
        usage=Usage(calls=1),
        provider="scripted",
        model="script-1",
        failure=failure,
        problem=problem,
        raw="???",
    )
