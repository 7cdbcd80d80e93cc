"""Which model each stage and each seat of the bench asks."""

import asyncio
import contextlib
import logging
import os
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from datetime import UTC, datetime

from schemas.base import PackRef
from schemas.pack import Asked, PolicyPack
from streams.llm.gate import Gate
from streams.llm.gate_opening import open_gate
from streams.llm.port import Model
from streams.llm.registry import call_timeout_s, open_model
from topologies.settings import Settings, SettingsError

log = logging.getLogger("refund_bench.gate")
DEFAULT = "default"
LOG_EVERY_S = 30.0


class Gates:
    """The gates of one process: one per provider, which everything here that asks it passes.

    Args:
        stages: the stages that this process runs, as `extraction`, `judge-2`, `letters`.
    """

    def __init__(
        self,
        settings: Settings,
        stages: Collection[str],
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._settings = settings
        self._stages = frozenset(stages)
        self._environment = environment
        self._gates: dict[str, Gate] = {}

    def of(self, provider: str) -> Gate:
        """The gate of a provider.

        Raises:
            Misconfigured: a limit is wrong.
        """
        if provider not in self._gates:
            callers = self._callers(provider)
            self._gates[provider] = open_gate(
                provider,
                self._environment,
                self._settings.state_dir,
                stages=sorted(self._stages & callers),
                callers=sorted(callers),
                now=lambda: datetime.now(UTC),
                timeout_s=call_timeout_s(self._environment),
            )
        return self._gates[provider]

    @contextlib.asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """While it is entered, every gate's figures are logged beside the stages' (`gate_metrics.TABLE`)."""

        async def tell() -> None:
            while True:
                await asyncio.sleep(LOG_EVERY_S)
                self._log()

        telling = asyncio.create_task(tell())
        try:
            yield
        finally:
            telling.cancel()
            self._log()

    def _log(self) -> None:
        for provider, gate in self._gates.items():
            log.info("gate", extra={"provider": provider, **gate.snapshot()})

    def _callers(self, provider: str) -> frozenset[str]:
        """Every stage of the installation that asks this provider."""
        asked: dict[str, list[Asked]] = {}
        for loaded in self._settings.packs():
            pack = loaded.pack
            asked.setdefault("extraction", []).append(pack.extraction)
            asked.setdefault("letters", []).append(pack.letter)
            for seat in pack.bench.seats:
                asked.setdefault(f"judge-{seat.seat}", []).append(seat)
        return frozenset(
            stage
            for stage, ones in asked.items()
            if any(provider_of(self._settings, one) == provider for one in ones)
        )


def provider_of(settings: Settings, asked: Asked) -> str:
    """The provider's name, where `default` is the operator's choice."""
    return settings.provider if asked.provider == DEFAULT else asked.provider


def asked_model(
    settings: Settings,
    asked: Asked,
    environment: Mapping[str, str] = os.environ,
    gates: Gates | None = None,
) -> Model:
    """The model that a pack asks. Never a stand-in for one that cannot be opened.

    Raises:
        SettingsError: no provider was chosen; a stand-in is never chosen silently.
        streams.llm.port.Misconfigured: the provider lacks something it needs.
    """
    provider = provider_of(settings, asked)
    if not provider:
        raise SettingsError(
            "REFUND_BENCH_PROVIDER is not set; choose anthropic, openai, kimi, or offline-rules (a labelled stand-in)"
        )
    gate_of = gates.of if gates else None
    return open_model(provider, environment, asked.model, asked.sampling, gate_of)


class PackModels:
    """For one stage, the model that each loaded pack asks; opened at the start, so that what cannot be
    opened is an error there.

    `asks` picks who is asked out of a pack; None where the pack asks nobody.

    Raises:
        SettingsError, Misconfigured: as `asked_model`.
    """

    def __init__(
        self, settings: Settings, gates: Gates, asks: Callable[[PolicyPack], Asked | None]
    ) -> None:
        self._models: dict[tuple[str, int], Model] = {}
        opened: dict[str, Model] = {}
        for loaded in settings.packs():
            asked = asks(loaded.pack)
            if asked is None:
                continue
            same = asked.model_dump_json(include=set(Asked.model_fields))
            if same not in opened:
                opened[same] = asked_model(settings, asked, gates=gates)
            self._models[loaded.pack.policy, loaded.pack.version] = opened[same]

    def of(self, pack: PackRef) -> Model | None:
        """The model of that pack, or None where it asks nobody."""
        return self._models.get((pack.policy, pack.pack_version))

    def needed(self, pack: PackRef) -> Model:
        """The model of a pack that certainly asks somebody."""
        return self._models[pack.policy, pack.pack_version]


def models(
    settings: Settings, environment: Mapping[str, str] = os.environ, seat: int | None = None
) -> list[Model]:
    """Every model that the loaded packs ask, or one seat's, each once.

    Raises:
        SettingsError, Misconfigured: as `asked_model`.
    """
    asked: list[Asked] = []
    for loaded in settings.packs():
        pack = loaded.pack
        asked += [one for one in pack.bench.seats if seat is None or one.seat == seat]
        asked += [pack.extraction, pack.letter] if seat is None else []
    found = [asked_model(settings, one, environment) for one in asked]
    return list({(model.provider, model.model): model for model in found}.values())
