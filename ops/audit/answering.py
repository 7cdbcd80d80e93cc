"""What `audit` takes as periods, and how it tells what it found."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from ops.audit.chains import Checked
from ops.commands.reply import FALSE, TRUE, answer, note, refuse, say, visible

MOST_SHOWN = 50
BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
"""No event is older, and not every store can be asked about an earlier moment."""


def period(since: str, until: str, now: datetime) -> tuple[datetime, datetime]:
    """[since, until); without them the last day. What is before any event, or still to come, is left out.

    Raises:
        Failure: not moments, or the wrong way round.
    """
    begin = _moment("--since", since) if since else now - timedelta(days=1)
    end = _moment("--until", until) if until else now
    if end <= begin:
        refuse("--until: is not after --since", "give a later day or moment")
    return max(begin, BEGINNING), min(end, now + timedelta(days=1))


def _moment(option: str, text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        refuse(f"{option} {text!r}: is not a day or a moment", "write 2026-11-30 or 2026-11-30T18:00:00Z")  # fmt: skip
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def day_of(text: str) -> date:
    """A day.

    Raises:
        Failure: it is none.
    """
    try:
        return date.fromisoformat(text)
    except ValueError:
        refuse(f"--day {text!r}: is not a day", "write 2026-11-30")


def _counted(checked: Checked) -> str:
    parts = {"disputes": checked.disputes, "chains": checked.chains, "events": checked.events, "erased": checked.erased}  # fmt: skip
    return ", ".join(f"{number} {name}" for name, number in parts.items() if number)


def tell_checked(checked: Checked, as_json: bool, **more: Any) -> None:
    """Answer with what was found; exit code 1 where there is a fault."""
    faults = checked.faults
    found = {
        "ok": not faults,
        "disputes": checked.disputes,
        "chains": checked.chains,
        "events": checked.events,
        "erased": checked.erased,
        "under_way": checked.under_way,
        "faults": [fault.as_json() for fault in faults],
        **more,
    }

    def tell() -> None:
        for fault in faults[:MOST_SHOWN]:
            where = f" {fault.place}" if fault.place else ""
            say(visible(f"{fault.dispute_id} {fault.sequence or '-'}: {fault.what} in {fault.where}{where} {fault.detail}"))  # fmt: skip
        if len(faults) > MOST_SHOWN:
            note(f"and {len(faults) - MOST_SHOWN} more; see --json")
        say(f"{_counted(checked) or 'nothing'}: {len(faults)} faults")

    answer(as_json, found, tell, FALSE if faults else TRUE)
