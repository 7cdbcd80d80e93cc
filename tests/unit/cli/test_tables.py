"""CSV that opens as data, and values as people read them."""

import csv
import io

import pytest

from ops.tables import as_csv, as_text


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\uff1d1+1", "\uff201"]
)
def test_a_text_that_would_be_a_formula_is_neutralised(text: str) -> None:
    _, (cell, *_) = csv.reader(io.StringIO(as_csv(["a"], [[text]]), newline=""))
    assert cell == f"'{text}"


def test_numbers_stay_numbers_and_everything_else_survives() -> None:
    rows = [[-5, 1.5, None, 'say "no", please', ["a", "-b"], True]]
    text = as_csv(["n", "f", "none", "words", "list", "=flag"], rows)
    header, row = csv.reader(io.StringIO(text))
    assert row == ["-5", "1.5", "", 'say "no", please', '["a", "-b"]', "True"]
    assert header[-1] == "'=flag"


def test_a_value_as_a_person_reads_it() -> None:
    assert [as_text(v) for v in (None, 0.123456, 12_345_678.9, ["a", 1], "x")] == [
        "", "0.1235", "12345679", "a, 1", "x",
    ]  # fmt: skip
