"""proposals ► allowance ► decisions."""

from schemas.settlement import Proposal
from schemas.topics import DECISIONS, PROPOSALS
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

    return KeyedStage(
        allowance.STAGE,
        CustomerState,
        (Source(PROPOSALS, Proposal.from_bytes, lambda p: p.customer_id, on_proposal),),
        (DECISIONS,),
        DeadLetterBox(settings.installation_key),
    )
