"""Ids are functions of what they name: a replay makes the same event and never a second one."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from schemas import ids
from schemas.base import Id, Model

KEY = b"an installation key of a test"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
order_ids = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=40)


@given(order_ids, texts)
def test_the_same_text_about_the_same_order_is_the_same_dispute(order: str, text: str) -> None:
    assert ids.dispute_id(KEY, order, text) == ids.dispute_id(KEY, order, text)


@given(order_ids, texts)
def test_without_the_installation_key_no_one_can_make_the_id(order: str, text: str) -> None:
    assert ids.dispute_id(KEY, order, text) != ids.dispute_id(b"another key", order, text)


@given(order_ids, order_ids, texts)
def test_the_same_text_about_another_order_is_another_dispute(a: str, b: str, text: str) -> None:
    assume(a != b)
    assert ids.dispute_id(KEY, a, text) != ids.dispute_id(KEY, b, text)


@given(st.text("ab", max_size=6), st.text("ab", max_size=6), st.text("ab", max_size=6))
def test_where_one_part_ends_and_the_next_begins_matters(a: str, b: str, c: str) -> None:
    """`order 1, text 23` and `order 12, text 3` must not meet."""
    assume(b)
    assert ids.dispute_id(KEY, a + b, c) != ids.dispute_id(KEY, a, b + c)


@pytest.mark.parametrize(
    "repeat",
    [
        "The RAITA leaked",
        "  the raita   leaked\n",
        "the\traita\r\nleaked",
        "ｔｈｅ raita leaked",  # full width
        "THE RAITA LEAKED",
    ],
)
def test_case_spaces_and_unicode_forms_do_not_open_a_second_dispute(repeat: str) -> None:
    assert ids.dispute_id(KEY, "o-1", repeat) == ids.dispute_id(KEY, "o-1", "the raita leaked")


def test_a_composed_and_a_decomposed_accent_are_one_text() -> None:
    composed = unicodedata.normalize("NFC", "café froid")
    decomposed = unicodedata.normalize("NFD", "café froid")
    assert composed != decomposed
    assert ids.dispute_id(KEY, "o-1", composed) == ids.dispute_id(KEY, "o-1", decomposed)


def test_another_word_is_another_dispute() -> None:
    assert ids.dispute_id(KEY, "o-1", "two missing") != ids.dispute_id(KEY, "o-1", "three missing")


@given(texts)
def test_a_form_once_made_stays(text: str) -> None:
    assert ids.normalise_text(ids.normalise_text(text)) == ids.normalise_text(text)


@given(order_ids, texts)
def test_the_id_is_fit_to_be_a_key_and_says_nothing_of_the_text(order: str, text: str) -> None:
    class Holder(Model):
        id: Id

    made = ids.dispute_id(KEY, order, text)
    assert Holder(id=made).id == made
    assert made.startswith("d-")
    assert len(made) == 26


def test_an_empty_installation_key_is_refused() -> None:
    with pytest.raises(ValueError, match="REFUND_BENCH_INSTALLATION_KEY"):
        ids.dispute_id(b"", "o-1", "text")


def test_every_id_of_a_dispute_can_be_told_apart() -> None:
    dispute = ids.dispute_id(KEY, "o-1", "text")
    first, second = ids.grievance_id(dispute, 1), ids.grievance_id(dispute, 2)
    made = [
        first,
        second,
        ids.grievance_id(dispute, 12),
        ids.ruling_id(first, 1),
        ids.ruling_id(first, 2),
        ids.verdict_id(first, 1),
        ids.verdict_id(first, 2),
        ids.auto_key(dispute),
        ids.review_key(dispute, "r-1"),
        ids.review_key(dispute, "r-2"),
    ]
    assert len(set(made)) == len(made)
    assert all(item.startswith(dispute) for item in made)


def test_a_payment_key_never_depends_on_what_is_paid() -> None:
    assert ids.auto_key("d-1") == "d-1:auto"
    assert ids.review_key("d-1", "r-9") == "d-1:review:r-9"


def test_hashes_name_their_algorithm() -> None:
    empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert ids.evidence_hash(b"") == ids.content_hash(b"") == empty
