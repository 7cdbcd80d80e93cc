"""What code checks in an extraction before anything relies on it."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from schemas.grievance import Claim, LeftOut
from schemas.pack import PolicyPack
from streams.language import is_english
from streams.llm.port import DraftGrievance, DraftLeftOut, ExtractionDraft

MAX_TEXT = 400
MOST_DRAFTED = 100
"""Grievances, and statements left out, that a draft may hold before any is looked at: each quote that is
not found costs a search through the complaint, and other disputes wait meanwhile."""
MOST_PROBLEMS = 20
"""Told in a re-ask, and kept on a docket."""
_LEANS = frozenset({"it", "its", "they", "them", "their", "he", "she", "his", "her", "him"})
"""A grievance that starts with one of these needs the complaint to be understood."""
_POINTS = frozenset({"this", "that", "these", "those"})
_VERBS = frozenset(
    {"is", "was", "are", "were", "did", "does", "has", "had", "have", "came", "never"}
)
"""After these, "this" stands for something said elsewhere ("this was late"), not with it ("this order was")."""


@dataclass(frozen=True)
class Checked:
    """The claims of a draft, or what is wrong with it in words the model can act on."""

    claims: tuple[Claim, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    problems: tuple[str, ...] = ()


def check(draft: ExtractionDraft, text: str, evidence: dict[str, Any], pack: PolicyPack) -> Checked:
    """Check every grievance of a draft against the complaint, the order and the pack.

    Repairs what is safe to repair (where a quote stands, duplicates); everything else is a problem.
    """
    for what, drafted in (("grievances", draft.grievances), ("left_out", draft.left_out)):
        if len(drafted) > MOST_DRAFTED:
            said = (
                f"there are {len(drafted)} {what}, more than the {MOST_DRAFTED} that are looked at"
            )
            return Checked(problems=(said,))
    lines = {
        str(item.get("line_id")): item
        for item in evidence.get("line_items") or ()
        if isinstance(item, dict)
    }
    problems: list[str] = []
    claims: list[Claim] = []
    for number, grievance in enumerate(draft.grievances, 1):
        found = [f"grievance {number}: {fault}" for fault in _faults(grievance, lines, pack)]
        at = find_span(text, grievance.quote)
        if at is None:
            found.append(
                f"grievance {number}: the quote {_short(grievance.quote)!r} is not in the complaint; copy it exactly"
            )
        problems += found
        if at is not None and not found:
            claims.append(_claim(grievance, at, pack))
    merged = _numbered(_merge(claims))
    most = pack.limits.max_grievances
    if len(merged) > most:
        problems.append(
            f"there are {len(merged)} grievances, more than the {most} this policy settles without a person"
        )
    if problems:
        return Checked(problems=tuple(problems[:MOST_PROBLEMS]))
    return Checked(claims=merged, left_out=tuple(_left_out(draft.left_out, text)))


def _faults(grievance: DraftGrievance, lines: dict[str, Any], pack: PolicyPack) -> Iterator[str]:
    known = pack.category(grievance.category)
    if known is None:
        names = ", ".join(category.name for category in pack.categories)
        yield f"category {_short(grievance.category)!r} does not exist; the categories are {names}"
    long = len(grievance.text) > MAX_TEXT
    words = [] if long else re.findall(r"\w+", grievance.text.casefold())
    if len(words) < 3:
        yield f"the text must be one full sentence of at most {MAX_TEXT} characters"
    elif words[0] in _LEANS or (words[0] in _POINTS and words[1] in _VERBS):
        yield f"the text starts with {_short(words[0])!r}; say what it stands for, so that the text needs no complaint beside it"
    if not long and not is_english(grievance.text):
        yield "the text is not in English; say the claim in English, and leave the quote as it is"
    if grievance.line_id is not None and grievance.line_id not in lines:
        yield f"line {_short(grievance.line_id)!r} is not on the order; the lines are {', '.join(lines) or 'none'}"
    if grievance.quantity is not None and not 1 <= grievance.quantity <= 10_000:
        yield f"quantity {grievance.quantity} is not a number of units"


def _claim(grievance: DraftGrievance, at: tuple[int, int], pack: PolicyPack) -> Claim:
    """The checked claim. A line belongs to a claim about goods only, a quantity to a line only."""
    known = pack.category(grievance.category)
    line = grievance.line_id if known and known.about_goods and grievance.scope == "line" else None
    return Claim(
        grievance_id="-",
        index=1,
        category=grievance.category,
        text=" ".join(grievance.text.split()),
        span_start=at[0],
        span_end=at[1],
        line_id=line,
        quantity=grievance.quantity if line is not None else None,
        scope=grievance.scope,
        safety=grievance.safety,
    )


def _merge(claims: list[Claim]) -> list[Claim]:
    """One claim for each category, line and scope; the larger quantity and any safety flag stay."""
    kept: dict[tuple[str, str | None, str], Claim] = {}
    for claim in claims:
        key = (claim.category, claim.line_id, claim.scope)
        twin = kept.get(key)
        if twin is None:
            kept[key] = claim
            continue
        quantities = [q for q in (twin.quantity, claim.quantity) if q is not None]
        kept[key] = twin.model_copy(
            update={
                "quantity": max(quantities, default=None),
                "safety": twin.safety or claim.safety,
            }
        )
    return list(kept.values())


def _numbered(claims: list[Claim]) -> tuple[Claim, ...]:
    ordered = sorted(
        claims,
        key=lambda claim: (claim.span_start, claim.span_end, claim.category, claim.line_id or ""),
    )
    return tuple(claim.model_copy(update={"index": i}) for i, claim in enumerate(ordered, 1))


def _left_out(drafts: tuple[DraftLeftOut, ...], text: str) -> Iterator[LeftOut]:
    """What was left out. A quote that cannot be found costs nobody anything and is kept without a place."""
    for draft in drafts:
        start, end = find_span(text, draft.quote) or (0, 0)
        yield LeftOut(kind=draft.kind, span_start=start, span_end=end)


@lru_cache(maxsize=8)
def _folded(text: str) -> tuple[str, list[int]]:
    """The text without case, width, marks and space differences, and where each character came from."""
    out: list[str] = []
    origin: list[int] = []
    for i, char in enumerate(text):
        for folded in unicodedata.normalize("NFKC", char).casefold():
            if folded.isalnum():
                out.append(folded)
                origin.append(i)
    return "".join(out), origin


def find_span(text: str, quote: str) -> tuple[int, int] | None:
    """Where a quote stands in the text: exactly, else up to case, spaces and punctuation."""
    quote = quote.strip()
    if not quote:
        return None
    start = text.find(quote)
    if start >= 0:
        return start, start + len(quote)
    folded, origin = _folded(text)
    wanted, _ = _folded(quote)
    at = folded.find(wanted) if len(wanted) >= 3 else -1
    return (origin[at], origin[at + len(wanted) - 1] + 1) if at >= 0 else None


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."
