"""Made-up disputes as every topic that ClickHouse keeps would hold them, written again now and then."""

import random
from collections.abc import Iterator
from datetime import timedelta

from confluent_kafka import Producer

from ops.bench.made_up_events import FIRST, events
from schemas.base import DisputeEvent, Event, Model
from schemas.dead_letter import DeadLetter
from schemas.ids import content_hash
from schemas.ledger import AuditEntry
from schemas.letter import Letter, LetterRequest
from schemas.operation import Operation
from schemas.receipt import Receipt
from schemas.review import Review

WRITTEN_TWICE = 0.05
"""Share of records that a stage writes again after a crash, under the same id at another place."""


def whole_dispute(number: int, seed: int) -> Iterator[tuple[str, Model]]:
    """Topic and event: what the stages leave, and what people and operators add."""
    for topic, event in events(number, seed):
        yield topic, event
        if isinstance(event, Letter):
            yield from _around(event, number)


def file(producer: Producer, number: int, seed: int) -> None:
    """Produce one dispute."""
    rng = random.Random(f"{seed}:{number}:twice")
    for topic, event in whole_dispute(number, seed):
        value = event.to_bytes()
        for _ in range(2 if rng.random() < WRITTEN_TWICE else 1):
            producer.produce(topic, value, f"order-{number}".encode())
            producer.poll(0)


def _around(letter: Letter, number: int) -> Iterator[tuple[str, Event]]:
    """Beside the letter: its request and receipt, a review, a reading, a link of the chain, a dead letter."""
    about = letter.model_dump(include=set(DisputeEvent.model_fields) - {"schema_version"})
    dispute, later = letter.dispute_id, letter.at + timedelta(hours=1)
    yield "letter-requests", LetterRequest(
        **about, letter_id=letter.letter_id, kind="outcome", paid_minor=letter.paid_minor,
        currency=letter.currency, complaint_text="made up",
    )  # fmt: skip
    yield (
        "receipts",
        Receipt(
            **about,
            letter_id=letter.letter_id,
            channel="file",
            reference=f"file:{letter.letter_id}",
        ),
    )
    yield "reviews", Review(
        at=later, review_id=f"{dispute}-r1", dispute_id=dispute, order_id=letter.order_id,
        settles_under=letter.settles_under, action="reject", reason_code="made_up", reviewer="asha",
        role="officer",
    )  # fmt: skip
    yield "operations", Operation(
        at=later, operation_id=f"read-{dispute}", subject=dispute, action="customer_text_read",
        actor="asha", details={"command": "explain"},
    )  # fmt: skip
    for sequence in (1, 2):
        yield "audit", AuditEntry(
            at=later, dispute_id=dispute, sequence=sequence, topic="disputes", partition=number % 12,
            offset=number, event_hash=content_hash(b"made up"), previous="", chain="sha256:link",
        )  # fmt: skip
    yield "dead-letters", DeadLetter(
        at=FIRST, dead_letter_id=f"intake:complaints-{number}", stage="intake", topic="complaints",
        partition=number % 12, offset=number, value="Z0FBQUFB", error="text: is empty",
    )  # fmt: skip
