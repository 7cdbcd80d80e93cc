"""The retention file: what it may say, and what it is refused for by its name."""

from pathlib import Path

import pytest

from sinks.drift import expected
from sinks.erased import BLANK, without_words
from sinks.migrate import migrations
from sinks.retention import (
    TABLES,
    TEXTS,
    VARIABLE,
    Retention,
    RetentionError,
    parse,
    retention_from,
    wanted,
)
from sinks.rows.row import Row
from tests.support.tables import by_table


def test_by_default_raw_replies_are_hot_for_90_days_evidence_for_a_year_money_for_seven() -> None:
    kept = retention_from({})
    assert (kept.texts["judge_rulings.raw_reply"], kept.events["rulings"]) == (90, 90)
    assert (kept.texts["evidence_snapshots.body"], kept.events["disputes"]) == (365, 365)
    for table in ("payments", "decisions", "reviews", "audit_entries"):
        assert kept.rows[table] == 2555


def test_the_migrations_give_the_tables_those_days() -> None:
    ran = {statement for one in migrations() for statement in one.up}
    assert set(wanted(Retention()).values()) <= ran
    tables, _ = expected(one.version for one in migrations())
    assert set(TABLES) == set(tables) - {"erased_disputes"}


def test_every_text_is_a_column_that_erasing_blanks_too() -> None:
    assert all(text.column in BLANK[text.table] for text in TEXTS)


def test_each_setting_can_be_changed(tmp_path: Path) -> None:
    file = tmp_path / "retention.toml"
    file.write_text(
        "archive = 4000\n[rows]\ndead_letters = 30\n[texts]\njudge_rulings.raw_reply = 30\n"
        "[events]\nletter-requests = 40\n"
    )
    kept = retention_from({VARIABLE: str(file)})
    assert (kept.archive, kept.rows["dead_letters"], kept.rows["payments"]) == (4000, 30, 2555)
    assert (kept.texts["judge_rulings.raw_reply"], kept.events["letter-requests"]) == (30, 40)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rows = 3", "rows"),
        ("[row]\npayments = 3", "row is not known"),
        ("[rows]\npayment = 3", "rows.payment"),
        ("[rows]\npayments = 0", "rows.payments"),
        ("[rows]\npayments = true", "rows.payments"),
        ("[rows]\npayments = '7y'", "rows.payments"),
        ("[texts]\njudge_rulings.citations = 3", "texts.judge_rulings.citations"),
        ("[events]\npayments = 3", "events.payments"),
        ("archive = 30", "archive"),
        ("[rows]\ndisputes = 30", "rows.disputes"),
        ("rows", "not TOML"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(text: str, said: str) -> None:
    with pytest.raises(RetentionError, match=said):
        parse(text)


def test_a_file_that_is_not_there_is_named() -> None:
    with pytest.raises(RetentionError, match=r"nowhere\.toml"):
        retention_from({VARIABLE: "nowhere.toml"})


def test_rows_of_an_erased_dispute_are_stored_without_words_and_others_as_they_are() -> None:
    rows = [
        Row("disputes", {"dispute_id": "d-1", "text": "words", "evidence_problems": ["x"], "tier": 1}),
        Row("disputes", {"dispute_id": "d-2", "text": "words", "evidence_problems": [], "tier": 1}),
        Row("events", {"subject": "d-1", "topic": "letters", "erased": 0, "value": "words"}),
        Row("events", {"subject": "d-1", "topic": "payments", "erased": 0, "value": "codes"}),
        Row("payments", {"dispute_id": "d-1", "amount_minor": 5}),
    ]  # fmt: skip
    screened = without_words(by_table(rows), {"d-1"})
    assert screened["disputes"].columns == ("dispute_id", "text", "evidence_problems", "tier")
    assert screened["disputes"].rows == [("d-1", "", [], 1), ("d-2", "words", [], 1)]
    assert screened["events"].rows == [("d-1", "letters", 1, ""), ("d-1", "payments", 0, "codes")]
    assert screened["payments"].rows == [("d-1", 5)]
