"""disputes, dockets, verdicts, decisions, payments, letter-requests, letters, receipts, reviews,
operations ► ledger ► ledger, audit.

Not chained: rulings and grievances, which are keyed by grievance (the verdict holds each ruling's hash,
the docket each grievance), proposals (keyed by customer; the decision holds the hash), complaints and
evidence (the dispute holds what was taken of them), timers and deadlines, which decide nothing alone.
"""

from schemas.base import Model
from schemas.dispute import Dispute
from schemas.docket import Docket
from schemas.letter import Letter, LetterRequest
from schemas.operation import Operation
from schemas.payment import Payment
from schemas.receipt import Receipt
from schemas.review import Review
from schemas.settlement import Decision
from schemas.topics import (
    AUDIT,
    DECISIONS,
    DISPUTES,
    DOCKETS,
    LEDGER,
    LETTER_REQUESTS,
    LETTERS,
    OPERATIONS,
    PAYMENTS,
    RECEIPTS,
    REVIEWS,
    VERDICTS,
    Topic,
)
from schemas.verdict import Verdict
from streams import ledger
from streams.ledger_account import LedgerState
from streams.ledger_chain import Step, on_operation
from streams.sealing import DecisionSeal
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.settings import Settings

INPUTS: tuple[tuple[Topic, type[Model]], ...] = (
    (DISPUTES, Dispute),
    (DOCKETS, Docket),
    (VERDICTS, Verdict),
    (DECISIONS, Decision),
    (PAYMENTS, Payment),
    (LETTER_REQUESTS, LetterRequest),
    (LETTERS, Letter),
    (RECEIPTS, Receipt),
    (REVIEWS, Review),
)
"""What is chained under its dispute, keyed by settles_under."""


def stage(settings: Settings) -> KeyedStage[LedgerState]:
    """The ledger app."""

    read_decision = DecisionSeal(settings.installation_key).read

    def on_event(state: LedgerState | None, record: Record) -> Step:
        return ledger.on_event(
            state or LedgerState(), record.event, record.value, record.place, record.at
        )

    def take_operation(state: LedgerState | None, record: Record) -> Step:
        return on_operation(
            state or LedgerState(), record.event, record.value, record.place, record.at
        )

    return KeyedStage(
        ledger.STAGE,
        LedgerState,
        (
            *(
                Source(
                    topic,
                    read_decision if topic is DECISIONS else event.from_bytes,
                    lambda e: e.settles_under,
                    on_event,
                )
                for topic, event in INPUTS
            ),
            Source(OPERATIONS, Operation.from_bytes, lambda e: e.subject, take_operation),
        ),
        (LEDGER, AUDIT),
        DeadLetterBox(settings.installation_key),
    )
