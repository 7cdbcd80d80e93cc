"""Every topic ClickHouse keeps, with the function that makes its rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from schemas import topics
from schemas.base import Model
from schemas.complaint import Complaint
from schemas.dead_letter import DeadLetter
from schemas.dispute import Dispute
from schemas.docket import Docket
from schemas.grievance import Grievance
from schemas.ledger import AuditEntry, LedgerEntry
from schemas.letter import Letter, LetterRequest
from schemas.operation import Operation
from schemas.payment import Payment
from schemas.receipt import Receipt
from schemas.review import Review
from schemas.ruling import Ruling
from schemas.settlement import Decision, Proposal
from schemas.verdict import Verdict
from sinks.rows import (
    audit,
    complaints,
    dead_letters,
    decisions,
    disputes,
    dockets,
    events,
    grievances,
    ledger,
    letters,
    operations,
    payments,
    proposals,
    reviews,
    rulings,
    verdicts,
)
from sinks.rows.row import Place, Row

E = TypeVar("E", bound=Model)


@dataclass(frozen=True)
class Projection(Generic[E]):
    """A topic, the event it carries, and the rows that event leaves."""

    topic: str
    event: type[E]
    rows: Callable[[E, Place], list[Row]]

    def read(self, value: bytes, place: Place) -> list[Row]:
        """The rows of one record.

        Raises:
            ValueError: bytes that are not the topic's event.
        """
        return self.rows(self.event.from_bytes(value), place)


PROJECTIONS: tuple[Projection[Any], ...] = (
    Projection(topics.DISPUTES.name, Dispute, disputes.rows),
    Projection(topics.DOCKETS.name, Docket, dockets.rows),
    Projection(topics.GRIEVANCES.name, Grievance, grievances.rows),
    Projection(topics.RULINGS.name, Ruling, rulings.rows),
    Projection(topics.VERDICTS.name, Verdict, verdicts.rows),
    Projection(topics.PROPOSALS.name, Proposal, proposals.rows),
    Projection(topics.DECISIONS.name, Decision, decisions.rows),
    Projection(topics.PAYMENTS.name, Payment, payments.rows),
    Projection(topics.LETTER_REQUESTS.name, LetterRequest, events.nothing),
    Projection(topics.LETTERS.name, Letter, letters.rows),
    Projection(topics.RECEIPTS.name, Receipt, events.nothing),
    Projection(topics.REVIEWS.name, Review, reviews.rows),
    Projection(topics.LEDGER.name, LedgerEntry, ledger.rows),
    Projection(topics.AUDIT.name, AuditEntry, audit.rows),
    Projection(topics.OPERATIONS.name, Operation, operations.rows),
    Projection(topics.DEAD_LETTERS.name, DeadLetter, dead_letters.rows),
)
"""All but the complaints, whose rows need the installation's key."""


def projections(installation_key: bytes) -> tuple[Projection[Any], ...]:
    """Every topic the sink reads."""
    filed = Projection(topics.COMPLAINTS.name, Complaint, complaints.rows_under(installation_key))
    return (filed, *PROJECTIONS)
