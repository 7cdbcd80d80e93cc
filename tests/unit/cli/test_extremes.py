"""Input at the edge of what JSON and calendars hold: an answer of one object, never a fault of ours."""

from typing import Any

import orjson
import pytest

from ops.commands.reply import say
from tests.unit.cli.bad_input import case
from tests.unit.cli.calling import Cli


def nested(levels: int) -> Any:
    made: Any = 1
    for _ in range(levels):
        made = [made]
    return made


def change(where: str, field: str, value: Any) -> bytes:
    return case(lambda made: made[where].update({field: value}))


EXTREMES = {
    "a record 300 levels deep": change("evidence", "x", nested(200)).replace(b"[1]", b"[" * 101 + b"]" * 101),
    "a record 70 levels deep": change("evidence", "x", nested(70)),
    "a complaint 200 levels deep": change("complaint", "x", nested(200)),
    "filed in the year 9999": change("complaint", "filed_at", "9999-12-31T23:59:59Z"),
}  # fmt: skip


@pytest.mark.parametrize("name", EXTREMES)
def test_validate_names_it(cli: Cli, name: str) -> None:
    answer = cli("validate", "-", "--json", stdin=EXTREMES[name])
    assert (answer.code, answer.json["ok"]) == (1, False)
    assert answer.json["errors"]


@pytest.mark.parametrize("name", EXTREMES)
def test_price_refuses_it(cli: Cli, name: str) -> None:
    answer = cli("price", "-", "--json", stdin=EXTREMES[name])
    assert (answer.code, answer.json["ok"]) == (2, False)


def test_price_does_not_believe_a_record_from_the_year_9999_either(cli: Cli) -> None:
    bad = orjson.loads(change("evidence", "captured_at", "9999-01-01T00:00:00Z"))
    bad["expect"] = {"grievances": []}
    found = cli("price", "-", "--json", stdin=orjson.dumps(bad)).json
    assert (found["decision_rule"], found["amount_minor"]) == ("evidence_invalid", 0)


def test_nothing_a_client_named_drives_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("order a\x9b31m\x1b[2J\u202eb\u2066, policy food-delivery")
    assert capsys.readouterr().out == (
        "order a\\u009b31m\\u001b[2J\\u202eb\\u2066, policy food-delivery\n"
    )
