"""disputes, dockets, verdicts, decisions, payments, letters, reviews ► ledger ► ledger, audit."""

from schemas.base import Model
from schemas.dispute import Dispute
from schemas.docket import Docket
from schemas.letter import Letter
from schemas.payment import Payment
from schemas.review import Review
from schemas.settlement import Decision
from schemas.topics import (
    AUDIT,
    DECISIONS,
    DISPUTES,
    DOCKETS,
    LEDGER,
    LETTERS,
    PAYMENTS,
    REVIEWS,
    VERDICTS,
    Topic,
)
from schemas.verdict import Verdict
from streams import ledger
from streams.ledger_account import LedgerState
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.settings import Settings

INPUTS: tuple[tuple[Topic, type[Model]], ...] = (
    (DISPUTES, Dispute),
    (DOCKETS, Docket),
    (VERDICTS, Verdict),
    (DECISIONS, Decision),
    (PAYMENTS, Payment),
    (LETTERS, Letter),
    (REVIEWS, Review),
)


def stage(settings: Settings) -> KeyedStage[LedgerState]:
    """The ledger app."""

    def on_event(state: LedgerState | None, record: Record) -> ledger.Step:
        return ledger.on_event(
            state or LedgerState(), record.event, record.value, record.place, record.at
        )

    return KeyedStage(
        ledger.STAGE,
        LedgerState,
        tuple(
            Source(topic, event.from_bytes, lambda e: e.settles_under, on_event)
            for topic, event in INPUTS
        ),
        (LEDGER, AUDIT),
        DeadLetterBox(settings.installation_key),
    )
