"""The officer's desk without a broker: who may decide, in what order, what is attached, what is said."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ops.commands.reply import Failure
from ops.reviews.attaching import attachment
from ops.reviews.desk import MEANING, REFUSED, Result, check_kept
from ops.reviews.queue import Waiting, _pressing
from ops.reviews.roles import Roles, load_roles
from ops.reviews.showing import case, queue_line, result_lines
from schemas.ledger import LedgerEntry
from tests.unit.cli.calling import Cli
from tests.unit.sinks.sample_events import DisputeEvents
from tests.unit.stages.events import BANK, FOOD, PACKS, a_line, a_review, a_review_decision, as_paid

STREAMS = Path(__file__).parents[3] / "streams"
FILE = """
[users.asha]
roles = "officer"
policies = ["food-delivery"]

[users.bola]
roles = ["officer", "lead"]

[users.dayo]
roles = ["auditor"]
"""


@pytest.fixture
def roles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Roles:
    return written(tmp_path, monkeypatch, FILE)


def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Roles:
    file = tmp_path / "roles.toml"
    file.write_text(text, encoding="utf-8")
    monkeypatch.setenv("REFUND_BENCH_ROLES", str(file))
    return load_roles()


def test_the_role_is_the_users_and_the_packs(roles: Roles) -> None:
    assert roles.role("asha", FOOD.pack) == "officer"
    assert roles.role("bola", BANK.pack) == "lead", "the widest authority"
    assert roles.role("bola", BANK.pack, "officer") == "officer"


@pytest.mark.parametrize(
    ("user", "pack", "wanted", "named"),
    [
        ("stranger", FOOD, "", "--as: 'stranger'"),
        ("asha", BANK, "", "users.asha.policies"),
        ("asha", FOOD, "lead", "--role: 'lead'"),
        ("dayo", FOOD, "", "users.dayo.roles"),
    ],
)
def test_who_may_not_decide_is_told_why(
    roles: Roles, user: str, pack: Any, wanted: str, named: str
) -> None:
    with pytest.raises(Failure) as refused:
        roles.role(user, pack.pack, wanted)
    assert named in refused.value.problem
    assert (refused.value.code, bool(refused.value.remedy)) == (2, True)


def test_two_spellings_of_one_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or one person could be both of the two that tier 3 takes."""
    with pytest.raises(Failure) as refused:
        written(tmp_path, monkeypatch, FILE + '[users.Asha]\nroles = ["lead"]\n')
    assert "users.asha and users.Asha" in refused.value.problem


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("not toml", "is not TOML"),
        ("", "users"),
        ("[users.asha]", "users.asha.roles"),
        ('[users.asha]\nroles = ["officer"]\npolicy = ["x"]', "users.asha.policy"),
        ('[users.asha]\nroles = ["an officer"]', "users.asha.roles.0"),
    ],
)
def test_a_roles_file_that_is_none_is_refused_by_field(
    text: str, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Failure) as refused:
        written(tmp_path, monkeypatch, text)
    assert named in refused.value.problem
    assert refused.value.code == 2


@pytest.mark.parametrize("path", ["", "/nowhere/roles.toml"])
@pytest.mark.parametrize(
    "command",
    [["approve", "d-1", "--reason", "x"], ["amount", "d-1", "5", "--reason", "x"], ["show", "d-1"]],
)
def test_without_a_roles_file_nobody_decides_or_reads(
    command: list[str], path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REFUND_BENCH_ROLES", path)
    answer = Cli()("review", *command, "--as", "asha", "--json")
    assert (answer.code, answer.json["ok"]) == (2, False)
    assert answer.json["remedy"]


def test_a_reason_and_a_whole_amount_are_asked_for() -> None:
    assert Cli()("review", "approve", "d-1", "--as", "asha").code == 2
    for amount in ("-5", "6.50", "much"):
        assert Cli()("review", "amount", "d-1", amount, "--reason", "x", "--as", "asha").code == 2


def waiting(number: int, **changes: Any) -> Waiting:
    entry = DisputeEvents(number).ledger(9).model_copy(update={"needs_person": True, **changes})
    return Waiting(entry, ("officer", "lead"))


def test_safety_comes_first_then_what_is_due() -> None:
    soon = DisputeEvents().filed
    late = waiting(1, resolve_by=soon + timedelta(hours=9))
    early = waiting(2, resolve_by=soon)
    never = waiting(3, resolve_by=None)
    safety = waiting(4, resolve_by=None, safety=True)
    assert sorted([never, late, early, safety], key=_pressing) == [safety, early, late, never]


def test_a_line_of_the_queue_says_who_decides_what_by_when() -> None:
    now = DisputeEvents().filed + timedelta(hours=30)
    item = waiting(
        1, safety=True, tier=3, waits_for="second_person", pending_minor=6_000,
        ceiling_minor=9_000, resolve_by=DisputeEvents().filed + timedelta(hours=24),
    ).as_json(now)  # fmt: skip
    assert (item["overdue"], item["people"], item["age_s"]) == (True, 2, 108_000)
    line = queue_line(item)
    for said in ("SAFETY", "OVERDUE", "two people", "second person", "60.00", "90.00", "officer or lead"):  # fmt: skip
        assert said in line


def test_a_text_travels_whole_and_anything_else_by_its_place() -> None:
    came = attachment("/tmp/mail.txt", b"it leaked", "")
    assert (came.name, came.text, came.size_bytes) == ("mail.txt", "it leaked", 9)
    photo = attachment("photo.jpg", b"\xff\xd8\x00", "https://files.example/1.jpg")
    assert (photo.text, photo.reference) == ("", "https://files.example/1.jpg")
    for content, problem in ((b"", "empty"), (b"\xff\xd8", "no text"), (b"x" * 200_000, "no text")):
        with pytest.raises(Failure, match=problem):
            attachment("photo.jpg", content, "")


def kept(**changes: Any) -> LedgerEntry:
    entry = DisputeEvents().ledger(9)
    pack = FOOD.ref
    return entry.model_copy(update={"pack": pack, "needs_person": False, **changes})


def test_what_settlement_has_forgotten_is_refused_at_once() -> None:
    long_ago = datetime.fromisoformat("2020-01-01T00:00:00+00:00")
    with pytest.raises(Failure, match="97 days"):
        check_kept(kept(filed_at=long_ago), PACKS)
    check_kept(kept(filed_at=long_ago, needs_person=True), PACKS)


def test_every_reason_settlement_can_give_has_words() -> None:
    """Found in the code that gives them, so that a new one cannot be forgotten here."""
    import re

    given: set[str] = set()
    for file in ("reviewing", "beyond_lines"):
        source = (STREAMS / f"{file}.py").read_text(encoding="utf-8")
        given |= set(re.findall(r'"review_refused:([a-z_]+)"', source))
        given |= set(re.findall(r'"(review_[a-z]+(?:_[a-z]+)*)"', source)) - {"review_refused"}
        given |= set(re.findall(r'return "([a-z_]+)"', source))
    assert given
    assert given <= set(MEANING)


def test_what_became_of_a_review_is_said_with_the_amount() -> None:
    decision = a_review_decision("r-1", a_line(1))
    done = Result(decision, as_paid(decision))
    assert done.ok
    assert "50.00" in "\n".join(result_lines(a_review(), done))
    refused = Result(a_review_decision("r-2", decision_rule=f"{REFUSED}above_ceiling"), None)
    assert not refused.ok
    assert "refused: more than" in result_lines(a_review(), refused)[0]
    assert refused.as_json(a_review())["refused"] is True


def test_a_case_shows_claim_and_record_side_by_side_and_obeys_no_markup() -> None:
    from rich.console import Console

    found = {
        "dispute_id": "d-1", "order_id": "o-1", "status": "in_review", "safety": True, "simulated": False,
        "decision_rule": "safety_requires_human", "tier": 1, "paid_minor": 0, "pending_minor": 6_000,
        "ceiling_minor": 6_000, "currency": "INR", "decide_by": None, "waits_for": "evidence",
        "complaint": {"text": "[bold]it leaked[/]\x1b[2J"}, "problem": None, "screening": [], "evidence": None,
        "claims": [{
            "category": "PACKAGING", "text": "the raita leaked", "line_id": "L2", "quantity": 1,
            "ruling": "ESCALATE", "votes": {"ESCALATE": 2, "UPHELD": 1}, "judges": [],
            "record": {"packaging_condition_recorded": False}, "disposition": "person", "basis": "a unit",
            "amount_if_upheld_minor": 6_000, "ceiling_minor": 6_000,
        }],
        "reviews": [{
            "at": "2026-09-18", "action": "attach", "reviewer": "asha", "role": "officer",
            "reason_code": "came", "outcome": "review_attached",
            "attachment": {"name": "a.txt", "size_bytes": 3, "content_hash": "sha256:f", "text": "so"},
        }],
        "records_since_asked": [{"at": "2026-09-19", "record": {"packaging_condition": "open"}}],
    }  # fmt: skip
    console = Console(width=160, record=True)
    with console.capture() as shown:
        console.print(case(found))
    text = shown.get()
    for said in ("[bold]it leaked[/]", "the raita leaked", "packaging_condition_recorded: False",
                 "2 ESCALATE", "60.00", "a.txt", "packaging_condition: open", "SAFETY"):  # fmt: skip
        assert said in text
    assert "\x1b[2J" not in text
