"""Which stretches of time `audit verify --since` looks through."""

from datetime import UTC, datetime, timedelta

import pytest

from ops.audit import kafka_view, verify
from ops.audit.answering import BEGINNING, period
from ops.audit.stored import View

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[tuple[datetime, datetime]]:
    looked: list[tuple[datetime, datetime]] = []

    def view_between(since: datetime, until: datetime) -> View:
        looked.append((since, until))
        return View("kafka")

    monkeypatch.setattr(kafka_view, "view_between", view_between)
    monkeypatch.setattr(kafka_view, "committed", lambda _: {})
    return looked


def test_ten_years_before_the_first_link_are_not_looked_through(
    looked_at: list[tuple[datetime, datetime]], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = NOW - timedelta(hours=5)
    monkeypatch.setattr(kafka_view, "first_link", lambda: first)
    ten_years_ago = NOW - timedelta(days=3_652)
    verify.verify_period(ten_years_ago, NOW, None, True, NOW)
    assert looked_at[0][0] == first - verify.LATE - verify.SLICE
    assert looked_at[-1][1] == NOW
    assert len(looked_at) < 20
    starts, ends = [a + verify.SLICE for a, _ in looked_at], [b for _, b in looked_at]
    assert starts[1:] == ends[:-1], "nothing in between is left out"


def test_without_a_link_there_is_nothing_to_look_at(
    looked_at: list[tuple[datetime, datetime]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kafka_view, "first_link", lambda: None)
    assert verify.verify_period(BEGINNING, NOW, None, True, NOW).chains == 0
    assert looked_at == []


@pytest.mark.parametrize(
    ("since", "until"),
    [("0001-01-01", "9999-12-31T23:59:59-12:00"), ("0001-01-01T00:00:00+14:00", "9999-12-31")],
)
def test_a_period_of_all_time_is_cut_to_what_can_be_asked_about(since: str, until: str) -> None:
    assert period(since, until, NOW) == (BEGINNING, NOW + timedelta(days=1))
