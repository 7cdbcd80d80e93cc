"""What a provider lets the organisation do, and how much of it one process may use.

The limits are the organisation's, one table per provider in the file that REFUND_BENCH_LLM_LIMITS
names:

    [anthropic]
    requests_per_minute = 3000
    tokens_per_minute = 2000000
    concurrency = 200
    spend_per_day_usd = 500
    spend_per_dispute_usd = 10

What is left out keeps its default.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, ValidationError

from schemas.base import Model as Value
from streams.llm import catalogue
from streams.llm.port import Misconfigured
from streams.llm.spend import SpendLimits

VARIABLE: Final = "REFUND_BENCH_LLM_LIMITS"
_MICROS = 1_000_000

_Whole = Annotated[int, Field(strict=True, ge=1)]
_Dollars = Annotated[Decimal, Field(gt=0, le=1_000_000, allow_inf_nan=False)]


@dataclass(frozen=True)
class Limits:
    """One process's part."""

    requests_per_minute: float
    tokens_per_minute: float | None
    concurrency: int
    spend: SpendLimits


class OrganisationLimits(Value):
    """One provider's limits for everything that uses its account."""

    model_config = ConfigDict(extra="forbid")

    requests_per_minute: _Whole = 3_000
    """The design's peak is 2,800."""
    tokens_per_minute: _Whole | None = None
    """Input and output; None leaves it to the provider's own 429s."""
    concurrency: _Whole = 200
    """The ceiling of calls at the same time; the gate finds out how many of them are right."""
    spend_per_day_usd: _Dollars | None = None
    """Of a UTC day."""
    spend_per_dispute_usd: _Dollars | None = Decimal(10)

    def of_process(self, share: float) -> Limits:
        """The part of a process that does that share of the calls.

        A dispute's limit is divided by what its calls are for (`spend_shares`), not by process.

        Raises:
            Misconfigured: there are fewer calls at a time than processes to share them.
        """
        concurrency = int(self.concurrency * share + 1e-9)
        if concurrency < 1:
            raise Misconfigured(
                f"concurrency = {self.concurrency} leaves this process, which has {share:.1%} of the calls, "
                f"less than one: raise it in {VARIABLE} or lower REFUND_BENCH_LLM_INSTANCES"
            )
        tokens = self.tokens_per_minute
        per_day = _micros(self.spend_per_day_usd)
        return Limits(
            requests_per_minute=self.requests_per_minute * share,
            tokens_per_minute=None if tokens is None else tokens * share,
            concurrency=concurrency,
            spend=SpendLimits(
                day_micros=None if per_day is None else int(per_day * share),
                dispute_micros=_micros(self.spend_per_dispute_usd),
            ),
        )


def read_limits(
    provider: str, environment: Mapping[str, str], defaults: OrganisationLimits
) -> OrganisationLimits:
    """The provider's limits from the file, on top of the defaults.

    Raises:
        Misconfigured: the file cannot be read or says something impossible; names file and field.
    """
    name = environment.get(VARIABLE)
    if not name:
        return defaults
    try:
        tables = tomllib.loads(Path(name).read_text("utf-8"), parse_float=Decimal)
    except (OSError, ValueError) as error:
        raise Misconfigured(f"{VARIABLE}={name} cannot be read as TOML: {error}") from error
    for name_of_table in sorted(set(tables) - set(catalogue.load(environment).providers)):
        raise Misconfigured(
            f"{VARIABLE}={name}: [{name_of_table}] is no provider; a misspelt limit would be none"
        )
    table = tables.get(provider, {})
    if not isinstance(table, dict):
        raise Misconfigured(f"{VARIABLE}={name}: write the limits of {provider} as [{provider}]")
    return _checked(name, provider, {**defaults.model_dump(), **table})


def _checked(file: str, provider: str, values: dict[str, Any]) -> OrganisationLimits:
    try:
        return OrganisationLimits(**values)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        known = ", ".join(OrganisationLimits.model_fields)
        raise Misconfigured(
            f"{VARIABLE}={file}: [{provider}] {field}: {fault['msg']} (fields: {known})"
        ) from None


def _micros(dollars: Decimal | None) -> int | None:
    return None if dollars is None else int(dollars * _MICROS)
