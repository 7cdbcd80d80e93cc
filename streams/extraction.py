"""Extraction: one complaint becomes a docket of grievances, or a reason why a person must read it.

The model proposes grievances; everything that later stages rely on is checked here in code. A draft
that fails the checks is sent back once with what was wrong; a second failure is `extraction_failed`.
"""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from schemas.dispute import Dispute, Outcome
from schemas.docket import Docket, Usage
from schemas.grievance import Grievance
from schemas.ids import grievance_id
from streams.drafts import Checked, check
from streams.llm.port import (
    HOPELESS,
    CategoryBrief,
    ExtractionDraft,
    ExtractionTask,
    Model,
    Prompt,
    Reply,
)
from streams.llm.spend_shares import for_extraction
from streams.policies.loader import LoadedPack
from streams.prompts import extraction_prompt

_RECORD = re.compile(r"<!--\s*record:\s*([\w, ]*?)\s*-->")
_GOODS = ("line_items",)
"""What of a record every extraction is shown; a prompt may ask for more."""
_LINE_FIELDS = ("line_id", "name", "quantity", "sold_by", "ordered_kg")

Clock = Callable[[], datetime]


async def extract(
    dispute: Dispute, pack: LoadedPack, model: Model, now: Clock
) -> tuple[Docket, list[Grievance]]:
    """The docket of a dispute and its grievances, in the order in which the complaint makes them.

    A dispute with an outcome, or without evidence, gets its docket without a call.

    Raises:
        Overloaded, ProviderDown, Misconfigured: from the model; the async stage decides what then.
    """
    if dispute.outcome is not None or dispute.evidence is None:
        outcome: Outcome = dispute.outcome or "evidence_unavailable"
        problem = "; ".join(dispute.evidence_problems) or None
        return _docket(dispute, pack, now, outcome=outcome, problem=problem), []
    task = _task(dispute, pack)
    usage = Usage()
    checked = Checked()
    reply: Reply[ExtractionDraft] | None = None
    for _ in range(2):
        reply = await model.extract(task)
        usage = usage.plus(reply.usage)
        checked = _check(reply, dispute, pack)
        if not checked.problems or reply.failure in HOPELESS:
            break
        task = _again(task, checked.problems, reply.raw)
    assert reply is not None
    heard: dict[str, Any] = {
        "usage": usage,
        "model": f"{reply.provider}/{reply.model}",
        "prompt_hash": task.prompt.hash,
        "raw_reply": reply.raw,
        "simulated": dispute.simulated or reply.simulated,
        "safety_words": says_safety_word(dispute.text, pack.pack.safety_words),
    }
    if checked.problems:
        problem = "; ".join(checked.problems)
        return _docket(
            dispute, pack, now, outcome="extraction_failed", problem=problem, **heard
        ), []
    claims = tuple(
        claim.model_copy(update={"grievance_id": grievance_id(dispute.dispute_id, claim.index)})
        for claim in checked.claims
    )
    docket = _docket(dispute, pack, now, claims=claims, left_out=checked.left_out, **heard)
    return docket, _grievances(docket, pack)


def extraction_failed(dispute: Dispute, reason: str, now: Clock) -> Docket:
    """The docket of a dispute whose extraction could not be had in time."""
    return Docket(
        **_identity(dispute),
        at=now(),
        outcome=dispute.outcome or "extraction_failed",
        problem=f"the extraction could not be had: {reason}",
    )


def says_safety_word(text: str, words: tuple[str, ...]) -> bool:
    """Whether the text holds a word or phrase of the pack's safety list, as a whole word."""
    if not words:
        return False
    listed = "|".join(re.escape(word).replace(r"\ ", r"\s+") for word in words)
    return re.search(rf"(?<!\w)(?:{listed})(?!\w)", text, re.IGNORECASE) is not None


def briefs(pack: LoadedPack) -> tuple[CategoryBrief, ...]:
    """The pack's categories as models are told of them."""
    return tuple(
        CategoryBrief(c.name, c.description, c.examples, c.citations, c.about_goods)
        for c in pack.pack.categories
    )


def _task(dispute: Dispute, pack: LoadedPack) -> ExtractionTask:
    said = extraction_prompt(pack)
    return ExtractionTask(
        prompt=said,
        stand_in=pack.offline,
        text=dispute.text,
        filed_at=dispute.filed_at.isoformat(),
        record=_shown(dispute.evidence or {}, said),
        categories=briefs(pack),
        max_grievances=pack.pack.limits.max_grievances,
        **vars(for_extraction(dispute.dispute_id)),
    )


def _again(task: ExtractionTask, problems: tuple[str, ...], reply: str) -> ExtractionTask:
    correction = "Your last reply cannot be used: " + "; ".join(problems)
    return ExtractionTask(**{**vars(task), "correction": correction, "previous_reply": reply})


def _shown(evidence: dict[str, Any], said: Prompt) -> dict[str, Any]:
    """What of the record the extraction sees: what was ordered, never what became of it."""
    asked = _RECORD.search(said.text)
    fields = (*_GOODS, *(asked[1].replace(",", " ").split() if asked else ()))
    shown = {
        field: evidence[field] for field in dict.fromkeys(fields) if evidence.get(field) is not None
    }
    if isinstance(items := shown.get("line_items"), list | tuple):
        shown["line_items"] = [
            {k: item[k] for k in _LINE_FIELDS if k in item}
            for item in items
            if isinstance(item, dict)
        ]
    return shown


def _check(reply: Reply[ExtractionDraft], dispute: Dispute, pack: LoadedPack) -> Checked:
    if reply.draft is None:
        return Checked(problems=(reply.problem or f"the reply was {reply.failure or 'empty'}",))
    return check(reply.draft, dispute.text, dispute.evidence or {}, pack.pack)


def _identity(dispute: Dispute) -> dict[str, Any]:
    """What a docket takes from its dispute unchanged."""
    names = set(Docket.model_fields) & set(Dispute.model_fields) - {
        "at",
        "outcome",
        "schema_version",
    }
    return {name: getattr(dispute, name) for name in names}


def _docket(dispute: Dispute, pack: LoadedPack, now: Clock, **found: Any) -> Docket:
    return Docket(**{**_identity(dispute), "pack": dispute.pack, "at": now(), **found})


def _grievances(docket: Docket, pack: LoadedPack) -> list[Grievance]:
    return [
        Grievance(
            at=docket.at,
            dispute_id=docket.dispute_id,
            order_id=docket.order_id,
            customer_id=docket.customer_id,
            settles_under=docket.settles_under,
            pack=docket.pack,
            simulated=docket.simulated,
            grievance_id=claim.grievance_id,
            claim=claim,
            evidence=evidence_for(claim.category, docket.evidence or {}, pack),
            evidence_hash=docket.evidence_hash or "",
            filed_at=docket.filed_at,
            seats=tuple(seat.seat for seat in pack.pack.bench.seats),
            of=len(docket.claims),
        )
        for claim in docket.claims
    ]


def evidence_for(category: str, evidence: dict[str, Any], pack: LoadedPack) -> dict[str, Any]:
    """The fields of the snapshot that the pack lists for the category; absent ones stay absent."""
    found = pack.pack.category(category)
    fields = found.evidence_fields if found else ()
    return {field: evidence[field] for field in fields if field in evidence}
