"""Which model each stage and each seat of the bench asks."""

import os
from collections.abc import Callable, Mapping

from schemas.base import PackRef
from schemas.pack import Asked, PolicyPack
from streams.llm.port import Model
from streams.llm.registry import open_model
from topologies.settings import Settings, SettingsError

DEFAULT = "default"


def asked_model(
    settings: Settings, asked: Asked, environment: Mapping[str, str] = os.environ
) -> Model:
    """The model that a pack asks. Never a stand-in for one that cannot be opened.

    Raises:
        SettingsError: no provider was chosen; a stand-in is never chosen silently.
        streams.llm.port.Misconfigured: the provider lacks something it needs.
    """
    if asked.provider == DEFAULT and not settings.provider:
        raise SettingsError(
            "REFUND_BENCH_PROVIDER is not set; choose anthropic, openai, kimi, or offline-rules (a labelled stand-in)"
        )
    provider = settings.provider if asked.provider == DEFAULT else asked.provider
    return open_model(provider, environment, asked.model, asked.sampling)


class PackModels:
    """For one stage, the model that each loaded pack asks; opened at the start, so that what cannot be
    opened is an error there.

    `asks` picks who is asked out of a pack; None where the pack asks nobody.

    Raises:
        SettingsError, Misconfigured: as `asked_model`.
    """

    def __init__(self, settings: Settings, asks: Callable[[PolicyPack], Asked | None]) -> None:
        self._models: dict[tuple[str, int], Model] = {}
        opened: dict[str, Model] = {}
        for loaded in settings.packs():
            asked = asks(loaded.pack)
            if asked is None:
                continue
            same = asked.model_dump_json(include=set(Asked.model_fields))
            if same not in opened:
                opened[same] = asked_model(settings, asked)
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
