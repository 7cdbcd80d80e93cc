"""Cases as the labelled files hold them, priced by the pipeline's own functions."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from schemas.complaint import Complaint
from schemas.grievance import Claim
from streams.intake import assess
from streams.policies.loader import PackRegistry
from streams.pricing.allowance import Allowed, apply_allowance
from streams.pricing.engine import Priced, price_dispute
from streams.pricing.holdings import HeldScope, Holdings

DATA = Path(__file__).parents[2] / "data"
REGISTRY = PackRegistry.load()
FOOD = REGISTRY.latest("food-delivery").pack
BANK = REGISTRY.latest("bank-disputes-ng").pack
ANSWERS = ("amount_minor", "proposed_minor", "decision_rule", "escalated", "needs_person")


def load(*names: str) -> list[dict[str, Any]]:
    """The cases of `tests/data/<name>.jsonl`."""
    return [
        json.loads(line)
        for name in names
        for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()
    ]


def claim(index: int, category: str, **more: Any) -> Claim:
    return Claim(
        grievance_id=f"g{index}",
        index=index,
        category=category,
        text=category,
        span_start=0,
        span_end=0,
        **more,
    )


def claims_of(case: dict[str, Any]) -> list[Claim]:
    keys = ("line_id", "quantity", "scope", "safety")
    return [
        claim(i, g["category"], **{key: g[key] for key in keys if g.get(key) is not None})
        for i, g in enumerate(case["expect"]["grievances"], 1)
    ]


def order(**more: Any) -> dict[str, Any]:
    """A delivered order: two naans of 50.00 and a dal of 200.00, 100.00 a unit where not said."""
    record = {
        "kind": "food-order",
        "order_id": "o-1",
        "customer_id": "c-1",
        "currency": "INR",
        "placed_at": "2026-09-18T20:00:00+05:30",
        "delivered_at": "2026-09-18T20:30:00+05:30",
        "delivery_sla_minutes": 40,
        "line_items": [
            {"line_id": "L1", "name": "Naan", "quantity": 2, "unit_price_minor": 5_000},
            {"line_id": "L2", "name": "Dal", "quantity": 1, "unit_price_minor": 20_000},
        ],
        "paid_total_minor": 30_000,
        "captured_at": "2026-09-18T22:05:00+05:30",
    }
    return {key: value for key, value in {**record, **more}.items() if value is not ...}


def price(
    evidence: dict[str, Any] | None,
    claims: Sequence[Claim],
    rulings: Sequence[str] | None = None,
    **more: Any,
) -> Priced:
    """Settlement's pricing under the food pack; every claim UPHELD unless said."""
    ruled = rulings or ["UPHELD"] * len(claims)
    known = {
        "pack": FOOD,
        "screening_tripped": False,
        "safety_words": False,
        "outcome": None,
        "tier": 1,
    }
    by_claim = dict(zip([c.grievance_id for c in claims], ruled, strict=True))
    return price_dispute(evidence=evidence, claims=claims, rulings=by_claim, **{**known, **more})  # type: ignore[arg-type]


def allow(priced: Priced, pack: Any = FOOD, ours: int = 0) -> Allowed:
    return apply_allowance(
        pack=pack,
        lines=priced.lines,
        amount_minor=priced.amount_minor,
        proposed_minor=priced.proposed_minor,
        decision_rule=priced.decision_rule,
        escalated=priced.escalated,
        needs_person=priced.needs_person,
        history_minor=priced.history_minor,
        automatic_in_window_minor=ours,
    )


def settle(case: dict[str, Any], rulings: Sequence[str] | None = None) -> tuple[Priced, Allowed]:
    """Intake's assessment, settlement's pricing and the allowance, for a case that may carry an
    `order_state` (what earlier disputes left, as tests/oracle.py writes it)."""
    pack = REGISTRY.latest(case["policy"])
    complaint = Complaint(policy=case["policy"], **case["complaint"])
    snapshots = [case["evidence"]] if case.get("evidence") else []
    found = assess(complaint=complaint, snapshots=snapshots, pack=pack)
    claims = [] if found.outcome else claims_of(case)
    truths = rulings or [g["truth"] for g in case["expect"]["grievances"]]
    state = case.get("order_state") or {}
    rule = case["expect"].get("decision_rule")
    priced = price_dispute(
        pack=pack.pack,
        evidence=found.evidence,
        claims=claims,
        rulings={f"g{i}": truth for i, truth in enumerate(truths, 1)},  # type: ignore[misc]
        screening_tripped=rule == "screening_flag_requires_human",
        safety_words=rule == "safety_requires_human",
        outcome=found.outcome,
        tier=found.tier,
        holdings=holdings_of(state),
    )
    return priced, allow(priced, pack.pack, state.get("customer_automatic_minor", 0))


def answer(priced: Priced, allowed: Allowed) -> dict[str, Any]:
    return {
        "amount_minor": allowed.amount_minor,
        "proposed_minor": priced.proposed_minor,
        "decision_rule": allowed.decision_rule,
        "escalated": list(allowed.escalated),
        "needs_person": allowed.needs_person,
    }


def holdings_of(state: dict[str, Any]) -> Holdings:
    paid = [
        HeldScope(_scope(e["scope"]), e["amount_minor"], "paid", e.get("refund_id") or "ours")
        for e in state.get("paid", [])
    ]
    held = [
        HeldScope(_scope(e["scope"]), e["amount_minor"], "proposed", "waiting")
        for e in state.get("held", [])
    ]
    return Holdings((*paid, *held), state.get("order_automatic_minor", 0))


def holdings_after(priced: Priced, key: str, before: Holdings) -> Holdings:
    """What the next dispute on the order finds, as settlement's book would say it."""
    scopes = [
        HeldScope(s.scope, s.amount_minor, "paid" if line.disposition == "pay" else "proposed", key)
        for line in priced.lines
        if line.disposition in ("pay", "person")
        for s in line.scopes
    ]
    return Holdings((*before.scopes, *scopes), before.automatic_minor + priced.amount_minor)


def _scope(oracle_scope: list[Any]) -> str:
    kind, *rest = oracle_scope
    if kind == "unit":
        return f"{rest[0]}#{rest[1]}"
    return f"tx:{rest[0]}" if kind == "transaction" else str(kind)
