"""What the stub saw, so that a test can count calls without trusting ours: every request, its fate, and
whether it came sooner than its Retry-After allowed."""

from collections import Counter, deque
from dataclasses import asdict, dataclass
from typing import Any

KEPT = 200_000
"""Entries; older ones stay in the counts only."""


@dataclass
class Entry:
    """One request. `at` and `ended` are seconds since 1970."""

    number: int
    at: float
    dialect: str
    model: str | None = None
    kind: str = "other"
    prompt: str = ""
    """The pack's prompt it was rendered from, `judge-strict`; empty where it is none of ours."""
    matter: str = ""
    """Equal for a first ask, its retries, its re-asks and its tool turns."""
    attempt: int = 0
    """The how-manieth call on that matter."""
    fault: str | None = None
    status: int | None = None
    """None while under way, and for one that never got a reply."""
    retry_after_s: float | None = None
    early: bool = False
    """It came before the Retry-After that the last call on its matter was given had passed."""
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    ended: float | None = None
    request_id: str = ""


class Journal:
    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT)
        self._number = 0
        self._attempts: Counter[str] = Counter()
        self._not_before: dict[str, float] = {}
        self._statuses: Counter[str] = Counter()
        self._faults: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._early = 0
        self._under_way: set[int] = set()
        self._most_under_way = 0

    def open(self, dialect: str, at: float) -> Entry:
        self._number += 1
        entry = Entry(self._number, at, dialect)
        self._entries.append(entry)
        self._under_way.add(entry.number)
        self._most_under_way = max(self._most_under_way, len(self._under_way))
        return entry

    def identify(self, entry: Entry, matter: str) -> None:
        """Say what the call is about: that makes it a first one or a repeat."""
        entry.matter = matter
        self._attempts[matter] += 1
        entry.attempt = self._attempts[matter]
        entry.early = entry.at < self._not_before.get(matter, 0.0)
        self._early += entry.early
        self._kinds[entry.kind] += 1

    def close(self, entry: Entry, at: float) -> None:
        """The reply is sent, or the call has been given up."""
        if entry.number not in self._under_way:
            return  # the journal was cleared while the call was under way
        self._under_way.discard(entry.number)
        entry.ended = at
        self._statuses[str(entry.status or "none")] += 1
        if entry.fault:
            self._faults[entry.fault] += 1
        if entry.retry_after_s is not None:
            self._not_before[entry.matter] = at + entry.retry_after_s

    def told(self, since: int, limit: int) -> dict[str, Any]:
        """The counts, and the entries after number `since`."""
        return {
            "calls": self._number,
            "matters": len(self._attempts),
            "under_way": len(self._under_way),
            "most_under_way": self._most_under_way,
            "early": self._early,
            "statuses": dict(self._statuses),
            "faults": dict(self._faults),
            "kinds": dict(self._kinds),
            "entries": [asdict(entry) for entry in self._entries if entry.number > since][:limit],
        }
