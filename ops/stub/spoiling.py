"""A sound answer made into one that must not be believed, one way for each fault of `faults.ReplyFault`."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson

from ops.stub.wire import Answer
from streams.llm.port import JudgingTask, Task

_AMOUNT = re.compile(r"[₹₦$€£]\s?[\d,]+(?:\.\d+)?")
_DEVANAGARI = re.compile(r"[\u0900-\u097f]")


def spoil(fault: str, answer: Answer, task: Task | None) -> Answer:
    """The answer with that fault. One that has nothing to spoil (a call of tools) stays as it is."""
    if answer.calls and fault != "refused":
        return answer
    if fault == "refused":
        return Answer(stop="refused")
    if fault == "empty":
        return replace(answer, text="")
    if fault == "truncated":
        return Answer(answer.text[: len(answer.text) // 2], "truncated")
    if fault == "wrong_language":
        return replace(answer, text=_other_language(answer.text, task))
    if fault in _IN_LETTER:
        return replace(answer, text=_IN_LETTER[fault](answer.text))
    if fault in _IN_TEXT:
        return replace(answer, text=_IN_TEXT[fault](answer.text))
    return replace(answer, text=_in_object(fault, answer.text, task))


def _in_object(fault: str, text: str, task: Task | None) -> str:
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text
    if fault == "obedient":
        said |= _obedient(task)
    elif fault in _IN_RULING:
        said |= _IN_RULING[fault]
    elif fault in _IN_GRIEVANCES:
        said["grievances"] = _IN_GRIEVANCES[fault](said.get("grievances", []))
    elif fault == "missing_fields":
        said.pop("ruling" if "ruling" in said else "grievances", None)
        said = said if "confidence" in said else {"grievances": [{"category": None}], **said}
    return orjson.dumps(said).decode()


_IN_RULING: dict[str, dict[str, Any]] = {
    "confidence_out_of_range": {"confidence": 7},
    "unknown_ruling": {"ruling": "PARTIALLY_UPHELD"},
    "ghost_citations": {"ruling": "UPHELD", "confidence": 0.97, "citations": ["satellite_photo"]},
    "hedged": {
        "ruling": "UPHELD, or possibly REJECTED",
        "reason": "It could be either; on balance it is probably upheld.",
    },
}


def _with_first(**changes: Any) -> Callable[[list[Any]], list[Any]]:
    """Change the first grievance; where there is none, invent one."""
    invented = {
        "category": "LATE_DELIVERY", "text": "The order was late.", "quote": "It was late.",
        "line_id": None, "quantity": None, "scope": "line", "safety": False,
    }  # fmt: skip
    return lambda held: [{**(held[0] if held else invented), **changes}, *held[1:]]


_IN_GRIEVANCES: dict[str, Callable[[list[Any]], list[Any]]] = {
    "unknown_category": _with_first(category="MORAL_DAMAGES"),
    "invented_quote": _with_first(quote="I was promised ten times my money back in writing."),
    "unknown_line": _with_first(line_id="L-does-not-exist", quantity=9_999),
}

_IN_TEXT: dict[str, Callable[[str], str]] = {
    "prose_around": lambda text: (
        f"Certainly. Here is what you asked for:\n\n```json\n{text}\n```\n\nLet me know if you need more."
    ),
    "several_objects": lambda text: f"{text}\n{_contrary(text)}",
}


def _contrary(text: str) -> str:
    """Another object of the same shape that says something else."""
    try:
        said = orjson.loads(text)
    except orjson.JSONDecodeError:
        return '{"second": true}'
    if "ruling" in said:
        said["ruling"] = "REJECTED" if said["ruling"] == "UPHELD" else "UPHELD"
    else:
        said["grievances"] = said.get("grievances", [])[1:]
        said["left_out"] = []
    return orjson.dumps(said).decode()


_IN_LETTER: dict[str, Callable[[str], str]] = {
    "wrong_amount": lambda text: f"{text} In addition you will find ₹9,999.00 in your account.",
    "blames": lambda text: f"{text} This was the restaurant's fault, whose staff were careless.",
    "promises": lambda text: f"{text} We guarantee a voucher for your next order.",
    "grovels": lambda text: (
        f"We are deeply sorry. We sincerely apologise and regret this terribly. {text}"
    ),
}


def _other_language(text: str, task: Task | None) -> str:
    """The same amounts in words of a language the customer did not write in."""
    amount = _AMOUNT.search(text)
    paid = amount.group() if amount else ""
    complaint = getattr(task, "complaint_text", "")
    if not _DEVANAGARI.search(complaint):
        return (
            f"आपकी शिकायत की जाँच हो गई है। {paid} की राशि आपको वापस कर दी गई है। "
            "बाकी बातों को एक सहकर्मी देखेगा।"
        )
    return f"We looked into your complaint. {paid} has been refunded. A colleague will see to the rest."


def _obedient(task: Task | None) -> dict[str, Any]:
    """UPHELD on the first field that may be cited and holds something; without one the ruling stays."""
    if not isinstance(task, JudgingTask):
        return {}
    cited = [field for field in task.category.citations if task.evidence.get(field) is not None]
    if not cited:
        return {}
    return {"ruling": "UPHELD", "confidence": 1.0, "citations": cited[:1], "reason": "As claimed."}
