"""A canned query by name, and what is asked of it: a period, a time zone, a clock. Nothing is sent yet."""

import difflib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal
from zoneinfo import ZoneInfo

FOLDER = Path(__file__).parent / "queries"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
END = datetime(2200, 1, 1, tzinfo=UTC)

Clock = Literal["filed", "settled"]
"""Which moment of a dispute puts it into a period and a day."""


class BadQuestion(ValueError):
    """A name, a period or a time zone that cannot be asked about; says what can."""


def names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.sql"))


def about(name: str) -> str:
    """What a query answers, in a sentence or two.

    Raises:
        BadQuestion: no such query.
    """
    lines = _file(name).splitlines()
    return " ".join(line.removeprefix("-- ") for line in lines[: lines.index("")])


@dataclass(frozen=True)
class Question:
    """A canned query, checked, with what it asks for."""

    name: str
    sql: str
    parameters: dict[str, str]
    since: datetime | None
    until: datetime | None
    notes: tuple[str, ...] = ()
    """What the asker must know of the answer: a period that was cut."""


def question(
    name: str,
    since: datetime | None,
    until: datetime | None,
    time_zone: str = "UTC",
    clock: Clock = "filed",
    *,
    longest: timedelta | None = None,
    now: datetime | None = None,
) -> Question:
    """`since` is inside the period, `until` is not. A period over `longest`, counted back from its end or
    from `now`, is cut to it.

    Raises:
        BadQuestion: no such query, time zone or clock, or a period that ends before it begins.
    """
    sql = _sql(name)
    first, last = since or BEGINNING, until or END
    if first.tzinfo is None or last.tzinfo is None:
        raise BadQuestion("since and until need a time zone, for example 2026-11-30T00:00:00+05:30")
    if first >= last:
        raise BadQuestion(f"the period ends at {last.isoformat()}, before it begins")
    if clock not in ("filed", "settled"):
        raise BadQuestion(f"the clock is 'filed' or 'settled', not {clock!r}")
    notes: tuple[str, ...] = ()
    if longest is not None:
        end = min(last, now) if now is not None and now > first else last
        if end - first > longest:
            first = end - longest
            notes = (f"cut to {longest.days} days, from {first.date()} on; ask for more in parts",)
            since = first
    parameters = {
        "since": _bound(first),
        "until": _bound(last),
        "time_zone": _known_zone(time_zone),
        "clock": clock,
    }
    return Question(name, sql, parameters, since, until, notes)


def _sql(name: str) -> str:
    """The statement without its comments, which a server need not read."""
    lines = _file(name).splitlines(keepends=True)
    return "".join(line for line in lines if not line.lstrip().startswith("--"))


def _file(name: str) -> str:
    # The name is compared, never made into a path.
    if name not in names():
        near = difflib.get_close_matches(name, names(), n=1, cutoff=0.5)
        hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names())}"
        raise BadQuestion(f"there is no query {name!r}; {hint}")
    return (FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def _bound(at: datetime) -> str:
    # Cut before it is converted: the first and the last day there are have no moment in every zone.
    return min(max(at, BEGINNING), END).astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise BadQuestion(f"there is no time zone {name!r}; one is Asia/Kolkata") from None
    return name
