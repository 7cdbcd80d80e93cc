"""Checks complaints and evidence before they are filed, with the models and rules the apps read them by.

`errors` are what the pipeline would refuse: the line cannot be filed. `warnings` are what is wrong with
its evidence: filed, such a complaint goes to a person as `evidence_invalid`.
"""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import orjson
from pydantic import ValidationError

from ops.evidence_checks import captured_tomorrow, evidence_problems
from ops.json_lines import Problem, read_object, split
from ops.remedies import explained
from schemas.complaint import Complaint
from schemas.evidence import MAX_NESTING, is_identity_only, is_too_deep, subject_of
from streams.policies.loader import LoadedPack, PackRegistry, UnknownPackError
from topologies.clients import MAX_MESSAGE_BYTES
from topologies.intake import check_filing, read_evidence

Kind = Literal["case", "complaint", "evidence", "unknown"]
ROOM_BYTES = 4_096
"""What Kafka adds to a record, at most."""
COMPLAINT_FIELDS = frozenset({"text", "filed_at", "policy", "channel"})
EVIDENCE_FIELDS = frozenset(
    {"kind", "captured_at", "line_items", "transaction_id", "paid_total_minor"}
)


@dataclass(frozen=True)
class Item:
    """One line of a file, checked."""

    line: int
    kind: Kind
    complaint: Complaint | None = None
    """Without its evidence."""
    evidence: dict[str, Any] | None = None
    """None where there is none, or none beyond an identity."""
    errors: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        return self.errors + self.warnings


def check(raw: bytes, packs: PackRegistry, now: datetime, policy: str = "") -> list[Item]:
    """Every line of a file; `policy` replaces what the lines say."""
    return [check_line(line, text, packs, now, policy) for line, text in split(raw)]


def check_line(line: int, raw: bytes, packs: PackRegistry, now: datetime, policy: str = "") -> Item:
    """One line: a case, a complaint or evidence."""
    body = read_object(line, raw)
    if isinstance(body, Problem):
        return Item(line, "unknown", errors=(body,))
    if "complaint" in body:
        return _case(line, body, packs, now, policy)
    if COMPLAINT_FIELDS & body.keys():
        return _complaint(line, "complaint", body, body.get("evidence"), packs, now, policy)
    if EVIDENCE_FIELDS & body.keys():
        return _evidence(line, body, packs, now)
    return Item(
        line,
        "unknown",
        errors=(
            Problem(
                line, "", "is neither a complaint, nor evidence, nor a case of both",
                "a complaint has text and filed_at, evidence has kind and captured_at, a case has complaint",
            ),
        ),
    )  # fmt: skip


def _case(line: int, case: dict[str, Any], packs: PackRegistry, now: datetime, policy: str) -> Item:
    body = case["complaint"]
    if not isinstance(body, dict):
        wrong = Problem(line, "complaint", "is not an object", "put the complaint's fields here")
        return Item(line, "case", errors=(wrong,))
    if case.get("policy") is not None:
        body = {"policy": case["policy"], **body}
    evidence = case.get("evidence", body.get("evidence"))
    return _complaint(line, "case", body, evidence, packs, now, policy)


def _complaint(
    line: int,
    kind: Kind,
    body: dict[str, Any],
    evidence: Any,
    packs: PackRegistry,
    now: datetime,
    policy: str,
) -> Item:
    source = {"source": {"client": "cli", "role": "customer" if evidence is None else "records"}}
    body = {**source, **body, "evidence": None} | ({"policy": policy} if policy else {})
    complaint, pack, errors = _read_complaint(line, body, packs, now)
    warnings: list[Problem] = []
    if evidence is not None and not isinstance(evidence, dict):
        errors.append(Problem(line, "evidence", "is not an object", "send the record's fields"))
    elif evidence is not None and not is_identity_only(evidence):
        errors += _of_another_order(line, body, evidence)
        errors += _too_large(line, evidence)
        errors += captured_tomorrow(line, "evidence.", evidence, now)
        warnings += evidence_problems(line, "evidence.", evidence, packs, now, complaint, pack)
    held = evidence if isinstance(evidence, dict) and not is_identity_only(evidence) else None
    return Item(line, kind, complaint, held, tuple(errors), tuple(warnings))


def _read_complaint(
    line: int, body: dict[str, Any], packs: PackRegistry, now: datetime
) -> tuple[Complaint | None, LoadedPack | None, list[Problem]]:
    errors = list(invisible(line, "", body, ("order_id", "customer_id", "policy")))
    try:
        complaint = Complaint.model_validate(body)
    except ValidationError as error:
        return None, None, errors + explained(line, "", error)
    pack: LoadedPack | None = None
    try:
        pack = packs.latest(complaint.policy)
    except UnknownPackError:
        known = ", ".join(sorted({pack.pack.policy for pack in packs}))
        errors.append(Problem(line, "policy", "is not a policy that is loaded", f"one of {known}"))
    try:
        check_filing(complaint, now)
    except ValueError as error:
        problem, _, remedy = str(error).removeprefix("filed_at: ").partition("; ")
        errors.append(Problem(line, "filed_at", problem, remedy))
        return None, pack, errors
    return complaint, pack, errors


def _evidence(line: int, body: dict[str, Any], packs: PackRegistry, now: datetime) -> Item:
    errors = [*_too_large(line, body), *captured_tomorrow(line, "", body, now)]
    errors += [*invisible(line, "", body, ("order_id", "transaction_id"))]
    try:
        read_evidence(orjson.dumps(body))
    except ValueError as error:
        field, _, words = str(error).partition(": ")
        problem, _, remedy = words.partition("; ")
        errors.append(Problem(line, field, problem, remedy))
    if is_identity_only(body):
        errors.append(
            Problem(
                line, "", "says nothing beyond which order it is about",
                "send what the records hold on the order; such a record counts as no evidence",
            )
        )  # fmt: skip
        return Item(line, "evidence", errors=tuple(errors))
    warnings = evidence_problems(line, "", body, packs, now, None, None)
    return Item(line, "evidence", None, body, tuple(errors), tuple(warnings))


def _of_another_order(
    line: int, complaint: dict[str, Any], evidence: dict[str, Any]
) -> Iterable[Problem]:
    subject = subject_of(evidence)
    field = "evidence.transaction_id" if "transaction_id" in evidence else "evidence.order_id"
    if subject is None:
        yield Problem(line, field, "is missing or not an id", "name the order the record is about")
    elif subject != complaint.get("order_id"):
        yield Problem(
            line, field, "is not the complaint's order_id: evidence for another order",
            "send the record of the order complained about",
        )  # fmt: skip


def _too_large(line: int, evidence: dict[str, Any]) -> Iterable[Problem]:
    if is_too_deep(evidence):
        yield Problem(
            line, "evidence", f"is nested more than {MAX_NESTING} levels deep", "send it flatter"
        )
        return
    size = len(orjson.dumps(evidence))
    if size > MAX_MESSAGE_BYTES - ROOM_BYTES:
        yield Problem(
            line, "evidence", f"is {size} bytes; a message may have {MAX_MESSAGE_BYTES}",
            "send less of the record",
        )  # fmt: skip


def invisible(
    line: int, prefix: str, body: dict[str, Any], fields: tuple[str, ...]
) -> Iterable[Problem]:
    """Ids with characters nobody sees: they look like another id, and are not."""
    for field in fields:
        value = body.get(field)
        hidden = [c for c in value if _is_hidden(c)] if isinstance(value, str) else []
        if hidden:
            yield Problem(
                line, prefix + field, f"holds an invisible character (U+{ord(hidden[0]):04X})",
                "send the id as the records have it",
            )  # fmt: skip


def _is_hidden(c: str) -> bool:
    # The id's own pattern refuses white space and ASCII's control characters.
    return unicodedata.category(c) in ("Cc", "Cf", "Co", "Cn")
