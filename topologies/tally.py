"""rulings, deadlines ► tally ► verdicts, timers."""

from schemas.ruling import Ruling
from schemas.timer import Deadline
from schemas.topics import DEADLINES, RULINGS, TIMERS, VERDICTS
from streams import tally
from streams.tally import Tally, TallyState
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.settings import Settings


def stage(settings: Settings) -> KeyedStage[TallyState]:
    """The tally app."""
    decide = Tally(settings.packs())

    def on_ruling(state: TallyState | None, record: Record) -> tally.Step:
        return decide.on_ruling(state, record.event, record.at, record.value)

    def on_deadline(state: TallyState | None, record: Record) -> tally.Step:
        if record.event.stage != tally.STAGE:
            return state, []
        return decide.on_deadline(state, record.event, record.at)

    return KeyedStage(
        tally.STAGE,
        TallyState,
        (
            Source(RULINGS, Ruling.from_bytes, lambda r: r.grievance_id, on_ruling),
            Source(DEADLINES, Deadline.from_bytes, lambda d: d.waiting_key, on_deadline),
        ),
        (VERDICTS, TIMERS),
        DeadLetterBox(settings.installation_key),
    )
