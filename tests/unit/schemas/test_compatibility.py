"""A change of a contract says whom it breaks; the checker is itself held to examples of each kind."""

import copy
from typing import Any

import pytest
from pydantic import BaseModel

from schemas import export
from schemas.compatibility import Schema, breaks

SCHEMAS = export.schemas()


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_the_code_breaks_nobody_who_holds_the_checked_in_schema(name: str) -> None:
    held = export.checked_in(name)
    assert held is not None, "run `make schemas`"
    assert [str(fault) for fault in export.incompatible(held, SCHEMAS[name], name)] == []


OLD: Schema = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "minLength": 1, "maxLength": 10, "pattern": "^[a-z]+$"},
        "amount": {"type": "integer", "minimum": 0, "maximum": 100},
        "status": {"type": "string", "enum": ["paid", "refused"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["id", "amount", "status"],
    "$defs": {
        "Line": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
            "required": ["name"],
        }
    },
}


def changed(path: str, **changes: Any) -> Schema:
    """OLD with the object at `path` updated; a change to None deletes the keyword."""
    new = copy.deepcopy(OLD)
    target: Any = new
    for part in path.split("/") if path else []:
        target = target[part]
    for name, value in changes.items():
        if value is None:
            target.pop(name)
        else:
            target[name] = value
    return new


def without(field: str) -> Schema:
    new = copy.deepcopy(OLD)
    del new["properties"][field]
    new["required"] = [name for name in new["required"] if name != field]
    return new


def required(*names: str) -> Schema:
    return changed("", required=list(names))


FIELD = "properties"
EXAMPLES: list[tuple[str, Schema, set[str], str]] = [
    ("nothing changed", OLD, set(), ""),
    ("optional field added", changed(FIELD, city={"type": "string"}), set(), ""),
    ("required field removed", without("amount"), {"writers", "readers"}, "amount"),
    ("optional field removed", without("note"), {"writers", "readers"}, "note"),
    (
        "required field added",
        {**changed(FIELD, city={"type": "string"}), "required": ["id", "amount", "status", "city"]},
        {"writers"},
        "city",
    ),
    ("optional made required", required("id", "amount", "status", "note"), {"writers"}, "note"),
    ("required made optional", required("id", "status"), {"readers"}, "amount"),
    ("enum value removed", changed("properties/status", enum=["paid"]), {"writers"}, "status"),
    (
        "enum value added",
        changed("properties/status", enum=["paid", "refused", "held"]),
        {"readers"},
        "status",
    ),
    ("enum made free text", changed("properties/status", enum=None), {"readers"}, "status"),
    ("type changed", changed("properties/amount", type="string"), {"writers", "readers"}, "amount"),
    (
        "integer widened to number",
        changed("properties/amount", type="number"),
        {"readers"},
        "amount",
    ),
    (
        "number narrowed to integer",
        changed("$defs/Line/properties/price", type="integer"),
        {"writers"},
        "lines[].price",
    ),
    ("maximum lowered", changed("properties/amount", maximum=50), {"writers"}, "amount"),
    ("maximum raised", changed("properties/amount", maximum=500), {"readers"}, "amount"),
    ("minimum dropped", changed("properties/amount", minimum=None), {"readers"}, "amount"),
    ("shorter id", changed("properties/id", maxLength=5), {"writers"}, "id"),
    ("pattern changed", changed("properties/id", pattern="^d-"), {"writers", "readers"}, "id"),
    ("pattern dropped", changed("properties/id", pattern=None), {"readers"}, "id"),
    (
        "null no longer taken",
        changed("properties/note", anyOf=[{"type": "string"}]),
        {"writers"},
        "note",
    ),
    (
        "null newly sent",
        changed("properties/amount", anyOf=[{"type": "integer"}, {"type": "null"}], type=None),
        {"readers"},
        "amount",
    ),
    (
        "a nested field required",
        changed("$defs/Line", required=["name", "price"]),
        {"writers"},
        "lines[].price",
    ),
    (
        "values of a map narrowed",
        changed("properties/labels/additionalProperties", enum=["a"]),
        {"writers"},
        "labels.*",
    ),
    ("unknown fields refused", changed("", additionalProperties=False), set(), ""),
]


@pytest.mark.parametrize(
    ("new", "broken", "path"), [e[1:] for e in EXAMPLES], ids=[e[0] for e in EXAMPLES]
)
def test_who_is_broken_and_where(new: Schema, broken: set[str], path: str) -> None:
    found = breaks(OLD, new)
    assert {fault.side for fault in found} == broken
    assert {fault.path for fault in found} <= {path}


def test_a_field_refused_as_unknown_is_a_break_for_who_still_sends_it() -> None:
    new = without("note") | {"additionalProperties": False}
    assert [str(fault) for fault in breaks(OLD, new, "writers")] == [
        "note: is not allowed (breaks writers)"
    ]


def test_only_the_side_asked_about_is_reported() -> None:
    wider = changed("properties/status", enum=["paid", "refused", "held"])
    assert breaks(OLD, wider, "writers") == []
    assert len(breaks(OLD, wider, "readers")) == 1


def test_what_others_write_may_be_widened_and_what_they_read_may_not() -> None:
    assert export.sides("complaints") == ("writers",)
    assert export.sides("evidence.food-order") == ("writers",)
    assert export.sides("payments") == ("writers", "readers")


def test_a_model_that_holds_itself_ends() -> None:
    class Tree(BaseModel):
        name: str
        children: list["Tree"] = []

    schema = Tree.model_json_schema()
    assert breaks(schema, copy.deepcopy(schema)) == []
    narrowed = copy.deepcopy(schema)
    narrowed["$defs"]["Tree"]["properties"]["name"]["maxLength"] = 3
    assert [fault.side for fault in breaks(schema, narrowed)] == ["writers"]
