"""proposals, deadlines ► allowance ► decisions, timers."""

from schemas.settlement import Proposal
from schemas.timer import Deadline
from schemas.topics import DEADLINES, DECISIONS, PROPOSALS, TIMERS
from streams import allowance
from streams.allowance import Allowance, CustomerState
from streams.sealing import DecisionSeal
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.settings import Settings


def stage(settings: Settings) -> KeyedStage[CustomerState]:
    """The allowance app."""
    decide = Allowance(settings.packs(), DecisionSeal(settings.installation_key))

    def on_proposal(state: CustomerState | None, record: Record) -> allowance.Step:
        return decide.on_proposal(state or CustomerState(), record.event, record.at)

    def on_deadline(state: CustomerState | None, record: Record) -> allowance.Step:
        if state is None or record.event.stage != allowance.STAGE:
            return state, []
        return decide.on_deadline(state, record.event, record.at)

    return KeyedStage(
        allowance.STAGE,
        CustomerState,
        (
            Source(PROPOSALS, Proposal.from_bytes, lambda p: p.customer_id, on_proposal),
            Source(DEADLINES, Deadline.from_bytes, lambda d: d.waiting_key, on_deadline),
        ),
        (DECISIONS, TIMERS),
        DeadLetterBox(settings.installation_key),
    )
