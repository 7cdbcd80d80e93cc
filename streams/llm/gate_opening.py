"""A gate from the environment: limits, this process's part of them, and its spend book."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path

from streams.llm.gate import Gate
from streams.llm.limits import OrganisationLimits, read_limits
from streams.llm.limits_fleet import read_instances, share_of
from streams.llm.spend import SpendBook


def open_gate(
    provider: str,
    environment: Mapping[str, str],
    state_dir: Path,
    *,
    stages: Collection[str],
    callers: Collection[str],
    now: Callable[[], datetime],
    timeout_s: float,
    defaults: OrganisationLimits | None = None,
) -> Gate:
    """The one gate of a provider in this process; every transport to it must share it.

    Args:
        stages: the stages of this process that call the provider: `extraction`, `judge-2`, `letters`.
        callers: every stage of the installation that does.
        now: the wall clock.
        timeout_s: of one call, once it is made; the message's deadline is its stage's.
        defaults: the limits of an organisation whose file says nothing.

    Raises:
        Misconfigured: a setting is wrong, or the spend book cannot be used; names what to set.
    """
    limits = read_limits(provider, environment, defaults or OrganisationLimits())
    instances = read_instances(environment, callers)
    part = limits.of_process(share_of(stages, callers, instances))
    instance = environment.get("REFUND_BENCH_ORDINAL") or "0"
    file = state_dir / "llm-spend" / f"{provider}.{'+'.join(sorted(stages))}.{instance}.sqlite"
    return Gate(part, SpendBook(file, part.spend), now, timeout_s)
