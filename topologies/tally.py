"""rulings, deadlines ► tally ► verdicts, timers."""

import logging

from schemas.ruling import Ruling
from schemas.timer import Deadline
from schemas.topics import DEADLINES, RULINGS, TIMERS, VERDICTS
from schemas.verdict import Verdict
from streams import tally
from streams.tally import Tally, TallyState
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.settings import Settings

log = logging.getLogger("refund_bench.tally")


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


def _alarm(step: tally.Step) -> None:
    """Judges that copy each other are one judge. The stand-in's do by nature, and say `simulated`."""
    for made in step[1]:
        verdict = made.event
        if isinstance(verdict, Verdict) and verdict.identical_replies and not verdict.simulated:
            log.error(
                "judges gave identical replies",
                extra={
                    "alarm": "identical_replies",
                    "grievance_id": verdict.grievance_id,
                    "seats": verdict.identical_replies,
                },
            )
