"""From a task to the words a model reads.

The layout is the same for every provider. The system text is the pack's prompt, verbatim save for HTML
comments. One user turn follows, of blocks that each begin with a heading:

- extraction: `# Categories` (cached), `# Record`, `# Complaint`
- judging: `# Evidence` (cached), `# Claim`; with tools `# Evidence` says how to ask for it
- letter: `# Decision`, `# Complaint`

Below its heading a block holds one JSON object (ours: categories, decision), or text between the
markers of `screening.fence` (theirs: record, evidence, claim, complaint), which is JSON save for the
complaint. What many calls share comes first and ends in a cache breakpoint. A re-ask adds the model's
own reply and one user turn that says what was wrong.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from schemas.grievance import LeftOutKind
from streams.llm.port import (
    CategoryBrief,
    EvidenceTool,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Task,
)
from streams.screening import fence

EXTRACTION_TOKENS = 8_000
RULING_TOKENS = 4_000
LETTER_TOKENS = 4_000
"""The most a model may write, the thinking that some models charge as output included."""

ASK_FOR_EVIDENCE = (
    "The evidence is not shown here. Ask for the parts you need with the tools; a field that comes back "
    "as null says nothing. You may cite only what you asked for. Ask before you rule."
)

_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)

Schema = Mapping[str, Any]


@dataclass(frozen=True)
class Block:
    """A part of the user's turn; `cached` where a cache breakpoint stands behind it."""

    text: str
    cached: bool = False


@dataclass(frozen=True)
class Rendered:
    """One conversation up to the answer that is wanted."""

    system: str
    blocks: tuple[Block, ...]
    schema: Schema | None
    """What the answer must look like; None where it is plain text."""
    max_tokens: int
    tools: tuple[EvidenceTool, ...] = ()
    previous_reply: str | None = None
    correction: str | None = None
    account: str = ""
    share: float = 1.0
    """What its cost is counted under, and how much of a dispute's limit that may spend; see `Task`."""
    opens_dispute: bool = False
    """An extraction: nobody waits for it yet."""

    @property
    def characters(self) -> int:
        """All that the model reads, which its tokens are estimated from."""
        turns = (self.system, self.previous_reply or "", self.correction or "")
        return sum(map(len, turns)) + sum(len(block.text) for block in self.blocks)


def render_extraction(task: ExtractionTask) -> Rendered:
    """The conversation that asks for a complaint's grievances."""
    known = {
        "most_grievances": task.max_grievances,
        "categories": [_brief(brief) for brief in task.categories],
    }
    return _rendered(
        task,
        (
            Block(f"# Categories\n{_json(known)}", cached=True),
            Block(f"# Record\n{fence(_json(task.record))}"),
            Block(f"# Complaint\nFiled at {task.filed_at}.\n{fence(task.text)}"),
        ),
        extraction_schema(task.categories),
        EXTRACTION_TOKENS,
    )


def render_judging(task: JudgingTask) -> Rendered:
    """The conversation that asks for one ruling. With tools the evidence is asked for, not shown."""
    claim = {
        "category": _brief(task.category),
        "citable_fields": list(task.category.citations),
        "filed_at": task.filed_at,
    }
    claimed = task.claim.model_dump(
        mode="json", include={"text", "line_id", "quantity", "scope"}, exclude_none=True
    )
    evidence = ASK_FOR_EVIDENCE if task.tools else fence(_json(task.evidence))
    return _rendered(
        task,
        (
            Block(f"# Evidence\n{evidence}", cached=True),
            Block(f"# Claim\n{_json(claim)}\n{fence(_json(claimed))}"),
        ),
        RULING_SCHEMA,
        RULING_TOKENS,
        task.tools,
    )


def render_letter(task: LetterTask) -> Rendered:
    """The conversation that asks for the words of a letter."""
    decision = {
        "kind": task.kind,
        "order_id": task.order_id,
        "paid": task.paid,
        "lines": [
            {
                "category": line.category,
                "text": line.text,
                "state": line.state,
                "note": line.note,
                "amount": amount,
            }
            for line, amount in zip(task.lines, task.line_amounts, strict=True)
        ],
        "promises": dict(task.promises),
        "language": task.language,
    }
    return _rendered(
        task,
        (
            Block(f"# Decision\n{_json(decision)}"),
            Block(f"# Complaint\n{fence(task.complaint_text)}"),
        ),
        None,
        LETTER_TOKENS,
    )


def extraction_schema(categories: tuple[CategoryBrief, ...]) -> Schema:
    """Bounds and lengths are left to our own checks: the providers' grammars do not enforce them."""
    grievance = {
        "category": {"type": "string", "enum": [brief.name for brief in categories]},
        "text": {"type": "string"},
        "quote": {"type": "string"},
        "line_id": {"type": ["string", "null"]},
        "quantity": {"type": ["integer", "null"]},
        "scope": {"type": "string", "enum": ["line", "order"]},
        "safety": {"type": "boolean"},
    }
    kinds = list(LeftOutKind.__args__)  # type: ignore[attr-defined]
    left_out = {"kind": {"type": "string", "enum": kinds}, "quote": {"type": "string"}}
    return _object(
        {
            "grievances": {"type": "array", "items": _object(grievance)},
            "left_out": {"type": "array", "items": _object(left_out)},
        }
    )


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    """Strict as both providers want it: every property required, and no other."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


RULING_SCHEMA: Schema = _object(
    {
        "ruling": {"type": "string", "enum": ["UPHELD", "REJECTED", "ESCALATE"]},
        "confidence": {"type": "number"},
        "citations": {"type": "array", "items": {"type": "string"}},
        "reason": {"type": "string"},
    }
)


def _rendered(
    task: Task, blocks: tuple[Block, ...], schema: Schema | None, max_tokens: int,
    tools: tuple[EvidenceTool, ...] = (),
) -> Rendered:  # fmt: skip
    return Rendered(
        system=_COMMENT.sub("", task.prompt.text).strip(),
        blocks=blocks,
        schema=schema,
        max_tokens=max_tokens,
        tools=tools,
        previous_reply=task.previous_reply if task.correction else None,
        correction=task.correction,
        account=task.account,
        share=task.share,
        opens_dispute=isinstance(task, ExtractionTask),
    )


def _brief(brief: CategoryBrief) -> dict[str, Any]:
    return {
        "name": brief.name,
        "description": brief.description,
        "examples": list(brief.examples),
        "about_goods": brief.about_goods,
    }


def _json(value: Any) -> str:
    return orjson.dumps(value, default=dict).decode()
