"""The audit chain: each event of a dispute, and each operation on a subject, numbered and linked by hash."""

import hashlib
from dataclasses import dataclass
from datetime import datetime

from schemas.ids import content_hash, operations_chain
from schemas.ledger import AuditEntry
from schemas.operation import Operation
from schemas.topics import AUDIT
from streams.emit import Emit, emit
from streams.ledger_account import LedgerState, OperationsChain

GENESIS = "sha256:" + "0" * 64
"""What the first link of a chain follows."""
REMEMBERED = 500
"""Operations of a subject that are known again. One repeated later than that is chained twice, under one id."""


@dataclass(frozen=True)
class Place:
    """Where an event stands in Kafka."""

    topic: str
    partition: int
    offset: int


Step = tuple[LedgerState | None, list[Emit]]


def chain(previous: str, event_hash: str) -> str:
    """The next link: sha256 over the previous link and the event's hash."""
    return "sha256:" + hashlib.sha256(f"{previous}{event_hash}".encode()).hexdigest()


def on_operation(
    state: LedgerState, operation: Operation, value: bytes, place: Place, now: datetime
) -> Step:
    """Link an operation into the chain of its subject; a repeat of one is not linked again."""
    known = state.operations or OperationsChain()
    if operation.operation_id in known.recent:
        return state, []
    sequence, previous = known.sequence + 1, known.head or GENESIS
    chain_id = operations_chain(operation.subject)
    audit = link(chain_id, sequence, place, content_hash(value), previous, now)
    recent = (*known.recent, operation.operation_id)[-REMEMBERED:]
    after = OperationsChain(sequence=sequence, head=audit.chain, recent=recent)
    return state.model_copy(update={"operations": after}), [emit(AUDIT, audit)]


def link(
    chain_id: str, sequence: int, place: Place, event_hash: str, previous: str, now: datetime
) -> AuditEntry:
    """The entry that links an event after `previous`."""
    return AuditEntry(
        at=now,
        dispute_id=chain_id,
        sequence=sequence,
        topic=place.topic,
        partition=place.partition,
        offset=place.offset,
        event_hash=event_hash,
        previous=previous,
        chain=chain(previous, event_hash),
    )
