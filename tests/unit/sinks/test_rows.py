"""Each topic's row function, against a snapshot of what it makes. UPDATE_SNAPSHOTS=1 writes them anew."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from schemas.base import Model
from sinks.rows import complaints, disputes, ledger, verdicts
from sinks.rows.projections import Projection, projections
from sinks.rows.row import EARLIEST, LATEST, Place, Row
from tests.unit.sinks.sample_events import KEY, DisputeEvents

PROJECTIONS = projections(KEY)
SNAPSHOTS = Path(__file__).parent / "snapshots"


def first_event(topic: str) -> Model:
    return DisputeEvents().with_complaint()[topic][-1]


@pytest.mark.parametrize("projection", PROJECTIONS, ids=lambda projection: projection.topic)
def test_rows_of_a_topic_are_as_recorded(projection: Projection[Any]) -> None:
    event = first_event(projection.topic)
    place = Place(projection.topic, 4, 1234)
    rows = projection.read(event.to_bytes(), place)
    assert rows == projection.rows(event, place)
    shown = json.dumps([row._asdict() for row in rows], indent=1, default=str, ensure_ascii=False)
    snapshot = SNAPSHOTS / f"{projection.topic}.json"
    if os.environ.get("UPDATE_SNAPSHOTS"):
        snapshot.write_text(shown + "\n", encoding="utf-8")
    assert shown + "\n" == snapshot.read_text(encoding="utf-8")


@pytest.mark.parametrize("projection", PROJECTIONS, ids=lambda projection: projection.topic)
def test_the_same_record_always_makes_the_same_rows(projection: Projection[Any]) -> None:
    value, place = first_event(projection.topic).to_bytes(), Place(projection.topic, 0, 5)
    assert projection.read(value, place) == projection.read(value, place)


@pytest.mark.parametrize("value", [b"", b"{", b"[]", b'{"at": 1}', b"\xff\xfe"])
def test_bytes_that_are_no_event_are_a_value_error(value: bytes) -> None:
    for projection in PROJECTIONS:
        with pytest.raises(ValueError):  # noqa: PT011
            projection.read(value, Place(projection.topic, 0, 0))


def the(rows: list[Row], table: str) -> dict[str, object]:
    return next(row.values for row in rows if row.table == table)


def test_a_dispute_without_evidence_leaves_no_snapshot() -> None:
    rows = disputes.rows(DisputeEvents().dispute(evidence=None), Place("disputes", 0, 0))
    assert [row.table for row in rows] == ["disputes"]


@pytest.mark.parametrize(
    ("body", "field", "expected"),
    [
        ({"amount_minor": 500}, "disputed_minor", 500),
        ({"paid_total_minor": -1}, "disputed_minor", None),
        ({"paid_total_minor": 2**60}, "disputed_minor", None),
        ({"paid_total_minor": True}, "disputed_minor", None),
        ({"paid_total_minor": "12"}, "disputed_minor", None),
        ({"captured_at": "yesterday"}, "captured_at", None),
        ({"captured_at": "2026-01-01T00:00:00"}, "captured_at", None),
        ({"captured_at": "9999-12-31T23:59:59+00:00"}, "captured_at", LATEST),
        ({"merchant_id": 12}, "merchant_id", ""),
    ],
)
def test_odd_evidence_still_makes_a_snapshot(
    body: dict[str, Any], field: str, expected: object
) -> None:
    rows = disputes.rows(DisputeEvents().dispute(evidence=body), Place("disputes", 0, 0))
    assert the(rows, "evidence_snapshots")[field] == expected


def test_moments_beyond_what_clickhouse_holds_are_cut() -> None:
    made_up = DisputeEvents().dispute(
        filed_at=datetime(1, 1, 1, tzinfo=UTC), resolve_by=datetime(9999, 1, 1, tzinfo=UTC)
    )
    values = the(disputes.rows(made_up, Place("disputes", 0, 0)), "disputes")
    assert (values["filed_at"], values["resolve_by"]) == (EARLIEST, LATEST)


def test_arrays_of_a_verdict_have_one_length() -> None:
    (row,) = verdicts.rows(DisputeEvents().verdict(3), Place("verdicts", 0, 0))
    lengths = {len(value) for value in row.values.values() if isinstance(value, list)}
    assert lengths == {3}


def test_a_ledger_entry_before_its_pack_is_known_has_version_0() -> None:
    entry = DisputeEvents().ledger(1).model_copy(update={"pack": None})
    for row in ledger.rows(entry, Place("ledger", 0, 0)):
        assert row.values["pack_version"] == 0


def test_a_complaints_row_names_its_dispute_and_holds_none_of_its_words() -> None:
    filed = DisputeEvents().complaint(text="Cold  BIRYANI")
    again = filed.model_copy(update={"text": "cold biryani"})
    rows = complaints.rows_under(KEY)
    (first,), (repeat,) = (
        rows(filed, Place("complaints", 2, 7)),
        rows(again, Place("complaints", 2, 9)),
    )
    assert first.values["dispute_id"] == repeat.values["dispute_id"]
    assert "biryani" not in str(first).lower()
    (other,) = complaints.rows_under(b"another")(filed, Place("complaints", 2, 7))
    assert other.values["dispute_id"] != first.values["dispute_id"]
