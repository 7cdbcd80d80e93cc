"""Which model each stage and each seat of the bench asks."""

import os
from collections.abc import Mapping

from schemas.pack import Seat
from streams.llm.port import Model
from streams.llm.registry import open_model
from topologies.settings import Settings, SettingsError

DEFAULT = "default"


def default_model(settings: Settings, environment: Mapping[str, str] = os.environ) -> Model:
    """The model of stages that have no seat: extraction and letters.

    Raises:
        SettingsError: no provider was chosen; a stand-in is never chosen silently.
        streams.llm.port.Misconfigured: the provider lacks something it needs.
    """
    return _opened(settings, environment, DEFAULT, DEFAULT, {})


def seat_model(
    settings: Settings, seat: Seat, environment: Mapping[str, str] = os.environ
) -> Model:
    """The model of a seat of the bench. Never a stand-in for one that cannot be opened.

    Raises:
        SettingsError, Misconfigured: as `default_model`.
    """
    return _opened(settings, environment, seat.provider, seat.model, seat.sampling)


def models(
    settings: Settings, environment: Mapping[str, str] = os.environ, seat: int | None = None
) -> list[Model]:
    """Every model that the stages and the loaded packs' seats ask, or one seat's, each once.

    Raises:
        SettingsError, Misconfigured: as `default_model`.
    """
    seats = [
        one
        for pack in settings.packs()
        for one in pack.pack.bench.seats
        if seat is None or one.seat == seat
    ]
    found = [seat_model(settings, one, environment) for one in seats]
    if seat is None:
        found.append(default_model(settings, environment))
    return list({(model.provider, model.model): model for model in found}.values())


def _opened(
    settings: Settings,
    environment: Mapping[str, str],
    provider: str,
    model: str,
    sampling: Mapping[str, float],
) -> Model:
    if provider == DEFAULT and not settings.provider:
        raise SettingsError(
            "REFUND_BENCH_PROVIDER is not set; choose anthropic, openai, or offline-rules (a labelled stand-in)"
        )
    chosen = settings.provider if provider == DEFAULT else provider
    return open_model(chosen, environment, model, sampling)
