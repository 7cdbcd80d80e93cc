"""grievances ► one judge per seat, each its own consumer group ► rulings."""

from datetime import timedelta

from schemas.grievance import Grievance
from schemas.ruling import Ruling
from schemas.topics import GRIEVANCES, RULINGS
from streams.emit import Emit, emit
from streams.judging import abstain, judge
from topologies.async_stage import AsyncStage, Message, StageSettings
from topologies.models import Gates, PackModels
from topologies.network_stage import network_stage, now, usage_of
from topologies.settings import Settings

CALL_DEADLINE_S = 45.0
"""Retries of one ruling end here, inside the default tally window of 60 s; then the seat abstains."""


def stage(settings: Settings, gates: Gates, seat: int) -> AsyncStage:
    """The judge of one seat. A provider that its pack names and that cannot be opened is an error here,
    at the start, and never a stand-in."""
    packs = settings.packs()
    models = PackModels(
        settings, gates, lambda pack: next((s for s in pack.bench.seats if s.seat == seat), None)
    )

    async def handle(grievance: Grievance, message: Message) -> list[Emit]:
        pack = packs.get(grievance.pack.policy, grievance.pack.pack_version)
        model = models.of(grievance.pack)
        if model is None:
            return []
        if now() - grievance.at > timedelta(seconds=pack.pack.windows.tally_deadline_s):
            return [emit(RULINGS, abstain(grievance, seat, pack, "too_late_to_count", now, model))]
        ruling = await judge(grievance, seat, pack, model, now)
        return [emit(RULINGS, _counted(ruling, message))] if ruling is not None else []

    def exhausted(grievance: Grievance, reason: str, message: Message) -> list[Emit]:
        pack = packs.get(grievance.pack.policy, grievance.pack.pack_version)
        model = models.needed(grievance.pack)
        ruling = abstain(grievance, seat, pack, reason, now, model)
        return [emit(RULINGS, _counted(ruling, message))]

    return network_stage(
        f"judge-{seat}",
        GRIEVANCES,
        Grievance,
        handle,
        settings,
        StageSettings(slots=100, deadline_s=CALL_DEADLINE_S),
        exhausted,
    )


def _counted(ruling: Ruling, message: Message) -> Ruling:
    """The ruling with every call and attempt that was made for it."""
    attempts = ruling.attempts + message.attempt - 1
    return ruling.model_copy(update={"usage": usage_of(message), "attempts": attempts})


def seats(settings: Settings) -> tuple[int, ...]:
    """Every seat number that any pack seats."""
    return tuple(sorted({seat.seat for pack in settings.packs() for seat in pack.pack.bench.seats}))
