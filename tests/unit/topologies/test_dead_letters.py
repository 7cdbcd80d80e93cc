"""A dead letter keeps the bytes sealed, names the place, and says what is wrong without quoting anyone."""

import base64

import pytest
from cryptography.fernet import InvalidToken
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from schemas.complaint import Complaint
from schemas.dead_letter import DeadLetter
from streams.policies.loader import PackRegistry, UnknownPackError
from tests.unit.topologies.broker_free import NOW
from topologies.dead_letters import KEPT_BYTES, DeadLetterBox, describe

BOX = DeadLetterBox(b"a test's installation key")


def seal(value: bytes | None, key: bytes | None = b"k", error: str = "wrong") -> DeadLetter:
    return BOX.seal(
        stage="intake", topic="complaints", partition=3, offset=41, key=key, value=value,
        error=error, now=NOW,
    )  # fmt: skip


@given(st.binary(max_size=300))
def test_what_was_sealed_can_be_opened_and_is_not_to_be_read(value: bytes) -> None:
    letter = seal(value)
    assert BOX.open(DeadLetter.from_bytes(letter.to_bytes())) == value
    if len(value) > 8:
        assert value not in letter.to_bytes()


def test_another_installation_cannot_open_it() -> None:
    with pytest.raises(InvalidToken):
        DeadLetterBox(b"another installation key").open(seal(b"words"))


def test_it_names_the_place_so_that_the_same_failure_is_the_same_letter() -> None:
    assert seal(b"a").dead_letter_id == seal(b"a").dead_letter_id == "intake:complaints-3-41"


@pytest.mark.parametrize("key", [b"order-1", b"\xff\x00", b"", None])
def test_the_key_is_kept_whatever_its_bytes(key: bytes | None) -> None:
    kept = seal(b"", key).key
    assert (base64.b64decode(kept) if kept is not None else None) == key


def test_a_record_too_long_is_cut_and_says_so_and_the_letter_still_fits() -> None:
    letter = seal(b"x" * (KEPT_BYTES + 700_000))
    assert len(BOX.open(letter)) == KEPT_BYTES
    assert f"first {KEPT_BYTES} of {KEPT_BYTES + 700_000} bytes kept" in letter.error
    assert len(letter.to_bytes()) < 1_990_000


def test_a_record_without_a_value_is_sealed_as_empty() -> None:
    assert BOX.open(seal(None)) == b""


def test_a_wrong_field_is_named_and_the_customers_words_are_not_quoted() -> None:
    with pytest.raises(ValidationError) as refused:
        Complaint.model_validate(
            {"order_id": "SECRET ORDER", "customer_id": 7, "text": "SECRET " * 20_000}
        )
    said = describe(refused.value)
    assert "SECRET" not in said
    for field in ("order_id", "customer_id", "filed_at", "policy", "text"):
        assert f"{field}: " in said


def test_an_error_of_another_kind_is_named_by_its_kind() -> None:
    assert describe(RuntimeError("SECRET")) == "RuntimeError"
    assert (
        describe(ValueError("filed_at: lies in the future"))
        == "ValueError: filed_at: lies in the future"
    )


def test_an_error_is_bounded() -> None:
    assert len(seal(b"", error="x" * 9_999).error) == 2_000


def test_a_key_that_is_the_customers_words_is_not_quoted_either() -> None:
    class Told(BaseModel):
        promises: dict[str, str]

    with pytest.raises(ValidationError) as refused:
        Told.model_validate({"promises": {"my words, SECRET": 1}})
    assert describe(refused.value).startswith("promises.?: ")


def test_a_policy_nobody_knows_is_not_quoted() -> None:
    with pytest.raises(UnknownPackError) as refused:
        PackRegistry.load().latest("SECRET")
    assert describe(refused.value).startswith("UnknownPackError: policy: is not loaded")
    assert "SECRET" not in describe(refused.value)
