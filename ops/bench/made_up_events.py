"""The events of made-up disputes, sized like real ones: four grievances, three judges, about 35 KB in all.

Nobody judged them: they are marked simulated and their words are drawn from a list by a seed.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from ops.bench.analyst_data import WORDS
from schemas.base import Model, PackRef, canonical_bytes
from schemas.complaint import Complaint
from schemas.dispute import Dispute
from schemas.docket import Docket, Usage
from schemas.grievance import Claim, Grievance
from schemas.ids import (
    auto_key,
    content_hash,
    evidence_hash,
    grievance_id,
    ruling_id,
    verdict_id,
)
from schemas.ledger import LedgerEntry
from schemas.letter import Letter
from schemas.payment import Payment
from schemas.ruling import Ruling
from schemas.settlement import Decision, PriceLine, Proposal, ScopeShare
from schemas.verdict import CountedRuling, Verdict, Votes

FIRST = datetime(2026, 11, 1, tzinfo=UTC)
CATEGORIES = ("LATE_DELIVERY", "MISSING_ITEM", "QUALITY", "PACKAGING")
SEATS = (1, 2, 3)
SHOWN = ("placed_at", "delivered_at", "delivery_sla_minutes", "line_items")
"""Fields of the evidence that a category's judges are given."""
USAGE = Usage(calls=1, input_tokens=2_100, output_tokens=160, cost_micros=1_700, latency_ms=1_400)
PACK = PackRef(policy="food-delivery", pack_version=1, pack_hash="sha256:" + "0" * 64)


def events(number: int, seed: int) -> Iterator[tuple[str, Model]]:
    """Topic and event, in the order in which one dispute leaves them."""
    draw = random.Random(f"{seed}:{number}")
    filed = FIRST + timedelta(seconds=number)
    dispute = f"d-{draw.getrandbits(96):024x}"
    order = f"order-{number}"
    about: dict[str, Any] = {
        "at": filed + timedelta(seconds=2), "dispute_id": dispute, "order_id": order, "settles_under": order,
        "customer_id": f"cust-{draw.randrange(1_000_000)}", "pack": PACK, "simulated": True,
    }  # fmt: skip
    text = _words(draw, 110)
    evidence = _evidence(draw, order, about["customer_id"], filed)
    frozen = evidence_hash(canonical_bytes(evidence))
    times = {"filed_at": filed, "received_at": filed}
    yield "complaints", Complaint(
        order_id=order, customer_id=about["customer_id"], filed_at=filed, policy=PACK.policy, text=text
    )  # fmt: skip
    yield "disputes", Dispute(**about, **times, text=text, evidence=evidence, evidence_hash=frozen)
    claims = tuple(_claim(draw, dispute, index) for index in range(1, len(CATEGORIES) + 1))
    yield "dockets", Docket(
        **about, **times, text=text, claims=claims, evidence=evidence, evidence_hash=frozen,
        model="made-up/m-1", prompt_hash="sha256:x", usage=USAGE, raw_reply=_words(draw, 150),
    )  # fmt: skip
    for claim in claims:
        yield "grievances", Grievance(
            **about, grievance_id=claim.grievance_id, claim=claim, filed_at=filed, seats=SEATS,
            evidence={field: evidence[field] for field in SHOWN}, evidence_hash=frozen, of=len(claims),
        )  # fmt: skip
    verdicts = []
    for claim in claims:
        rulings = [_ruling(draw, about, claim, seat, frozen) for seat in SEATS]
        for ruling in rulings:
            yield "rulings", ruling
        verdicts.append(_verdict(about, claim, rulings))
    for verdict in verdicts:
        yield "verdicts", verdict
    yield from _money(about, times, claims, filed)
    yield "letters", Letter(
        **about, letter_id=f"{dispute}:letter", kind="outcome", body=_words(draw, 120),
        written_by="model", model="made-up/m-1", prompt_hash="sha256:l", paid_minor=19_600,
        currency="INR", usage=USAGE,
    )  # fmt: skip
    yield "ledger", LedgerEntry(
        **about, policy=PACK.policy, status="paid", sequence=11, filed_at=filed, settled_at=about["at"],
        currency="INR", amount_minor=19_600, paid_minor=19_600, decision_rule="auto_resolve_within_cap",
        stages={"received": filed, "paid": about["at"]}, chain_head="sha256:" + "1" * 64,
    )  # fmt: skip


def _words(draw: random.Random, count: int) -> str:
    return " ".join(draw.choices(WORDS, k=count))


def _evidence(draw: random.Random, order: str, customer: str, filed: datetime) -> dict[str, Any]:
    lines = [
        {
            "line_id": f"L{n}", "name": _words(draw, 3), "quantity": draw.randint(1, 4),
            "unit_price_minor": draw.randrange(5_000, 60_000),
        }
        for n in range(1, 6)
    ]  # fmt: skip
    track = [
        {"at": filed.isoformat(), "lat": draw.random() * 90, "lon": draw.random() * 90}
        for _ in range(8)
    ]
    return {
        "kind": "food-order", "order_id": order, "customer_id": customer, "currency": "INR",
        "placed_at": filed.isoformat(), "delivered_at": filed.isoformat(), "delivery_sla_minutes": 45,
        "line_items": lines, "paid_total_minor": 134_000, "captured_at": filed.isoformat(),
        "merchant_id": f"m-{draw.randrange(900)}", "courier_id": f"k-{draw.randrange(3_000)}",
        "gps_trail": track, "call_recording_summary": _words(draw, 20),
    }  # fmt: skip


def _claim(draw: random.Random, dispute: str, index: int) -> Claim:
    return Claim(
        grievance_id=grievance_id(dispute, index), index=index, category=CATEGORIES[index - 1],
        text=_words(draw, 14), span_start=0, span_end=40, line_id="L1", quantity=1,
    )  # fmt: skip


def _ruling(
    draw: random.Random, about: dict[str, Any], claim: Claim, seat: int, frozen: str
) -> Ruling:
    return Ruling(
        **about, ruling_id=ruling_id(claim.grievance_id, seat), grievance_id=claim.grievance_id,
        category=claim.category, seat=seat, ruling="UPHELD", confidence=0.9,
        citations=("delivered_at", "delivery_sla_minutes"), reason=_words(draw, 25), provider="made-up",
        model=f"m-{seat}", prompt_variant="plain", prompt_hash=f"sha256:p{seat}", usage=USAGE,
        request_id=f"req_{draw.getrandbits(80):x}", raw_reply=_words(draw, 110), evidence_hash=frozen,
        grievance_at=about["at"],
    )  # fmt: skip


def _verdict(about: dict[str, Any], claim: Claim, rulings: list[Ruling]) -> Verdict:
    counted = tuple(
        CountedRuling(
            ruling_hash=content_hash(ruling.to_bytes()), weight=1,
            **ruling.model_dump(exclude={"raw_reply", "at", "schema_version"}),
        )
        for ruling in rulings
    )  # fmt: skip
    return Verdict(
        **about, verdict_id=verdict_id(claim.grievance_id, 1), grievance_id=claim.grievance_id,
        category=claim.category, ruling="UPHELD", votes=Votes(UPHELD=3), confidence=0.9,
        closed_by="all_seats", rulings=counted,
    )  # fmt: skip


def _money(
    about: dict[str, Any], times: dict[str, datetime], claims: tuple[Claim, ...], filed: datetime
) -> Iterator[tuple[str, Model]]:
    lines = tuple(
        PriceLine(
            grievance_id=claim.grievance_id, category=claim.category, ruling="UPHELD", scope="unit",
            line_id="L1", quantity=1, amount_minor=4_900, ceiling_minor=4_900, disposition="pay",
            basis="claimed 1, ordered 2: 1 unit of 49.00",
            scopes=(ScopeShare(scope=f"L1#{claim.index}", amount_minor=4_900),),
        )
        for claim in claims
    )  # fmt: skip
    key = auto_key(about["dispute_id"])
    priced: dict[str, Any] = {
        **about, **times, "currency": "INR", "lines": lines, "amount_minor": 19_600,
        "proposed_minor": 19_600, "decision_rule": "auto_resolve_within_cap", "usage": USAGE,
    }  # fmt: skip
    yield "proposals", Proposal(proposal_id=key, **priced)
    yield "decisions", Decision(decision_id=key, **priced)
    yield "payments", Payment(
        **about, payment_id=key, status="paid", amount_minor=19_600, currency="INR", gateway="embedded",
        gateway_ref="g-1", attempts=1, received_at=filed,
    )  # fmt: skip
