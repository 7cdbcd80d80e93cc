"""From a call back to the task it was rendered from, so that `offline-rules` can answer it.

The system text is a pack's prompt, word for word; that names the pack, the kind and the variant. The
user's turn holds the rest. What a prompt does not carry (the grievance's id, the seat's number) is made
up from what it does, so equal prompts are equal tasks.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from ops.stub.faults import Kind
from ops.stub.sections import Section, sections
from ops.stub.told_letter import letter_of
from ops.stub.wire import Call
from schemas.grievance import Claim
from streams.llm.port import (
    CategoryBrief,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Prompt,
    Task,
)
from streams.llm.rendering import render_extraction
from streams.policies.loader import LoadedPack
from streams.prompts import prompt

_JUDGE = "judge-"
_KINDS: dict[str, Kind] = {"extraction": "extraction", "judge": "judging", "letter": "letter"}
_SCHEMA_IN_WORDS = "\n\n# Schema of the answer\n"
"""Put behind the prompt for a server that takes no schema."""
_FILED = re.compile(r"^Filed at (\S+)\.$", re.MULTILINE)


@dataclass(frozen=True)
class Asked:
    """What a call is, before its task is worked out."""

    kind: Kind = "other"
    prompt: str = ""
    packs: tuple[LoadedPack, ...] = ()
    """The packs that have this very prompt."""
    matter: str = ""
    """Equal for calls of one model about the same thing, re-asks and tool turns included."""


class Reader:
    """Knows the prompts of the packs it was given."""

    def __init__(self, packs: Iterable[LoadedPack]) -> None:
        self._known: dict[str, tuple[str, tuple[LoadedPack, ...]]] = {}
        for pack in packs:
            for name in pack.prompts:
                system = _system_text(prompt(pack, name))
                _, others = self._known.get(system, (name, ()))
                self._known[system] = (name, (*others, pack))

    def ask(self, call: Call) -> Asked:
        """Which prompt the call was rendered from."""
        system, _, _ = call.system.partition(_SCHEMA_IN_WORDS)
        name, packs = self._known.get(system, ("", ()))
        first = call.turns[0].text if call.turns else ""
        digest = hashlib.blake2b(digest_size=8)
        for part in (call.model.name, call.system, first):
            digest.update(part.encode() + b"\0")
        return Asked(_kind(name), name, packs, digest.hexdigest())

    def task(self, call: Call, asked: Asked) -> Task | None:
        """The task, or None where the call is none of ours or not laid out as ours are."""
        if not asked.packs or not call.turns:
            return None
        held = sections(call.turns[0].text)
        try:
            if asked.kind == "extraction":
                return _extraction(call, asked, held)
            if asked.kind == "judging":
                return _judging(call, asked, held)
            if asked.kind == "letter":
                return _letter(call, asked, held)
        except (KeyError, ValueError, TypeError):
            return None
        return None


def _system_text(said: Prompt) -> str:
    """What a model gets to read of a prompt; the same whatever the task."""
    blank = ExtractionTask(
        prompt=said, text="", filed_at="", record={}, categories=(), max_grievances=0
    )
    return render_extraction(blank).system


def _kind(name: str) -> Kind:
    task, _, _ = name.partition("-")
    return _KINDS.get(task, "other")


def _common(call: Call, asked: Asked, pack: LoadedPack) -> dict[str, Any]:
    """The correction is the last thing said, after the model's own reply."""
    again = len(call.turns) > 2 and call.turns[-1].role == "user"
    return {
        "prompt": prompt(pack, asked.prompt),
        "stand_in": pack.offline,
        "correction": call.turns[-1].text if again else None,
        "previous_reply": call.turns[-2].text if again else None,
    }


def _pack_of(asked: Asked, categories: Iterable[str]) -> LoadedPack:
    """Of the packs that share a prompt, the newest that knows the categories."""
    named = set(categories)
    return next(
        (
            pack
            for pack in reversed(asked.packs)
            if named <= {category.name for category in pack.pack.categories}
        ),
        asked.packs[-1],
    )


def _brief(told: Mapping[str, Any], citations: Iterable[str] = ()) -> CategoryBrief:
    return CategoryBrief(
        told["name"],
        told["description"],
        tuple(told["examples"]),
        tuple(citations),
        told["about_goods"],
    )


def _extraction(call: Call, asked: Asked, held: Mapping[str, Section]) -> ExtractionTask:
    known = held["Categories"].object()
    complaint = held["Complaint"]
    filed = _FILED.search(complaint.ours)
    briefs = tuple(_brief(told) for told in known["categories"])
    return ExtractionTask(
        **_common(call, asked, _pack_of(asked, (brief.name for brief in briefs))),
        text=complaint.theirs or "",
        filed_at=filed[1] if filed else "",
        record=held["Record"].fenced_object(),
        categories=briefs,
        max_grievances=known["most_grievances"],
    )


def _judging(call: Call, asked: Asked, held: Mapping[str, Section]) -> JudgingTask:
    told = held["Claim"].object()
    claim = held["Claim"].fenced_object()
    category = _brief(told["category"], told["citable_fields"])
    pack = _pack_of(asked, [category.name])
    variant = asked.prompt.removeprefix(_JUDGE)
    seats = {seat.prompt_variant: seat.seat for seat in pack.pack.bench.seats}
    grievance = "g-" + hashlib.sha256(orjson.dumps([claim, told["filed_at"]])).hexdigest()[:24]
    evidence = _asked_for(call) if call.tools else held["Evidence"].fenced_object()
    return JudgingTask(
        **_common(call, asked, pack),
        grievance_id=grievance,
        claim=Claim(
            grievance_id=grievance,
            index=1,
            category=category.name,
            span_start=0,
            span_end=0,
            **claim,
        ),
        category=category,
        evidence=evidence,
        filed_at=told["filed_at"],
        seat=seats.get(variant, 1),
        seats=tuple(sorted(seats.values())) or (1,),
        variant=variant,
    )


def _asked_for(call: Call) -> dict[str, Any]:
    """The fields that the tools have answered with; a tool's answer may be fenced as the evidence is."""
    found: dict[str, Any] = {}
    for result in call.results:
        section = sections(f"# Evidence\n{result}")["Evidence"]
        try:
            found |= section.fenced_object() if section.theirs is not None else section.object()
        except ValueError:
            continue
    return found


def _letter(call: Call, asked: Asked, held: Mapping[str, Section]) -> LetterTask:
    told = held["Decision"].object()
    pack = _pack_of(asked, (line["category"] for line in told["lines"]))
    complaint = held["Complaint"].theirs or ""
    return letter_of(told, pack, complaint, _common(call, asked, pack))
