"""The labelled cases: examples to show, to test and to evaluate with."""

from pathlib import Path
from typing import Any

import orjson

from schemas.evidence import is_identity_only

FOLDER = Path(__file__).parent


def labelled(policy: str | None = None) -> list[dict[str, Any]]:
    """Every labelled case, or those of one policy."""
    files = [FOLDER / f"{policy}.jsonl"] if policy else sorted(FOLDER.glob("*.jsonl"))
    return [
        orjson.loads(line)
        for file in files
        for line in file.read_bytes().splitlines()
        if line.strip()
    ]


def complaint_of(case: dict[str, Any]) -> dict[str, Any]:
    """The complaint as upstream would send it."""
    return {**case["complaint"], "policy": case["policy"]}


def evidence_of(case: dict[str, Any]) -> dict[str, Any] | None:
    """The evidence as upstream would send it; None where the record says nothing beyond which order it is."""
    body = case.get("evidence")
    return body if isinstance(body, dict) and not is_identity_only(body) else None


def renamed(case: dict[str, Any], order: str, customer: str) -> dict[str, Any]:
    """The case as another customer's, about another order. It must have evidence."""
    evidence = {**case["evidence"], "customer_id": customer}
    evidence["transaction_id" if "transaction_id" in evidence else "order_id"] = order
    if evidence.get("related"):
        evidence["related"] = [
            {**r, "transaction_id": f"{order}-{i}"} for i, r in enumerate(evidence["related"])
        ]
    complaint = {**case["complaint"], "order_id": order, "customer_id": customer}
    return {**case, "id": order, "complaint": complaint, "evidence": evidence}
