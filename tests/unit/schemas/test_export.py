"""The JSON Schemas that other teams hold are those of the code, and say what the code takes."""

import json
from pathlib import Path

import jsonschema
import pytest

from schemas import export
from schemas.base import SCHEMA_VERSION
from schemas.topics import ALL

CASES = [
    json.loads(line)
    for file in sorted((Path(__file__).parents[3] / "ops" / "cases").glob("*.jsonl"))
    for line in file.read_text(encoding="utf-8").splitlines()
]
SCHEMAS = export.schemas()


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_checked_in_schema_is_current(name: str) -> None:
    held = export.FOLDER / f"{name}.json"
    assert held.exists(), "run `make schemas`"
    assert held.read_text(encoding="utf-8") == export.text(SCHEMAS[name]), "run `make schemas`"


def test_no_schema_is_left_over() -> None:
    assert {file.stem for file in export.FOLDER.iterdir()} == set(SCHEMAS)


def test_every_topic_and_both_kinds_of_evidence_are_exported() -> None:
    names = {topic.name for topic in ALL} | {"evidence.food-order", "evidence.bank-transaction"}
    assert set(SCHEMAS) == names


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_each_is_a_json_schema_and_says_its_version_topic_and_key(name: str) -> None:
    schema = SCHEMAS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["x-schema-version"] == SCHEMA_VERSION
    assert schema["x-topic"] == name.partition(".")[0]
    assert schema["x-key"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_what_upstream_sends_passes_the_schemas_it_was_given(case: dict) -> None:
    complaint = {**case["complaint"], "policy": case["policy"]}
    jsonschema.validate(complaint, SCHEMAS["complaints"])
    if set(case["evidence"]) > {"kind", "order_id", "currency", "customer_id", "captured_at"}:
        jsonschema.validate(case["evidence"], SCHEMAS[f"evidence.{case['evidence']['kind']}"])


def test_a_float_or_negative_amount_fails_the_exported_schema_too() -> None:
    evidence = next(c["evidence"] for c in CASES if c["evidence"]["kind"] == "bank-transaction")
    for amount in (12.5, -1, 2**60, "100"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(
                {**evidence, "amount_minor": amount}, SCHEMAS["evidence.bank-transaction"]
            )


def test_the_export_refuses_to_write_over_a_change_that_breaks_someone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "FOLDER", tmp_path)
    assert export.write() == []
    held = tmp_path / "payments.json"
    older = json.loads(held.read_text())
    older["properties"]["status"]["enum"].append("reversed")
    held.write_text(export.text(older))
    faults = export.write()
    assert faults == ["payments: status: value reversed is not taken (breaks writers)"]
    assert json.loads(held.read_text()) == older, "nothing may be written"


def test_a_raised_schema_version_may_break(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "FOLDER", tmp_path)
    export.write()
    held = tmp_path / "payments.json"
    older = json.loads(held.read_text())
    older["properties"]["status"]["enum"].append("reversed")
    older["x-schema-version"] = SCHEMA_VERSION - 1
    held.write_text(export.text(older))
    assert export.write() == []
    assert held.read_text() == export.text(SCHEMAS["payments"])
