"""Which providers and models there are, what they cost, and how each wants to be asked."""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from schemas.base import Id
from schemas.docket import Usage
from streams.llm.port import Misconfigured

SHIPPED = Path(__file__).with_name("catalogue.toml")
SETTING = "REFUND_BENCH_MODELS"
Price = Annotated[float, Field(strict=True, ge=0, le=10_000, allow_inf_nan=False)]
Variable = Annotated[str, Field(pattern=r"^([A-Z][A-Z0-9_]*)?$")]
"""The name of an environment variable. A key written here in its place is refused, and not repeated."""
RESERVED = ("default", "offline-rules")
"""What settings call the operator's choice and the stand-in; no provider can have the name."""


class Part(BaseModel):
    """Unknown keys are refused: a misspelt price must not be a missing one."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Provider(Part):
    """Where a provider is and which of the two APIs it speaks."""

    dialect: Literal["anthropic", "openai"]
    key: Variable = ""
    """The environment variable that holds the key; empty for a server that wants none."""
    base_url: str
    base_url_setting: Variable | None = None
    """The environment variable that moves it."""
    real_hosts: tuple[str, ...] = ()
    """Hosts whose rulings are not marked `simulated`. A server of your own is real once it is listed."""
    default_model: Id
    answer_format: Literal["json_schema", "json_object", "none"] = "json_schema"
    max_tokens_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"


class ModelFacts(Part):
    """One model: its provider, and its prices in US dollars per million tokens."""

    provider: Id
    input: Price
    output: Price
    cache_write: Price
    cache_read: Price
    effort: Literal["low", "medium", "high"] | None = None
    """How hard it is told to think; None leaves it to the provider."""
    sampling: bool = False
    """Whether it accepts temperature and its like. Those that refuse them get none."""

    def cost_micros(self, usage: Usage) -> int:
        """What the tokens cost in millionths of a dollar, rounded up."""
        fresh = usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens
        micros = (
            fresh * self.input
            + usage.cache_read_tokens * self.cache_read
            + usage.cache_write_tokens * self.cache_write
            + usage.output_tokens * self.output
        )
        return -int(-micros // 1)


class Catalogue(Part):
    providers: dict[Id, Provider] = {}
    models: dict[Id, ModelFacts] = {}

    def provider(self, name: str) -> Provider:
        """The provider of that name.

        Raises:
            Misconfigured: there is none.
        """
        if name not in self.providers:
            raise Misconfigured(
                f"provider {name!r} is not known; set REFUND_BENCH_PROVIDER, or the seat's provider, to "
                f"{', '.join(sorted(self.providers))} or offline-rules, or add yours to the file that "
                f"{SETTING} names"
            )
        return self.providers[name]

    def model(self, provider: str, name: str) -> tuple[str, ModelFacts]:
        """The model's full name and facts; `default` is the provider's own default.

        Raises:
            Misconfigured: not known, or another provider's.
        """
        wanted = self.provider(provider).default_model if name == "default" else name
        facts = self.models.get(wanted)
        if facts is None or facts.provider != provider:
            mine = sorted(n for n, f in self.models.items() if f.provider == provider)
            raise Misconfigured(
                f"model {wanted!r} of provider {provider!r} has no price; priced are "
                f"{', '.join(mine) or 'none'}. Add it to the file that {SETTING} names"
            )
        return wanted, facts


def load(environment: Mapping[str, str] = os.environ) -> Catalogue:
    """The shipped catalogue with the operator's entries over it.

    Raises:
        Misconfigured: a file that cannot be read or used; names the file and the field.
    """
    catalogue = _read(SHIPPED)
    if own := environment.get(SETTING):
        added = _read(Path(own))
        catalogue = Catalogue(
            providers={**catalogue.providers, **added.providers},
            models={**catalogue.models, **added.models},
        )
    for name in sorted(set(RESERVED) & set(catalogue.providers)):
        raise Misconfigured(f"{SETTING}: providers.{name}: is taken; name the provider otherwise")
    for facts in catalogue.models.values():
        catalogue.provider(facts.provider)
    return catalogue


def _read(file: Path) -> Catalogue:
    try:
        return Catalogue.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Misconfigured(f"{SETTING}: {file}: cannot be read: {error}") from None
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors()
        )
        raise Misconfigured(f"{SETTING}: {file}: {faults}") from None
