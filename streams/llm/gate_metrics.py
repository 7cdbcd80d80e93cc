"""What a gate measures: every name, its meaning and its unit, and the figures themselves."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Final

TABLE: Final = {
    "waiting": "calls waiting to be let in",
    "running": "calls running now",
    "concurrency_limit": "calls that may run at the same time now; moves between 1 and the ceiling",
    "pace_share": "share 0-1 of the requests per minute; falls when the provider turns calls away sooner",
    "closed_for_s": "seconds until the Retry-After of the provider has passed; 0 when open",
    "admitted": "calls let in",
    "held_s": "seconds the first in the queue waited, by what held it: requests, tokens, concurrency, retry_after",
    "given_back": "calls that waited too long and went back to their stage",
    "congestion_events": "times the concurrency limit was lowered",
    "ended": "calls ended, by how: answered, overloaded, timeout, down, misconfigured, abandoned",
    "refused": "calls not made for want of money, by limit: day, dispute",
    "spent_today_micros": "spent this UTC day in millionths of a US dollar, calls under way at their estimate",
    "spend_limit_day_micros": "this process's part of the day's limit; 0 is no limit",
}
"""Figures with a `by` are one number per value of it."""


@dataclass
class GateMetrics:
    """The counters; the gate adds what it knows at the moment of a snapshot."""

    waiting: int = 0
    running: int = 0
    admitted: int = 0
    given_back: int = 0
    held_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    ended: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
