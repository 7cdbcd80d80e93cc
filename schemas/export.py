"""The JSON Schema of every topic's event, for upstream and downstream teams: `schemas/json/<topic>.json`.

`python -m schemas.export` (or `make schemas`) writes them. It refuses a change that would break
someone who holds the checked-in version, unless `SCHEMA_VERSION` was raised for it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from schemas.base import SCHEMA_VERSION
from schemas.compatibility import Break, Side, breaks
from schemas.evidence import KINDS
from schemas.topics import ALL, COMPLAINTS, EVIDENCE, REVIEWS

FOLDER = Path(__file__).parent / "json"
WRITTEN_OUTSIDE = {COMPLAINTS.name, EVIDENCE.name, REVIEWS.name}
"""Topics that others produce to and only our own stages read, so that a newly accepted value breaks
nobody. The rest is read by others; and since records outlive the code that wrote them, what an older
version of ours wrote must be readable too."""


def schemas() -> dict[str, dict[str, Any]]:
    """File name without `.json` → schema."""
    found = {
        topic.name: _schema(
            topic.event,
            {"x-topic": topic.name, "x-key": topic.key, "x-cleanup": topic.cleanup},
        )
        for topic in ALL
    }
    for kind, model in KINDS.items():
        found[f"{EVIDENCE.name}.{kind}"] = _schema(
            model, {"x-topic": EVIDENCE.name, "x-key": EVIDENCE.key, "x-kind": kind}
        )
    return found


def _schema(model: type[BaseModel], notes: dict[str, str]) -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "x-schema-version": SCHEMA_VERSION,
        **notes,
        **model.model_json_schema(mode="validation"),
    }


def checked_in(name: str) -> dict[str, Any] | None:
    """The schema as last written, or None where there is none yet."""
    file = FOLDER / f"{name}.json"
    if not file.exists():
        return None
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema


def text(schema: dict[str, Any]) -> str:
    """The file's content."""
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def sides(name: str) -> tuple[Side, ...]:
    """Whom a change of this schema may break."""
    inbound = name.partition(".")[0] in WRITTEN_OUTSIDE
    return ("writers",) if inbound else ("writers", "readers")


def incompatible(old: dict[str, Any], new: dict[str, Any], name: str) -> list[Break]:
    """The breaks of a change within one schema version; a raised version may break."""
    if new["x-schema-version"] > old["x-schema-version"]:
        return []
    return breaks(old, new, *sides(name))


def write() -> list[str]:
    """Write every schema; returns what is wrong, in which case nothing was written."""
    new = schemas()
    faults = [
        f"{name}: {fault}"
        for name, schema in new.items()
        if (old := checked_in(name)) is not None
        for fault in incompatible(old, schema, name)
    ]
    if faults:
        return faults
    FOLDER.mkdir(exist_ok=True)
    for file in FOLDER.glob("*.json"):
        if file.stem not in new:
            file.unlink()
    for name, schema in new.items():
        (FOLDER / f"{name}.json").write_text(text(schema), encoding="utf-8")
    return []


if __name__ == "__main__":
    problems = write()
    for problem in problems:
        sys.stderr.write(problem + "\n")
    if problems:
        sys.stderr.write(
            "Incompatible within one schema version. Make the change compatible (a new optional field "
            "beside the old one), or raise SCHEMA_VERSION in schemas/base.py and tell both sides.\n"
        )
    sys.exit(1 if problems else 0)
