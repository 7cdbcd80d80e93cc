"""What is counted after the money chaos: by the gateway's own file, and by the broker's clock."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from ops.bounded_read import every_partition, spans, stream
from schemas.topics import PAYMENTS, PROPOSALS, Topic

PROVED_BY: dict[str, Topic] = {"settlement": PROPOSALS, "network": PAYMENTS, "gateway": PAYMENTS}
"""Victim → the topic in which its next record shows that it works again."""


def paid_more_than_once(gateway_file: Path) -> list[str]:
    """Each pay scope that the gateway's own file shows more than once, under whatever keys.

    A transaction's scope is the same whatever it settles under; all others belong to their order.
    """
    with sqlite3.connect(f"file:{gateway_file}?mode=ro", uri=True) as db:
        rows = db.execute("SELECT order_id, scopes, reference FROM refunds").fetchall()
    times: Counter[str] = Counter()
    for order, scopes, reference in rows:
        named = json.loads(scopes) or [f"(no scope) {reference}"]
        times.update(s if s.startswith("tx:") else f"{order} {s}" for s in named)
    return sorted(scope for scope, count in times.items() if count > 1)


def recoveries(bootstrap: str, killed: Sequence[tuple[str, float]]) -> list[float]:
    """Seconds from each kill to the next record that proves its victim at work; an upper bound, since
    there must be work for it."""
    at: dict[str, list[float]] = {}
    for topic in set(PROVED_BY.values()):
        places = spans(every_partition(topic), bootstrap=bootstrap)
        at[topic.name] = sorted(one.at.timestamp() for one in stream(places, bootstrap=bootstrap))
    taken = []
    for victim, moment in killed:
        if victim in PROVED_BY:
            after = [when for when in at[PROVED_BY[victim].name] if when > moment]
            taken += [round(after[0] - moment, 2)] if after else []
    return taken
