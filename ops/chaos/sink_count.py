"""Kafka against ClickHouse: the records of every topic, by their bytes, and what an analyst's views show of them.

It knows the ids by name alone and makes no rows, so that a fault of the sink's own row code would show.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import orjson
from clickhouse_connect.driver.client import Client

from ops.bounded_read import every_partition, spans, stream
from schemas.ids import content_hash
from schemas.topics import BY_NAME
from sinks.rows.events import KEPT

SHOWN_AS: dict[str, tuple[tuple[str, str], ...]] = {
    "disputes": (("v_disputes", "dispute_id"), ("v_evidence_snapshots", "dispute_id")),
    "dockets": (("v_dockets", "dispute_id"),),
    "grievances": (("v_grievances", "grievance_id"),),
    "rulings": (("v_judge_rulings", "ruling_id"),),
    "verdicts": (("v_verdicts", "verdict_id"),),
    "proposals": (("v_proposals", "proposal_id"),),
    "decisions": (("v_decisions", "decision_id"),),
    "payments": (("v_payments", "payment_id"),),
    "letters": (("v_letters", "letter_id"),),
    "reviews": (("v_reviews", "review_id"),),
    "ledger": (("v_ledger_entries", "dispute_id sequence"), ("v_disputes_current", "dispute_id")),
    "audit": (("v_audit_entries", "dispute_id sequence"),),
    "operations": (("v_operations", "operation_id"),),
    "dead-letters": (("v_dead_letters", "dead_letter_id"),),
}
"""Topic → the views that show its events, and the fields that make an event the same event."""
PLACES = {"complaints": "v_complaints"}
"""Of a complaint every record is a row, repeats included."""


@dataclass
class Seen:
    """What Kafka holds: how many records of each topic, where with which bytes, and which events."""

    records: Counter[str] = field(default_factory=Counter)
    hashes: dict[str, dict[str, str]] = field(default_factory=dict)
    """Topic → `partition offset` → hash of the bytes."""
    ids: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """(topic, fields) → the events' ids."""

    def take(self, topic: str, partition: int, offset: int, value: bytes) -> None:
        self.records[topic] += 1
        self.hashes.setdefault(topic, {})[f"{partition} {offset}"] = content_hash(value)
        held = orjson.loads(value)
        for _, fields in SHOWN_AS.get(topic, ()):
            same = " ".join(str(held[name]) for name in fields.split())
            self.ids.setdefault((topic, fields), set()).add(same)


@dataclass
class Balance:
    """What is not as it should be, one line each; all empty where ClickHouse shows exactly what Kafka holds."""

    lost: list[str] = field(default_factory=list)
    duplicate: list[str] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)
    """Shown, and in Kafka nowhere or with other bytes."""

    def compare(self, name: str, wanted: Iterable[str], shown: Iterable[str]) -> None:
        """One view: every id wanted is shown, once, and no other."""
        times, asked = Counter(shown), set(wanted)
        self.lost += [f"{name} {one}" for one in sorted(asked - times.keys())]
        self.strange += [f"{name} {one}" for one in sorted(times.keys() - asked)]
        self.duplicate += [f"{name} {one}" for one, count in sorted(times.items()) if count > 1]

    @property
    def even(self) -> bool:
        return not (self.lost or self.duplicate or self.strange)


def in_kafka(bootstrap: str) -> Seen:
    """Every committed record of every topic that ClickHouse keeps."""
    seen = Seen()
    for topic in sorted(KEPT | SHOWN_AS.keys() | PLACES.keys()):
        places = spans(every_partition(BY_NAME[topic]), bootstrap=bootstrap)
        for one in stream(places, bootstrap=bootstrap):
            if one.value is not None:
                seen.take(one.topic, one.partition, one.offset, one.value)
    return seen


def balance(seen: Seen, client: Client) -> Balance:
    """Compare it with the views, record by record."""
    found = Balance()
    for topic in sorted(seen.records):
        if topic in KEPT:
            rows = client.query(
                "SELECT concat(toString(kafka_partition), ' ', toString(kafka_offset), ' ', event_hash)"
                " FROM v_events WHERE topic = {topic:String}",
                parameters={"topic": topic},
            ).result_rows
            wanted = [f"{place} {digest}" for place, digest in seen.hashes[topic].items()]
            found.compare(f"v_events {topic}", wanted, (row[0] for row in rows))
        if topic in PLACES:
            shown = _shown(client, PLACES[topic], "kafka_partition kafka_offset")
            found.compare(PLACES[topic], seen.hashes[topic], shown)
        for view, fields in SHOWN_AS.get(topic, ()):
            found.compare(view, seen.ids[topic, fields], _shown(client, view, fields))
    return found


def stored_records(client: Client) -> int:
    """Records whose rows have arrived, cheap enough to ask again and again."""
    return int(client.command("SELECT count() FROM v_events"))  # type: ignore[arg-type]


def _shown(client: Client, view: str, fields: str) -> list[str]:
    parts = ", ' ', ".join(f"toString({name})" for name in fields.split())
    sql = f"SELECT concat({parts}, '') FROM {view}"
    return [row[0] for row in client.query(sql).result_rows]
