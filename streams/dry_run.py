"""`refund-bench price`: what a case would pay, by the functions of the pipeline, without a broker.

Intake's assessment (evidence, screening, tier, deadlines), the safety word list, settlement's pricing
and the allowance's rule, in that order. A case is one object as in the labelled cases; its grievances
come from `expect.grievances`, its rulings from `rulings` or, without them, from each `truth`.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, get_args

from pydantic import ValidationError

from schemas.complaint import Complaint
from schemas.evidence import MAX_NESTING, is_too_deep
from schemas.grievance import Claim
from schemas.settlement import PriceLine
from streams.extraction import says_safety_word
from streams.intake import Assessment, assess
from streams.intake_memory import believed
from streams.policies.loader import LoadedPack, PackRegistry
from streams.pricing.allowance import apply_allowance
from streams.pricing.draft import Ruling
from streams.pricing.engine import Priced, price_dispute


class CaseError(ValueError):
    """The case cannot be priced because it is not a case; the message names the field."""


def price_case(case: Mapping[str, Any], registry: PackRegistry, now: datetime) -> dict[str, Any]:
    """Price one case. Amounts are minor units of the pack's currency, times ISO 8601.

    Args:
        now: when the complaint counts as filed, where the case does not say.

    Raises:
        CaseError: the case, its complaint, a grievance or a ruling is not one.
        UnknownPackError: no pack of the case's policy is loaded.
    """
    pack = registry.latest(_text(case, "policy"))
    complaint = _complaint(case, now)
    body = case.get("evidence")
    if body is not None and not isinstance(body, dict):
        raise CaseError("evidence: is not an object")
    if is_too_deep(body):
        raise CaseError(f"evidence: is nested more than {MAX_NESTING} levels deep")
    # A case may be from tomorrow; its record may not be from after it and after now.
    snapshots = [believed(body, max(now, complaint.filed_at))] if body else []
    try:
        found = assess(complaint=complaint, snapshots=snapshots, pack=pack)
    except OverflowError:
        raise CaseError(
            "complaint.filed_at: leaves no time to answer before the year 9999"
        ) from None
    claims, rulings = _docket(case)
    # As in the pipeline: where there is an outcome, nothing was asked of anyone.
    outcome = found.outcome
    if outcome is None and len(claims) > pack.pack.limits.max_grievances:
        outcome = "extraction_failed"
    priced = price_dispute(
        pack=pack.pack,
        evidence=found.evidence,
        claims=() if outcome else claims,
        rulings=rulings,
        screening_tripped=bool(found.screening),
        safety_words=says_safety_word(complaint.text, pack.pack.safety_words),
        outcome=outcome,
        tier=found.tier,
    )
    filed = _moment(case, now)
    return _answer(priced, found, pack, filed)


def _answer(priced: Priced, found: Assessment, pack: LoadedPack, filed: datetime) -> dict[str, Any]:
    allowed = apply_allowance(
        pack=pack.pack,
        lines=priced.lines,
        amount_minor=priced.amount_minor,
        proposed_minor=priced.proposed_minor,
        decision_rule=priced.decision_rule,
        escalated=priced.escalated,
        needs_person=priced.needs_person,
        history_minor=priced.history_minor,
        automatic_in_window_minor=0,
    )
    return {
        "amount_minor": allowed.amount_minor,
        "proposed_minor": priced.proposed_minor,
        "currency": pack.pack.currency,
        "decision_rule": allowed.decision_rule,
        "escalated": list(allowed.escalated),
        "needs_person": allowed.needs_person,
        "tier": priced.tier,
        "acknowledge_by": _at(found.acknowledge_by, filed),
        "resolve_by": _at(found.resolve_by, filed),
        "screening": [flag.model_dump() for flag in found.screening],
        "lines": [_line(line) for line in allowed.lines],
        "problems": [*found.problems, *([priced.problem] if priced.problem else [])],
        "evidence_stale": found.evidence_stale,
        "policy": pack.pack.policy,
        "pack_version": pack.pack.version,
        "pack_hash": pack.hash,
    }


def _line(line: PriceLine) -> dict[str, Any]:
    shown = line.model_dump(
        include={
            "category", "ruling", "scope", "line_id", "quantity", "amount_minor",
            "amount_if_upheld_minor", "ceiling_minor", "disposition", "basis", "person_reason",
        }
    )  # fmt: skip
    return {**shown, "scopes": [share.model_dump(exclude_none=True) for share in line.scopes]}


def _complaint(case: Mapping[str, Any], now: datetime) -> Complaint:
    body = case.get("complaint")
    if not isinstance(body, dict):
        raise CaseError("complaint: is missing or is not an object")
    try:
        return Complaint.model_validate(
            {"filed_at": now, **body, "policy": case["policy"], "evidence": None}
        )
    except ValidationError as error:
        raise CaseError(_faults("complaint", error)) from None


def _docket(case: Mapping[str, Any]) -> tuple[list[Claim], dict[str, Ruling]]:
    """The grievances as claims, and the ruling on each."""
    expect = case.get("expect") or {}
    grievances = expect.get("grievances", []) if isinstance(expect, dict) else None
    if not isinstance(grievances, list) or not all(isinstance(g, dict) for g in grievances):
        raise CaseError("expect.grievances: is not a list of objects")
    given = case.get("rulings")
    if given is None:
        given = [grievance.get("truth") for grievance in grievances]
    if not isinstance(given, Sequence) or len(given) != len(grievances):
        raise CaseError(f"rulings: there must be {len(grievances)}, one for each grievance")
    claims: list[Claim] = []
    rulings: dict[str, Ruling] = {}
    for i, (grievance, ruling) in enumerate(zip(grievances, given, strict=True), 1):
        if ruling not in get_args(Ruling):
            raise CaseError(f"rulings.{i}: {ruling!r} is not one of {', '.join(get_args(Ruling))}")
        claim = _claim(i, grievance)
        claims.append(claim)
        rulings[claim.grievance_id] = ruling
    return claims, rulings


def _claim(index: int, grievance: Mapping[str, Any]) -> Claim:
    about = str(grievance.get("about") or grievance.get("text") or grievance.get("category"))
    known = {
        field: grievance[field]
        for field in ("category", "line_id", "quantity", "scope", "safety")
        if grievance.get(field) is not None
    }
    try:
        return Claim.model_validate(
            {
                **known,
                "grievance_id": f"g{index}",
                "index": index,
                "text": about,
                "span_start": 0,
                "span_end": 0,
            }
        )
    except ValidationError as error:
        raise CaseError(_faults(f"expect.grievances.{index}", error)) from None


def _text(case: Mapping[str, Any], field: str) -> str:
    value = case.get(field)
    if not isinstance(value, str) or not value:
        raise CaseError(f"{field}: is missing")
    return value


def _moment(case: Mapping[str, Any], now: datetime) -> datetime:
    """When the complaint was filed, with the time zone it was written in."""
    try:
        return datetime.fromisoformat(str(case["complaint"]["filed_at"]))
    except (KeyError, ValueError):
        return now


def _at(moment: datetime | None, filed: datetime) -> str | None:
    """A deadline, in the time zone the complaint was filed in."""
    return None if moment is None else moment.astimezone(filed.tzinfo).isoformat()


def _faults(place: str, error: ValidationError) -> str:
    return "; ".join(
        f"{place}.{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"
        for fault in error.errors()
    )
