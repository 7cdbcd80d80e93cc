"""`validate`: every kind of bad input is named by line and field, and good input is let through."""

import orjson
import pytest

from ops.packs import load_packs
from schemas.complaint import Complaint
from streams.intake import assess
from tests.unit.cli.bad_input import CASE, FINE, REFUSED, TO_A_PERSON, case
from tests.unit.cli.calling import Cli

BAD = {**REFUSED, **TO_A_PERSON}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_named_by_line_field_and_remedy(cli: Cli, name: str) -> None:
    bad, field = BAD[name]
    answer = cli("validate", "-", "--json", stdin=case() + b"\n" + bad + b"\n" + case() + b"\n")
    found = answer.json
    assert answer.code == 1
    assert found["ok"] is False
    assert found["valid"] == 2, "the lines before and after are not touched"
    assert field in [error["field"] for error in found["errors"]]
    for error in found["errors"]:
        assert error["line"] == 2
        assert error["problem"]
        assert error["remedy"]


@pytest.mark.parametrize("name", FINE)
def test_what_the_pipeline_takes_is_valid(cli: Cli, name: str) -> None:
    answer = cli("validate", "-", "--json", stdin=FINE[name])
    assert answer.json["errors"] == []
    assert answer.code == 0
    assert answer.json["ok"] is True


@pytest.mark.parametrize("name", TO_A_PERSON)
def test_no_error_quotes_what_was_sent(cli: Cli, name: str) -> None:
    bad, _ = TO_A_PERSON[name]
    errors = cli("validate", "-", "--json", stdin=bad).json["errors"]
    assert "roti" not in orjson.dumps(errors).decode().lower()


AT_THE_DOOR_ONLY = {
    "placed in the year 1": "goes to a person as order_too_old",
    "delivered before it was placed": "would price a lateness below nought",
}
"""Where the check is stricter than intake, and why."""


@pytest.mark.parametrize("name", TO_A_PERSON)
def test_validate_and_intake_agree_on_evidence(name: str) -> None:
    made = orjson.loads(TO_A_PERSON[name][0])
    complaint = Complaint.model_validate({**made["complaint"], "policy": made["policy"]})
    pack = load_packs().latest(complaint.policy)
    found = assess(complaint=complaint, snapshots=[made["evidence"]], pack=pack)
    assert (found.outcome == "evidence_invalid") == (name not in AT_THE_DOOR_ONLY)


def test_one_object_may_stand_on_many_lines(cli: Cli) -> None:
    pretty = orjson.dumps(CASE, option=orjson.OPT_INDENT_2)
    assert cli("validate", "-", "--json", stdin=b"\xef\xbb\xbf" + pretty).json["valid"] == 1


def test_blank_lines_and_windows_ends_do_not_shift_the_numbers(cli: Cli) -> None:
    found = cli("validate", "-", "--json", stdin=b"\r\n\n" + case() + b"\r\n{\r\n").json
    assert (found["valid"], found["errors"][0]["line"]) == (1, 4)


def test_a_line_separator_inside_a_text_does_not_end_the_line(cli: Cli) -> None:
    made = case(lambda c: c["complaint"].update(text="late\u2028and cold\x0b\x85"))
    assert cli("validate", "-", "--json", stdin=made).json["lines"] == 1


def test_the_policy_can_be_given(cli: Cli) -> None:
    made = case(lambda c: c.pop("policy"))
    assert cli("validate", "-", "--policy", "food-delivery", stdin=made).code == 0


def test_identity_only_evidence_on_a_line_of_its_own_says_nothing(cli: Cli) -> None:
    made = b'{"kind": "food-order", "order_id": "order-9001", "currency": "INR"}'
    assert cli("validate", "-", "--json", stdin=made).json["evidence"] == 1
    assert cli("validate", "-", stdin=made).code == 1


def test_a_file_that_is_not_there_or_empty_is_bad_input(cli: Cli) -> None:
    assert cli("validate", "/no/such/file", "--json").code == 2
    assert cli("validate", "-", "--json", stdin=b"\n \n").json["exit_code"] == 2


def test_words_for_people_name_file_line_and_field(cli: Cli) -> None:
    bad, field = REFUSED["order id missing"]
    answer = cli("validate", "-", stdin=bad)
    assert f"-:1: {field} is missing; name the order" in answer.out
    assert "0 of 1 lines are valid" in answer.out
