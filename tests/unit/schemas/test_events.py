"""Every event survives its bytes, and what is not one is refused with the field's name."""

from datetime import timedelta
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.base import MAX_MINOR, SCHEMA_VERSION, Model, canonical_bytes
from schemas.complaint import MAX_TEXT_BYTES, Complaint
from schemas.evidence import is_identity_only, read_record, subject_of
from schemas.review import Review
from schemas.topics import ALL, Topic
from tests.unit.schemas.arbitrary import events, json_values, texts

TOPICS = [topic for topic in ALL if issubclass(topic.event, Model) and topic.name != "reviews"]
COMPLAINT = {
    "order_id": "1840",
    "customer_id": "c-7",
    "filed_at": "2026-03-01T22:10:00+05:30",
    "policy": "food-delivery",
    "text": "the raita leaked",
}


def complaint(**changes: Any) -> bytes:
    return orjson.dumps({**COMPLAINT, **changes})


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
@settings(
    max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
@given(data=st.data())
def test_an_event_survives_its_bytes(topic: Topic, data: st.DataObject) -> None:
    kind: Any = topic.event
    try:
        event = data.draw(events(kind))
    except ValidationError:
        return  # a complaint of white space only
    again = kind.from_bytes(event.to_bytes())
    assert again == event
    assert again.to_bytes() == event.to_bytes(), "the bytes are stable, so hashes of them are too"


@pytest.mark.parametrize("action", ["approve", "reject", "amount", "more_evidence", "appeal"])
def test_a_review_survives_its_bytes_and_has_an_amount_only_with_amount(action: str) -> None:
    fields = {
        "at": "2026-03-01T10:00:00Z",
        "review_id": "r-1",
        "dispute_id": "d-1",
        "order_id": "o-1",
        "settles_under": "o-1",
        "action": action,
        "reason_code": "proof",
        "reviewer": "asha",
        "role": "lead",
    }
    right = {**fields, "amount_minor": 500} if action == "amount" else fields
    wrong = fields if action == "amount" else {**fields, "amount_minor": 500}
    event = Review.from_bytes(orjson.dumps(right))
    assert Review.from_bytes(event.to_bytes()) == event
    with pytest.raises(ValidationError, match="amount_minor goes with"):
        Review.from_bytes(orjson.dumps(wrong))


def test_an_event_says_its_schema_version() -> None:
    assert (
        orjson.loads(Review.model_construct(at=None).to_bytes())["schema_version"] == SCHEMA_VERSION
    )


def test_moments_are_kept_in_utc() -> None:
    filed = Complaint.from_bytes(complaint()).filed_at
    assert filed.utcoffset() == timedelta(0)
    assert filed.isoformat() == "2026-03-01T16:40:00+00:00"


@pytest.mark.parametrize(
    "filed_at",
    [
        "2026-03-01T22:10:00",  # no zone
        "yesterday",
        "",
        None,
        [],
        True,
        1e300,
        "2026-02-30T10:00:00Z",
        "0001-01-01T00:00:00+14:00",  # before year 1 in UTC
        "9999-12-31T23:59:59-12:00",  # after year 9999 in UTC
    ],
)
def test_a_moment_that_is_none_is_refused_by_name(filed_at: object) -> None:
    with pytest.raises(ValidationError) as refused:
        Complaint.from_bytes(complaint(filed_at=filed_at))
    assert [fault["loc"] for fault in refused.value.errors()] == [("filed_at",)]


@pytest.mark.parametrize(
    "value",
    [
        b"",
        b"not json",
        b"{",
        b'{"order_id": NaN}',
        b'{"order_id": Infinity}',
        b'{"order_id": 1e999}',
        b'{"text": "\\ud800"}',
        b'{"text": "\xff\xfe"}',
        b"\x00\x01\x02",
        b"[" * 5_000,
    ],
)
def test_what_is_not_json_is_refused(value: bytes) -> None:
    with pytest.raises(orjson.JSONDecodeError):
        Complaint.from_bytes(value)


@pytest.mark.parametrize("value", [b"null", b"[]", b"1", b'"text"', b"{}"])
def test_json_of_another_shape_is_refused(value: bytes) -> None:
    with pytest.raises(ValidationError):
        Complaint.from_bytes(value)


@given(st.binary(max_size=60) | json_values.map(orjson.dumps))
def test_whatever_comes_is_read_or_refused_as_a_value_error(value: bytes) -> None:
    """Both refusals are ValueErrors, which is what a stage turns into a dead letter."""
    try:
        Complaint.from_bytes(value)
    except ValueError:
        return
    raise AssertionError("nothing here is a complaint")


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("order_id", ""),
        ("order_id", "two words"),
        ("order_id", "a\x00b"),
        ("order_id", "line\n"),
        ("order_id", 1840),
        ("order_id", "x" * 201),
        ("customer_id", None),
        ("policy", {}),
        ("text", ""),
        ("text", " \n\t\u200b\ufeff\x00"),
        ("text", "x" * (MAX_TEXT_BYTES + 1)),
        ("text", "₹" * (MAX_TEXT_BYTES // 3 + 1)),
        ("source", {"role": "root"}),
        ("evidence", "none"),
    ],
)
def test_a_wrong_field_is_named(field: str, bad: object) -> None:
    with pytest.raises(ValidationError) as refused:
        Complaint.from_bytes(complaint(**{field: bad}))
    assert {fault["loc"][0] for fault in refused.value.errors()} == {field}


@pytest.mark.parametrize(
    "text",
    [
        "😡🍛",
        "أين طلبي",
        "\u202eabc",
        "a\u200bb",
        "a\x00b",
        "x" * MAX_TEXT_BYTES,
        "₹" * (MAX_TEXT_BYTES // 3),
    ],
)
def test_any_words_up_to_64_kb_are_taken_as_they_are(text: str) -> None:
    event = Complaint.from_bytes(complaint(text=text))
    assert event.text == text
    assert Complaint.from_bytes(event.to_bytes()) == event


def test_unknown_fields_are_ignored_so_that_a_newer_writer_can_be_read() -> None:
    assert Complaint.from_bytes(complaint(mood="angry")) == Complaint.from_bytes(complaint())


FOOD = {
    "kind": "food-order",
    "order_id": "1840",
    "customer_id": "c-7",
    "currency": "INR",
    "placed_at": "2026-03-01T20:15:00+05:30",
    "delivery_sla_minutes": 45,
    "line_items": [{"line_id": "L1", "name": "Biryani", "quantity": 4, "unit_price_minor": 32_000}],
    "paid_total_minor": 128_000,
    "captured_at": "2026-03-01T22:11:00+05:30",
}
LINE = FOOD["line_items"][0]


@pytest.mark.parametrize("amount", [12.5, 1e3, -1, MAX_MINOR + 1, 2**70, "100", True, None])
def test_an_amount_is_a_whole_number_in_range_and_nothing_else(amount: object) -> None:
    with pytest.raises(ValidationError, match="paid_total_minor"):
        read_record({**FOOD, "paid_total_minor": amount})


@pytest.mark.parametrize(
    "changes",
    [
        {"line_items": []},
        {"line_items": [LINE, LINE]},
        {"line_items": [{**LINE, "quantity": 0}]},
        {"line_items": [{**LINE, "quantity": 10**9}]},
        {"line_items": [{**LINE, "discount_minor": 128_001}]},
        {"coupon_minor": 128_001},
        {"refunds": [{"refund_id": "r", "amount_minor": 128_001}]},
        {"packing_scan": [{"line_id": "L9", "packed_quantity": 1}]},
        {"refunds": [{"refund_id": "r", "amount_minor": 1, "line_id": "L9"}]},
        {"delivery_sla_minutes": 0},
        {"pickup_weight_actual_kg": -1},
        {"captured_at": "2026-03-01T22:11:00"},
        {"currency": "rupees"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_a_record_that_contradicts_itself_is_refused(changes: dict[str, Any]) -> None:
    assert read_record(FOOD)
    with pytest.raises(ValidationError):
        read_record({**FOOD, **changes})


def test_unknown_fields_of_a_record_are_kept() -> None:
    record = read_record({**FOOD, "seal_intact": True})
    assert record.model_dump()["seal_intact"] is True


def test_a_record_with_identity_fields_only_is_no_evidence() -> None:
    identity = {k: FOOD[k] for k in ("kind", "order_id", "customer_id", "currency", "captured_at")}
    assert is_identity_only(identity)
    assert is_identity_only({**identity, "placed_at": None})
    assert not is_identity_only({**identity, "placed_at": "2026-03-01T20:15:00Z"})


def test_a_record_is_about_its_order_or_its_transaction() -> None:
    assert subject_of({"order_id": "o", "transaction_id": "t"}) == "o"
    assert subject_of({"transaction_id": "t"}) == "t"
    assert subject_of({"order_id": 7}) is None
    assert subject_of({}) is None


@given(st.dictionaries(texts, json_values, max_size=5))
def test_the_canonical_form_does_not_depend_on_the_order_of_fields(body: dict[str, Any]) -> None:
    backwards = dict(reversed(list(body.items())))
    assert canonical_bytes(body) == canonical_bytes(backwards)
    assert orjson.loads(canonical_bytes(body)) == body
