"""disputes ► extraction ► dockets (one per dispute), grievances, timers (the outer deadline of each tally)."""

from datetime import timedelta

from schemas.dispute import Dispute
from schemas.docket import Docket
from schemas.grievance import Grievance
from schemas.timer import Timer
from schemas.topics import DISPUTES, DOCKETS, GRIEVANCES
from streams import tally
from streams.emit import Emit, emit, start
from streams.extraction import extract, extraction_failed
from streams.llm.port import Misconfigured, Overloaded, ProviderDown
from streams.policies.loader import PackRegistry
from streams.tally import Subject
from topologies.async_stage import AsyncStage, Message, StageSettings
from topologies.models import Gates, PackModels
from topologies.network_stage import network_stage, now, usage_of
from topologies.settings import Settings


def stage(settings: Settings, gates: Gates) -> AsyncStage:
    """The extraction app."""
    packs = settings.packs()
    models = PackModels(settings, gates, lambda pack: pack.extraction)

    async def handle(dispute: Dispute, message: Message) -> list[Emit]:
        pack = packs.get(dispute.pack.policy, dispute.pack.pack_version)
        try:
            docket, grievances = await extract(dispute, pack, models.needed(dispute.pack), now)
        except (Overloaded, ProviderDown, Misconfigured, TimeoutError):
            raise
        except Exception as error:
            # A dead letter alone would leave a dispute without its docket, which nothing waits for.
            return [emit(DOCKETS, extraction_failed(dispute, type(error).__name__, now))]
        docket = docket.model_copy(update={"usage": usage_of(message)})
        return emits(docket, grievances, packs)

    def exhausted(dispute: Dispute, reason: str, message: Message) -> list[Emit]:
        docket = extraction_failed(dispute, reason, now)
        return [emit(DOCKETS, docket.model_copy(update={"usage": usage_of(message)}))]

    return network_stage(
        "extraction", DISPUTES, Dispute, handle, settings, StageSettings(slots=64), exhausted
    )


def emits(docket: Docket, grievances: list[Grievance], packs: PackRegistry) -> list[Emit]:
    """The docket, its grievances, and for each the timer that ends its tally even if no seat answers."""
    out = [emit(DOCKETS, docket)]
    for grievance in grievances:
        windows = packs.get(docket.pack.policy, docket.pack.pack_version).pack.windows
        subject = Subject(
            category=grievance.claim.category,
            **grievance.model_dump(include=set(Subject.model_fields) - {"category"}),
        )
        deadline = Timer(
            at=grievance.at,
            timer_id=tally.deadline_timer(grievance.grievance_id),
            stage=tally.STAGE,
            kind="tally_deadline",
            waiting_key=grievance.grievance_id,
            due_at=grievance.at + timedelta(seconds=windows.tally_deadline_s),
            payload=subject.model_dump(mode="json"),
        )
        out += [emit(GRIEVANCES, grievance), start(deadline)]
    return out
