"""What a model says, read as one draft or told as a fault."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.llm import parsing
from streams.llm.parsing import parse, parse_letter
from streams.llm.port import ExtractionDraft, RulingDraft

RULING = '{"ruling": "UPHELD", "confidence": 0.9, "citations": ["delivered_at"], "reason": "r"}'
TWICE = RULING.replace("}", ', "ruling": "REJECTED"}')
OTHER = '{"ruling": "REJECTED", "confidence": 0.9, "citations": ["delivered_at"], "reason": "r"}'


@pytest.mark.parametrize(
    "text",
    [
        RULING,
        f"```json\n{RULING}\n```",
        f"Here is my ruling:\n\n{RULING}\n\nLet me know.",
        f"{RULING}\n{RULING}",
        f"{{not json}} {RULING}",
    ],
    ids=["bare", "fenced", "prose around", "said twice", "a brace before"],
)
def test_the_one_object_is_found(text: str) -> None:
    parsed = parse(text, RulingDraft)
    assert parsed.draft is not None
    assert parsed.draft.ruling == "UPHELD"
    assert parsed.failure is None


@pytest.mark.parametrize(
    ("text", "failure", "named"),
    [
        ("", "empty", "empty"),
        (" \n", "empty", "empty"),
        ("UPHELD, I think.", "not_json", "no JSON object"),
        ("[1, 2]", "not_json", "no JSON object"),
        ('{"ruling": "UPHELD", "confidence": 0.9', "not_json", "no JSON object"),
        (f"{RULING} or rather {OTHER}", "several", "2 JSON objects"),
        (RULING.replace("0.9", "7"), "schema", "confidence"),
        (RULING.replace("0.9", "-0.1"), "schema", "confidence"),
        (RULING.replace("0.9", "NaN"), "schema", "confidence"),
        (RULING.replace("0.9", "null"), "schema", "confidence"),
        (RULING.replace("0.9", "true"), "schema", "confidence"),
        (RULING.replace("0.9", '"0.9"'), "schema", "confidence"),
        (RULING.replace("UPHELD", "PARTLY"), "schema", "ruling"),
        ("{}", "schema", "ruling"),
    ],
)
def test_anything_else_is_named(text: str, failure: str, named: str) -> None:
    parsed = parse(text, RulingDraft)
    assert parsed.draft is None
    assert parsed.failure == failure
    assert named in (parsed.problem or "")


def test_a_fault_names_the_field_and_not_the_words() -> None:
    parsed = parse(
        '{"grievances": [{"category": "X", "text": 7, "quote": "my secret"}]}', ExtractionDraft
    )
    assert "grievances.0.text" in (parsed.problem or "")
    assert "secret" not in (parsed.problem or "")


@given(st.text())
def test_no_text_makes_it_raise(text: str) -> None:
    assert (parse(text, RulingDraft).draft is None) == (
        parse(text, RulingDraft).failure is not None
    )
    assert (parse_letter(text).draft is None) == (not text.strip())


def test_deep_nesting_is_a_fault_not_a_crash() -> None:
    deep = '{"a":' * 100_000
    assert parse(deep, RulingDraft).failure == "not_json"
    assert parse(f"{deep} {RULING}", RulingDraft).failure == "not_json", "each brace was tried"


@pytest.mark.parametrize(
    "text",
    [
        'So: {"ruling": "UPHELD", "confidence": ' + "1" * 5_000 + "}",
        'So: {"ruling": "UPHELD", "confidence": 1, "citations": [], "reason": "\\ud800"}',
    ],
    ids=["a number of 5,000 digits", "half a surrogate pair"],
)
def test_what_no_event_can_hold_is_no_object(text: str) -> None:
    assert parse(text, RulingDraft).failure == "not_json"


@pytest.mark.parametrize(
    "text",
    [
        TWICE,
        f"So: {TWICE}",
        f'{RULING[:-1]}, "instead_of": {OTHER}',
        f'{{"rulings": [{RULING}]',
        f'{RULING} or rather {{"ruling": "REJECTED", "conf',
    ],
    ids=["twice", "twice in prose", "cut off around another", "cut off list", "a second one cut off"],
)  # fmt: skip
def test_half_an_answer_or_a_field_said_twice_is_no_ruling(text: str) -> None:
    assert parse(text, RulingDraft).failure == "not_json"


def test_a_field_that_is_repeated_word_for_word_contradicts_nothing() -> None:
    draft = parse(RULING.replace("}", ', "ruling": "UPHELD"}'), RulingDraft).draft
    assert draft is not None
    assert draft.ruling == "UPHELD"


@pytest.mark.parametrize("unit", ['{"a":', '{"a":[', "{", '{"'])
def test_a_text_full_of_braces_is_given_up_after_a_while(
    unit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = 0

    class Counting:
        def raw_decode(self, text: str, at: int) -> tuple[object, int]:
            nonlocal starts
            starts += 1
            return json.JSONDecoder().raw_decode(text, at)

    monkeypatch.setattr(parsing, "_DECODER", Counting())
    assert parse('x "' + unit * 10_000, RulingDraft).failure == "not_json"
    assert starts <= parsing.MOST_STARTS


def test_many_different_objects_are_several_and_not_compared_one_by_one() -> None:
    text = "".join(f'{{"a":{i}}}' for i in range(50_000))
    parsed = parse(text, RulingDraft)
    assert parsed.failure == "several"
    assert str(parsing.MOST_OBJECTS) in (parsed.problem or "")
