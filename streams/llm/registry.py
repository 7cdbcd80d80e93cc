"""From the name of a provider and a model to a model behind the port. Never a stand-in unasked."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from streams.llm import catalogue
from streams.llm.anthropic_messages import AnthropicMessages
from streams.llm.catalogue import Provider
from streams.llm.gate import Gate
from streams.llm.gate_transport import GatedTransport
from streams.llm.lead import LeadingTransport
from streams.llm.meter import NotingTransport
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.openai_chat import OpenAIChat
from streams.llm.port import Misconfigured, Model, Overloaded, ProviderDown
from streams.llm.remote import RemoteModel
from streams.llm.wire import Access, Transport

OFFLINE = "offline-rules"
CACHING = ("policy", "snapshot", "lead", "off")
"""Where a prompt-cache breakpoint stands: behind the prompt; behind the snapshot too; the same with one
call leading those that share a snapshot. The first is the default."""


def open_model(
    provider: str,
    environment: Mapping[str, str],
    model: str = "default",
    sampling: Mapping[str, Any] | None = None,
    gate_of: Callable[[str], Gate] | None = None,
) -> Model:
    """The model of that provider, configured from the environment. Opens no connection.

    Args:
        gate_of: the gate of a provider in this process; without it nothing holds a call back, which
            is for checks and tests.
        model: `default` is the one REFUND_BENCH_MODEL names, else the provider's default.
        sampling: passed through to servers that accept it.

    Raises:
        Misconfigured: no such provider or model, or one that cannot be used as configured.
    """
    if provider == OFFLINE:
        return OfflineRules(disagreement=_rate(environment), seed=_seed(environment))
    known = catalogue.load(environment)
    spec = known.provider(provider)
    chosen = environment.get("REFUND_BENCH_MODEL", "") if model == "default" else model
    if chosen and model == "default" and provider != environment.get("REFUND_BENCH_PROVIDER"):
        chosen = ""  # it names a model of the operator's own provider, not of a seat's other one
    name, facts = known.model(provider, chosen or "default")
    if sampling and not facts.sampling:
        raise Misconfigured(
            f"model {name!r} refuses {', '.join(sorted(sampling))}; leave `sampling` out of its seat"
        )
    access = _access(provider, name, spec, environment)
    caching = _choice(environment, "REFUND_BENCH_LLM_CACHE", CACHING)
    extra = dict(sampling or {})
    transport: Transport
    if spec.dialect == "anthropic":
        transport = AnthropicMessages(access, facts, extra, caching)
    else:
        transport = OpenAIChat(access, facts, extra, spec)
    transport = NotingTransport(transport)
    if gate_of is not None:
        transport = GatedTransport(transport, gate_of(provider), facts)
    if caching == "lead":
        transport = LeadingTransport(transport)
    return RemoteModel(transport, access, facts)


def check_models(models: Iterable[Model]) -> list[str]:
    """Ask each provider whether key and model are good; what could not be asked is returned in words.

    Raises:
        Misconfigured: one of them is not.
    """

    async def check_all() -> list[str]:
        doubts: list[str] = []
        for model in models:
            if isinstance(model, RemoteModel):
                try:
                    await model.check()
                except (ProviderDown, Overloaded) as away:
                    doubts.append(f"{model.provider}/{model.model}: {away}")
        return doubts

    return asyncio.run(check_all())


def _access(provider: str, model: str, spec: Provider, environment: Mapping[str, str]) -> Access:
    base_url = (environment.get(spec.base_url_setting or "", "") or spec.base_url).strip()
    host = _host(base_url)
    if host is None:
        raise Misconfigured(
            f"{spec.base_url_setting or f'providers.{provider}.base_url'}: set an http or https address "
            "without a user, a password or a query; a key belongs into its own variable"
        )
    return Access(
        provider=provider,
        model=model,
        base_url=base_url,
        key=_key(provider, spec, environment),
        key_setting=spec.key,
        timeout_s=call_timeout_s(environment),
        is_real=host in spec.real_hosts,
    )


def _host(base_url: str) -> str | None:
    """The host of an address that errors and logs may show; None where it is none, or holds a secret."""
    try:
        parts = urlsplit(base_url)
        port_is_one = parts.port is None or parts.port > 0
    except ValueError:
        return None
    plain = not (parts.username or parts.password or parts.query or parts.fragment)
    fine = parts.scheme in ("http", "https") and port_is_one and not any(map(str.isspace, base_url))
    return parts.hostname if fine and plain else None


def _key(provider: str, spec: Provider, environment: Mapping[str, str]) -> str:
    if not spec.key:
        return ""
    key = environment.get(spec.key, "").strip()
    if not key:
        raise Misconfigured(
            f"{spec.key} is not set; provider {provider!r} needs it. REFUND_BENCH_PROVIDER={OFFLINE} "
            "runs on the labelled stand-in instead"
        )
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Misconfigured(f"{spec.key} holds characters that no key has; set it again")
    return key


def call_timeout_s(environment: Mapping[str, str]) -> float:
    """Seconds that one call may take.

    Raises:
        Misconfigured: the setting is not a number above 0.
    """
    said = environment.get("REFUND_BENCH_LLM_TIMEOUT_S", "") or "30"
    try:
        seconds = float(said)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 600:
        raise Misconfigured(
            f"REFUND_BENCH_LLM_TIMEOUT_S={said!r}: set seconds above 0, at most 600"
        )
    return seconds


def _choice(environment: Mapping[str, str], name: str, choices: tuple[str, ...]) -> str:
    said = environment.get(name, "") or choices[0]
    if said not in choices:
        raise Misconfigured(f"{name}={said!r}: set {', '.join(choices)}")
    return said


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
