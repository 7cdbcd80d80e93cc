"""When a person must have answered: a pack's clocks, counted from the filing."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from schemas.pack import Clock
from streams.conditions import holds


def due(filed_at: datetime, clocks: Iterable[Clock], facts: Mapping[str, Any]) -> datetime | None:
    """`filed_at` plus the shortest clock whose conditions all hold; None where none applies.

    A clock that depends on a field the record lacks does not apply.
    """
    hours = [
        clock.hours for clock in clocks if all(holds(condition, facts) for condition in clock.when)
    ]
    return filed_at + timedelta(hours=min(hours)) if hours else None
