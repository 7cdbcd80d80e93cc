"""Every app by name, and how to run one. Each is a process; `network` puts the async ones into one."""

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from ops.logs import set_up_logging
from schemas.topics import DEAD_LETTERS
from topologies import clients
from topologies.async_stage import AsyncStage, AsyncWorker
from topologies.dead_letters import DeadLetterBox, record_key
from topologies.settings import Settings

log = logging.getLogger("refund_bench.app")

KEYED = ("intake", "tally", "settlement", "allowance", "ledger")
"""Stateful stages on Quix: one process each, since Quix wants the main thread."""
NETWORK = ("extraction", "judge", "payout", "letters", "delivery")
"""Stages on the async stage; a judge is one per seat."""
ASK_MODELS = ("extraction", "judge", "letters", "network")
"""Those that need a model: key and model name are checked before they start."""
ALL = (*KEYED, *NETWORK, "network", "timer", "sink")


def run_app(name: str, seat: int | None = None, state_dir: Path | None = None) -> int:
    """Run one app until it is told to stop.

    Raises:
        topologies.settings.SettingsError: a setting is missing.
        streams.llm.port.Misconfigured: a model's key or name is wrong.
        topologies.quix_app.InputSetChanged: a topic is missing or an input set has changed.
        SystemExit: an async app that cannot go on.
    """
    set_up_logging()
    settings = Settings.from_environment()
    packs = ", ".join(f"{pack.pack.policy} v{pack.pack.version}" for pack in settings.packs())
    log.info(
        "starting %s", name,
        extra={"stage": name, "seat": seat, "broker": clients.broker(), "packs": packs, "provider": settings.provider},
    )  # fmt: skip
    if name in KEYED:
        return _run_keyed(name, settings)
    if name == "timer":
        from topologies.timer import TimerApp

        return TimerApp(DeadLetterBox(settings.installation_key)).run()
    if name == "sink":
        return _run_sink(settings)
    worker = network_worker(name, settings, seat)
    if name in ASK_MODELS:
        _check_models(settings, seat)
    worker.run()
    return 0


def _check_models(settings: Settings, seat: int | None) -> None:
    # The SDKs take 3 s of CPU to import: an app that asks no model starts without them.
    from streams.llm.registry import check_models
    from topologies.models import models

    for doubt in check_models(models(settings, seat=seat)):
        log.warning("a model could not be asked at the start", extra={"model": doubt})


def _run_sink(settings: Settings) -> int:
    """The sink writes at least once into tables that replace, so it needs no transactions and may take
    larger bites than the stages that money waits for."""
    from sinks import app as sink_app
    from sinks.clickhouse_sink import RefusedRecord
    from topologies.network_stage import now
    from topologies.quix_app import application

    box, producer = DeadLetterBox(settings.installation_key), clients.producer()

    def on_refused(refused: Sequence[RefusedRecord]) -> None:
        for record in refused:
            if record.place.topic == DEAD_LETTERS.name:
                # It is where it belongs; a dead letter of a dead letter would only come back here.
                log.error("ClickHouse refused a dead letter", extra={"error": record.reason})
                continue
            letter = box.seal(
                stage="sink",
                topic=record.place.topic,
                partition=record.place.partition,
                offset=record.place.offset,
                key=record.key,
                value=record.value,
                error=record.reason,
                now=now(),
            )
            producer.produce(
                DEAD_LETTERS.name,
                key=record_key(record.key, record.place.topic),
                value=letter.to_bytes(),
            )
        if producer.flush(30):
            raise RuntimeError("Kafka did not take the dead letters of refused rows")

    app = application(
        "sink",
        settings,
        processing_guarantee="at-least-once",
        commit_interval=sink_app.COMMIT_INTERVAL_S,
        commit_every=sink_app.COMMIT_EVERY,
    )
    sink_app.build(app, settings.installation_key, on_refused)
    app.run()
    return 0


def _run_keyed(name: str, settings: Settings) -> int:
    import importlib

    app = importlib.import_module(f"topologies.{name}").stage(settings).build(settings)
    if name == "intake":
        _record_packs(settings)
    app.run()
    return 0


def _record_packs(settings: Settings) -> None:
    """Intake pins disputes to packs, so at its start it is told which: once per pack in the audit trail."""
    from ops.operations import packs_loaded, record
    from topologies.network_stage import now

    record(*packs_loaded(settings.packs(), "intake", now()))


def network_worker(name: str, settings: Settings, seat: int | None) -> AsyncWorker:
    """The async stages that `run NAME` puts into this process, behind their gates."""
    from topologies import delivery, extraction, judge, letters, payout
    from topologies.models import Gates

    seats = [seat] if seat else judge.seats(settings)
    judges = [f"judge-{number}" for number in seats]
    callers = {"extraction": ["extraction"], "judge": judges, "letters": ["letters"]}
    asking = [s for app, mine in callers.items() if name in (app, "network") for s in mine]
    gates = Gates(settings, asking)
    one: dict[str, Callable[[], list[AsyncStage]]] = {
        "extraction": lambda: [extraction.stage(settings, gates)],
        "judge": lambda: [judge.stage(settings, gates, number) for number in seats],
        "payout": lambda: [payout.stage(settings)],
        "letters": lambda: [letters.stage(settings, gates)],
        "delivery": lambda: [delivery.stage(settings)],
    }
    made = one.values() if name == "network" else [one[name]]
    return AsyncWorker([stage for make in made for stage in make()], lifespan=gates.watched)
