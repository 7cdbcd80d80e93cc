"""From a provider's name to a model behind the port. Never a stand-in that was not asked for."""

from collections.abc import Mapping

from streams.llm.offline_rules.model import OfflineRules
from streams.llm.port import Misconfigured, Model

OFFLINE = "offline-rules"
_NOT_BUILT = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def _rate(environment: Mapping[str, str]) -> float:
    said = environment.get("REFUND_BENCH_OFFLINE_DISAGREEMENT", "0") or "0"
    try:
        rate = float(said)
    except ValueError:
        rate = -1.0
    if not 0 <= rate <= 1:
        raise Misconfigured(f"REFUND_BENCH_OFFLINE_DISAGREEMENT={said!r}: set a share from 0 to 1")
    return rate


def _seed(environment: Mapping[str, str]) -> int:
    said = environment.get("REFUND_BENCH_SEED", "0") or "0"
    try:
        return int(said)
    except ValueError:
        raise Misconfigured(f"REFUND_BENCH_SEED={said!r}: set a whole number") from None


def open_model(name: str, environment: Mapping[str, str]) -> Model:
    """The model of that provider, configured from the environment.

    Raises:
        Misconfigured: no such provider, or one that cannot be used as configured.
    """
    if name == OFFLINE:
        return OfflineRules(disagreement=_rate(environment), seed=_seed(environment))
    if key := _NOT_BUILT.get(name):
        raise Misconfigured(
            f"provider {name!r} has no adapter in this build ({key} would not help yet); "
            f"set REFUND_BENCH_PROVIDER={OFFLINE} to run on the labelled stand-in"
        )
    raise Misconfigured(
        f"provider {name!r} is not known; set REFUND_BENCH_PROVIDER to {OFFLINE}, anthropic or openai"
    )
