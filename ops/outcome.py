"""What became of a labelled case, in the keys of CONTRACT.md, and whether it is what the label says."""

from typing import Any

from ops.watch import Trail
from schemas.ids import auto_key


def outcome(case: dict[str, Any], dispute_id: str, trail: Trail) -> dict[str, Any]:
    """One case's outcome as `demo --json` reports it."""
    entry, docket = trail.entry, trail.docket
    decision = trail.decisions.get(auto_key(dispute_id))
    lines = {line.grievance_id: line for line in decision.lines} if decision else {}
    grievances: list[dict[str, Any]] = []
    for claim in docket.claims if docket else ():
        verdict = trail.verdicts.get(claim.grievance_id)
        line = lines.get(claim.grievance_id)
        votes = verdict.votes.model_dump() if verdict else {}
        grievances.append(
            {
                "category": claim.category,
                "text": claim.text,
                "span_start": claim.span_start,
                "span_end": claim.span_end,
                "line_id": claim.line_id,
                "quantity": claim.quantity,
                "scope": claim.scope,
                "ruling": verdict.ruling if verdict else None,
                "votes": {
                    name: votes.get(name, 0)
                    for name in ("UPHELD", "REJECTED", "ESCALATE", "FAILED")
                },
                "confidence": verdict.confidence if verdict else None,
                "amount_minor": line.amount_minor if line else 0,
                "amount_if_upheld_minor": line.amount_if_upheld_minor if line else 0,
                "basis": line.basis if line else None,
            }
        )
    found: dict[str, Any] = {
        "case_id": case["id"],
        "dispute_id": dispute_id,
        "status": entry.status if entry else None,
        "decision_rule": entry.decision_rule if entry else None,
        "amount_minor": entry.amount_minor if entry else None,
        "proposed_minor": entry.proposed_minor if entry else None,
        "paid_minor": entry.paid_minor if entry else None,
        "currency": entry.currency if entry else None,
        "llm_calls": entry.llm_calls if entry else 0,
        "usage": entry.usage.model_dump() if entry else None,
        "escalated": list(entry.escalated) if entry else [],
        "needs_person": entry.needs_person if entry else None,
        "left_out": len(docket.left_out) if docket else None,
        "grievances": grievances,
        "letter": trail.outcome_letter.body if trail.outcome_letter else None,
        "simulated": entry.simulated if entry else None,
        "timings": {
            stage: at.isoformat() for stage, at in sorted(entry.stages.items(), key=lambda s: s[1])
        }
        if entry
        else {},
    }
    found["mismatches"] = mismatches(case["expect"], found)
    found["matches_label"] = not found["mismatches"]
    return found


def mismatches(expect: dict[str, Any], found: dict[str, Any]) -> list[str]:
    """Each way in which an outcome differs from its label: categories and lines, what was left out where
    the label says, amount, rule, escalated, needs_person."""
    wrong: list[str] = []
    for key in ("amount_minor", "proposed_minor", "decision_rule", "escalated", "needs_person"):
        if expect.get(key) is not None and expect[key] != found[key]:
            wrong.append(f"{key}: expected {expect[key]!r}, found {found[key]!r}")
    if expect.get("left_out") is not None and expect["left_out"] != found["left_out"]:
        wrong.append(f"left_out: expected {expect['left_out']}, found {found['left_out']}")
    labelled = sorted(_what(grievance) for grievance in expect["grievances"])
    extracted = sorted(_what(grievance) for grievance in found["grievances"])
    if [category for category, _ in labelled] != [category for category, _ in extracted]:
        wrong.append(f"grievances: expected {labelled}, found {extracted}")
    elif any(
        line and line != other for (_, line), (_, other) in zip(labelled, extracted, strict=True)
    ):
        wrong.append(f"lines: expected {labelled}, found {extracted}")
    return wrong


def _what(grievance: dict[str, Any]) -> tuple[str, str]:
    return grievance["category"], grievance.get("line_id") or ""
