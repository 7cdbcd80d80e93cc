"""Runs a canned query: one SQL file by name, its parameters bound, nothing written."""

import difflib
import math
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from clickhouse_connect.driver.client import Client

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


def run(
    name: str,
    client: Client,
    since: datetime | None,
    until: datetime | None,
    time_zone: str = "UTC",
    clock: Clock = "filed",
) -> dict[str, Any]:
    """The answer as CONTRACT.md has it; `since` is inside the period, `until` is not.

    Raises:
        BadQuestion: no such query, time zone or clock, or a period that ends before it begins.
        clickhouse_connect.driver.exceptions.Error: ClickHouse is away or cannot answer.
    """
    sql = _sql(name)
    first, last = since or BEGINNING, until or END
    if first.tzinfo is None or last.tzinfo is None:
        raise BadQuestion("since and until need a time zone, for example 2026-11-30T00:00:00+05:30")
    if first >= last:
        raise BadQuestion(f"the period ends at {last.isoformat()}, before it begins")
    if clock not in ("filed", "settled"):
        raise BadQuestion(f"the clock is 'filed' or 'settled', not {clock!r}")
    parameters = {
        "since": _bound(first),
        "until": _bound(last),
        "time_zone": _known_zone(time_zone),
        "clock": clock,
    }
    answer = client.query(sql + _read_only(client), parameters=parameters)
    columns = list(answer.column_names)
    if not columns:
        # Native has no header where there is no row.
        shape = client.query(f"DESCRIBE TABLE ({sql})", parameters=parameters)
        columns = [row[0] for row in shape.result_rows]
    return {
        "name": name,
        "since": since.isoformat() if since else None,
        "until": until.isoformat() if until else None,
        "time_zone": time_zone,
        "clock": clock,
        "columns": columns,
        "rows": [[_plain(value) for value in row] for row in answer.result_rows],
    }


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


def _read_only(client: Client) -> str:
    """Refuse writes for this statement; a user who may only read must not even say so."""
    now = client.server_settings.get("readonly")
    return "" if now is not None and now.value != "0" else "SETTINGS readonly = 2\n"


def _bound(at: datetime) -> str:
    return min(max(at.astimezone(UTC), BEGINNING), END).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise BadQuestion(f"there is no time zone {name!r}; one is Asia/Kolkata") from None
    return name


def _plain(value: Any) -> Any:
    """A value JSON can hold: moments in ISO 8601, what was never measured as None."""
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
