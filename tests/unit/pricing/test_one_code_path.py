"""`price` and the pipeline are one code path: the same functions, and so the same money."""

from datetime import UTC, datetime

import pytest

from ops.cases import labelled
from schemas.complaint import Complaint
from schemas.docket import Docket
from schemas.verdict import Verdict, Votes
from streams import allowance, dry_run, proposing, settlement
from streams.dry_run import price_case
from streams.extraction import says_safety_word
from streams.intake import assess
from streams.order_book import OrderBook
from streams.pricing.allowance import apply_allowance
from streams.pricing.engine import price_dispute
from tests.unit.pricing.cases import ANSWERS, REGISTRY, claims_of
from tests.unit.stages.events import SEAL, on

NOW = datetime(2026, 9, 18, tzinfo=UTC)


def test_price_calls_the_very_functions_that_settlement_and_the_allowance_call() -> None:
    assert dry_run.price_dispute is proposing.price_dispute is price_dispute
    assert dry_run.apply_allowance is allowance.apply_allowance is apply_allowance


@pytest.mark.parametrize("case", labelled(), ids=lambda case: case["id"])
def test_settlement_and_the_allowance_decide_what_price_says(case) -> None:
    told = price_case(case, REGISTRY, NOW)
    pack = REGISTRY.latest(case["policy"])
    complaint = Complaint(policy=case["policy"], **case["complaint"])
    found = assess(
        complaint=complaint, snapshots=[case["evidence"]] if case["evidence"] else [], pack=pack
    )
    claims = [] if found.outcome else claims_of(case)
    about = {
        "at": NOW, "dispute_id": "d-1", "order_id": complaint.order_id, "pack": pack.ref,
        "customer_id": complaint.customer_id, "settles_under": complaint.order_id,
    }  # fmt: skip
    docket = Docket(
        **about, text=complaint.text, filed_at=complaint.filed_at, received_at=NOW, claims=tuple(claims),
        evidence=found.evidence, evidence_hash="sha256:e", screening=found.screening, outcome=found.outcome,
        safety_words=says_safety_word(complaint.text, pack.pack.safety_words), tier=found.tier,
    )  # fmt: skip
    step, book = settlement.Settlement(REGISTRY), OrderBook()
    book, emits = step.on_docket(book, docket, NOW)
    for claim, grievance in zip(claims, case["expect"]["grievances"], strict=False):
        verdict = Verdict(
            **about, verdict_id=f"{claim.grievance_id}.v1", grievance_id=claim.grievance_id,
            category=claim.category, ruling=grievance["truth"], votes=Votes(), confidence=1, closed_by="all_seats",
        )  # fmt: skip
        book, more = step.on_verdict(book, verdict, NOW)
        emits += more
    (proposal,) = on("proposals", emits)
    decide = allowance.Allowance(REGISTRY, SEAL)
    _, emits = decide.on_proposal(allowance.CustomerState(), proposal, NOW)
    (decision,) = on("decisions", emits)
    decided = {**decision.model_dump(), "escalated": list(decision.escalated)}
    assert {key: decided[key] for key in ANSWERS} == {key: told[key] for key in ANSWERS}
    assert [line.amount_minor for line in decision.lines] == [
        line["amount_minor"] for line in told["lines"]
    ]
