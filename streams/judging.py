"""Judging: one seat's ruling on one grievance, its citations checked before it may count."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from schemas.docket import Usage
from schemas.grievance import Grievance
from schemas.ids import ruling_id
from schemas.pack import Category, Seat
from schemas.ruling import Ruling
from streams.llm.port import (
    HOPELESS,
    CategoryBrief,
    EvidenceTool,
    JudgingTask,
    Model,
    Reply,
    RulingDraft,
)
from streams.llm.spend_shares import for_seat
from streams.policies.loader import LoadedPack
from streams.prompts import judge_prompt

CITATION_MISSING = "citation_missing"
LONGEST_REASON = 2_000
"""Characters of a judge's reason, or of what was wrong with its reply. Verdicts repeat it; the raw reply
keeps all of it."""
MOST_FAULTS = 5
_DECIDES = frozenset({"UPHELD", "REJECTED"})
_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")

Clock = Callable[[], datetime]


async def judge(
    grievance: Grievance, seat: int, pack: LoadedPack, model: Model, now: Clock
) -> Ruling | None:
    """The seat's ruling, FAILED with its reason where two asks gave none that counts.

    None where the pinned pack does not seat it.

    Raises:
        Overloaded, ProviderDown, Misconfigured: from the model; the async stage decides what then.
    """
    seated = _seated(pack, seat)
    category = pack.pack.category(grievance.claim.category)
    if seated is None or category is None:
        return None
    task = _task(grievance, seated, category, pack)
    usage = Usage()
    attempts = 0
    for _ in range(2):
        reply = await model.judge(task)
        usage = usage.plus(reply.usage)
        attempts += reply.attempts
        seen = _seen(reply, grievance.evidence)
        failure, problem = _fault(reply, seen, category)
        if failure is None or failure in HOPELESS:
            break
        correction = f"Your last reply cannot be used: {problem}"
        task = JudgingTask(**{**vars(task), "correction": correction, "previous_reply": reply.raw})
    return Ruling(
        **_identity(grievance, seated, pack),
        at=now(),
        **_ruled(reply, failure, problem, category, seen),
        seen=tuple(sorted(seen)),
        provider=reply.provider,
        model=reply.model,
        attempts=attempts,
        usage=usage,
        request_id=reply.request_id,
        raw_reply=reply.raw,
        simulated=grievance.simulated or reply.simulated,
    )


def abstain(
    grievance: Grievance, seat: int, pack: LoadedPack, reason: str, now: Clock, model: Model
) -> Ruling:
    """The ruling of a seat that could not be asked, or not in time.

    Raises:
        ValueError: the pack does not seat it.
    """
    seated = _seated(pack, seat)
    if seated is None:
        raise ValueError(f"pack {pack.pack.policy} v{pack.pack.version} has no seat {seat}")
    return Ruling(
        **_identity(grievance, seated, pack),
        at=now(),
        ruling="FAILED",
        failure=reason,
        provider=model.provider,
        model=model.model,
        attempts=0,
        simulated=grievance.simulated or model.simulated,
    )


def _seated(pack: LoadedPack, seat: int) -> Seat | None:
    return next((s for s in pack.pack.bench.seats if s.seat == seat), None)


def _task(grievance: Grievance, seat: Seat, category: Category, pack: LoadedPack) -> JudgingTask:
    return JudgingTask(
        prompt=judge_prompt(pack, seat.prompt_variant),
        stand_in=pack.offline,
        grievance_id=grievance.grievance_id,
        claim=grievance.claim,
        category=CategoryBrief(
            category.name,
            category.description,
            category.examples,
            category.citations,
            category.about_goods,
        ),
        evidence=grievance.evidence,
        filed_at=grievance.filed_at.isoformat(),
        seat=seat.seat,
        seats=grievance.seats,
        variant=seat.prompt_variant,
        **vars(
            for_seat(grievance.grievance_id, seat.seat, grievance.of, max(1, len(grievance.seats)))
        ),
        tools=_tools(seat, category, pack),
    )


def _tools(seat: Seat, category: Category, pack: LoadedPack) -> tuple[EvidenceTool, ...]:
    """What a seat with tools may ask about this category: never more than the category lists."""
    if seat.evidence == "shown":
        return ()
    asked = (
        (tool, tuple(field for field in tool.fields if field in category.evidence_fields))
        for tool in pack.pack.tools
    )
    return tuple(
        EvidenceTool(tool.name, tool.description, fields) for tool, fields in asked if fields
    )


def _seen(reply: Reply[RulingDraft], evidence: dict[str, Any]) -> dict[str, Any]:
    """The part of the evidence that the judge had before it."""
    if reply.seen is None:
        return evidence
    return {field: evidence[field] for field in reply.seen if field in evidence}


def top_field(citation: str) -> str:
    """The top-level field that a citation such as `packing_scan[0].packed_quantity` rests on."""
    return _bare(citation).split("[")[0].split(".")[0]


def _bare(citation: str) -> str:
    return citation.strip().strip("`\"'").strip()


def on_record(citation: str, evidence: dict[str, Any]) -> bool:
    """Whether the evidence holds something, and not null, at the very place that is cited.

    A list is entered by a number, or all of it by anything else in brackets or by a field's name.
    """
    places: list[Any] = [evidence]
    for inside, name in _STEP.findall(_bare(citation)):
        step = (inside or name).strip("`\"'")
        places = [found for place in places for found in _entered(place, step, bool(name))]
    return any(place is not None for place in places)


def _entered(place: Any, step: str, named: bool) -> list[Any]:
    if isinstance(place, dict):
        return [place[step]] if step in place else []
    if not isinstance(place, list | tuple):
        return []
    if step.isdecimal():
        at = int(step) if len(step) < 7 else len(place)
        return [place[at]] if at < len(place) else []
    if not named:
        return list(place)
    return [one[step] for one in place if isinstance(one, dict) and step in one]


def _fault(
    reply: Reply[RulingDraft], evidence: dict[str, Any], category: Category
) -> tuple[str | None, str]:
    """Why a reply does not count: a code for the verdict, and words for the re-ask."""
    draft = reply.draft
    if draft is None:
        failure = reply.failure or "empty"
        return failure, reply.problem or f"the reply was {failure}"
    if draft.ruling not in _DECIDES:
        return None, ""
    if not draft.citations:
        return (
            CITATION_MISSING,
            f"{draft.ruling} rests on no field; cite at least one of {', '.join(category.citations)}",
        )
    found = (_citation_fault(cited, evidence, category) for cited in draft.citations)
    faults = list(dict.fromkeys(fault for fault in found if fault))
    return (CITATION_MISSING, "; ".join(faults[:MOST_FAULTS])) if faults else (None, "")


def _citation_fault(cited: str, evidence: dict[str, Any], category: Category) -> str | None:
    field = top_field(cited)
    if evidence.get(field) is None:
        return f"{field[:60]!r} is not in the evidence you were given"
    if field not in category.citations:
        return f"{field!r} may not be cited for {category.name}; citable are {', '.join(category.citations)}"
    if not on_record(cited, evidence):
        return f"{_bare(cited)[:60]!r} is null or not in the evidence you were given"
    return None


def _ruled(
    reply: Reply[RulingDraft],
    failure: str | None,
    problem: str,
    category: Category,
    evidence: dict[str, Any],
) -> dict[str, Any]:
    draft = reply.draft
    if failure is not None or draft is None:
        return {
            "ruling": "FAILED",
            "failure": failure or "empty",
            "reason": problem[:LONGEST_REASON],
        }
    sound = (
        top_field(c) for c in draft.citations if _citation_fault(c, evidence, category) is None
    )
    return {
        "ruling": draft.ruling,
        "confidence": draft.confidence,
        "citations": tuple(dict.fromkeys(sound)),
        "reason": draft.reason[:LONGEST_REASON],
    }


def _identity(grievance: Grievance, seat: Seat, pack: LoadedPack) -> dict[str, Any]:
    """What a ruling takes from its grievance and seat, asked or not."""
    return {
        "dispute_id": grievance.dispute_id,
        "order_id": grievance.order_id,
        "customer_id": grievance.customer_id,
        "settles_under": grievance.settles_under,
        "pack": grievance.pack,
        "ruling_id": ruling_id(grievance.grievance_id, seat.seat),
        "grievance_id": grievance.grievance_id,
        "category": grievance.claim.category,
        "seat": seat.seat,
        "prompt_variant": seat.prompt_variant,
        "prompt_hash": judge_prompt(pack, seat.prompt_variant).hash,
        "evidence_hash": grievance.evidence_hash,
        "grievance_at": grievance.at,
    }
