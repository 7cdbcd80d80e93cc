"""Files checked complaints and evidence into Kafka, each under its key, every one acknowledged."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import orjson

from ops.trail import in_ledger
from ops.validation import Item
from schemas.evidence import MAX_EVIDENCE_BYTES, subject_of
from schemas.ids import dispute_id
from schemas.topics import COMPLAINTS, EVIDENCE
from schemas.trace import new_trace
from topologies import clients
from topologies.quix_app import check_partitions

FLUSH_S = 30.0
ANSWER_WITHIN_S = 8.0


class NotTaken(ConnectionError):
    """The broker did not acknowledge every record; filing the file again is safe."""


@dataclass
class Filed:
    """What became of a file."""

    accepted: int = 0
    duplicates: int = 0
    evidence: int = 0
    disputes: list[dict[str, Any]] = field(default_factory=list)


def submit(items: Iterable[Item], installation_key: bytes, inline: bool = False) -> Filed:
    """File what has no errors. A complaint the ledger knows, or the file has twice, is not filed again;
    its evidence is, being perhaps a newer record.

    Raises:
        InputSetChanged: a topic is missing or has another number of partitions.
        KafkaException: the broker is away.
        NotTaken: it did not take everything.
    """
    items = [item for item in items if not item.errors]
    metadata = clients.admin().list_topics(timeout=ANSWER_WITHIN_S).topics
    counts = {name: len(topic.partitions) for name, topic in metadata.items()}
    check_partitions(counts, (COMPLAINTS, EVIDENCE))
    ids = {
        item.line: dispute_id(installation_key, item.complaint.order_id, item.complaint.text)
        for item in items
        if item.complaint is not None
    }
    seen = in_ledger(ids.values()) if ids else set()
    filed, sender = Filed(), Sender()
    for item in items:
        repeated = ids.get(item.line) in seen
        inside = inline and not repeated and item.complaint is not None and _is_small(item)
        if item.evidence is not None and not inside:
            sender.send(EVIDENCE.name, subject_of(item.evidence) or "", orjson.dumps(item.evidence))
            filed.evidence += 1
        if item.complaint is None:
            continue
        dispute = ids[item.line]
        seen.add(dispute)
        filed.accepted += not repeated
        filed.duplicates += repeated
        filed.disputes.append(
            {
                "line": item.line,
                "order_id": item.complaint.order_id,
                "dispute_id": dispute,
                "duplicate": repeated,
            }
        )
        if not repeated:
            complaint = item.complaint
            if inside:
                complaint = complaint.model_copy(update={"evidence": item.evidence})
            sender.send(COMPLAINTS.name, complaint.order_id, complaint.to_bytes(), new_trace())
    sender.finish()
    return filed


def _is_small(item: Item) -> bool:
    """Room for the complaint beside it in one message; larger evidence goes to its own topic."""
    return item.evidence is not None and len(orjson.dumps(item.evidence)) <= MAX_EVIDENCE_BYTES


class Sender:
    """Produces, and knows whether everything was acknowledged."""

    def __init__(self) -> None:
        self._producer = clients.producer()
        self._refused: list[str] = []

    def send(
        self, topic: str, key: str, value: bytes | None, headers: dict[str, bytes] | None = None
    ) -> None:
        """Produce a record; without a value, the tombstone of its key."""
        while True:
            try:
                self._producer.produce(
                    topic, key=key.encode(), value=value, headers=headers, on_delivery=self._told
                )  # fmt: skip
                self._producer.poll(0)
                return
            except BufferError:
                self._producer.poll(0.1)

    def _told(self, error: Any, _: Any) -> None:
        if error is not None:
            self._refused.append(error.str())

    def finish(self) -> None:
        """Wait for every acknowledgement.

        Raises:
            NotTaken: some did not come.
        """
        left = self._producer.flush(FLUSH_S)
        if left or self._refused:
            why = self._refused[0] if self._refused else f"no answer within {FLUSH_S:.0f} s"
            raise NotTaken(
                f"Kafka did not take {left + len(self._refused)} records: {why}; "
                "submit the same file again, what was taken is recognised"
            )
