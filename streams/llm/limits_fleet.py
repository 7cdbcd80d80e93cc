"""Which part of the organisation's limit one process of the fleet may use.

Nothing is shared between processes at run time, so each keeps to a fixed part: its stages' part of a
dispute's calls, divided by how many instances those stages have. The parts of a fleet that runs as
REFUND_BENCH_LLM_INSTANCES says add up to the whole; the part of an instance that is down lies idle.
"""

from collections.abc import Collection, Mapping
from typing import Final

from streams.llm.port import Misconfigured

VARIABLE: Final = "REFUND_BENCH_LLM_INSTANCES"
TYPICAL_GRIEVANCES: Final = 4
"""A seat's calls for each call of extraction or letters."""


def share_of(
    mine: Collection[str], callers: Collection[str], instances: Mapping[str, int]
) -> float:
    """The part of one process, above 0 and at most 1.

    Args:
        mine: the stages this process runs that call the provider, as `extraction`, `judge-2`, `letters`.
        callers: every stage of the installation that does; holds `mine`.
        instances: how many processes run each of them.
    """
    whole = sum(map(_calls, callers))
    return sum(_calls(stage) / instances[stage] for stage in mine) / whole


def read_instances(environment: Mapping[str, str], callers: Collection[str]) -> dict[str, int]:
    """How many processes run each stage: one number for all of them, or `judge-1=3,letters=2`.

    A stage that is not named has one.

    Raises:
        Misconfigured: not a number from 1, or a stage that nobody knows.
    """
    said = environment.get(VARIABLE, "").strip()
    if not said:
        return dict.fromkeys(callers, 1)
    if "=" not in said:
        return dict.fromkeys(callers, _number(said, said))
    found = dict.fromkeys(callers, 1)
    for part in said.split(","):
        stage, _, number = part.strip().partition("=")
        if not _is_stage(stage):
            raise Misconfigured(
                f"{VARIABLE}={said!r}: there is no stage {stage!r} that calls a model; "
                "name extraction, judge-1, judge-2 …, letters"
            )
        counted = _number(number, said)
        if stage in found:  # one that calls another provider is no part of this share
            found[stage] = counted
    return found


def _calls(stage: str) -> int:
    return TYPICAL_GRIEVANCES if stage.startswith("judge") else 1


def _is_stage(name: str) -> bool:
    kind, _, seat = name.partition("-")
    return name in ("extraction", "letters") or (kind == "judge" and seat.isdigit())


def _number(text: str, said: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) >= 1):
        raise Misconfigured(
            f"{VARIABLE}={said!r}: set a whole number from 1, or one per stage as judge-1=3,letters=2"
        )
    return int(text)
