"""Settings of every app, from `REFUND_BENCH_*` in the environment."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from streams.policies.loader import SHIPPED, PackRegistry


class SettingsError(ValueError):
    """A setting is missing or wrong; the message names it and says what to do."""


@dataclass(frozen=True)
class Settings:
    """What an app needs to know beside the broker (see `topologies.clients`)."""

    installation_key: bytes
    """Keys the ids that involve a text, and the encryption of dead letters."""
    provider: str
    """`offline-rules`, `anthropic`, `openai`: what a seat of provider `default` is. Never chosen for you."""
    gateway_url: str
    gateway_kind: str
    """`http` or `stripe` for a real one; `embedded` for the stand-in, the only kind that takes simulated
    rulings."""
    state_dir: Path
    pack_roots: tuple[Path, ...]
    replication: int

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> "Settings":
        """Read the settings.

        Raises:
            SettingsError: `REFUND_BENCH_INSTALLATION_KEY` is missing or short.
        """
        key = environment.get("REFUND_BENCH_INSTALLATION_KEY", "")
        if len(key) < 16:
            raise SettingsError(
                "REFUND_BENCH_INSTALLATION_KEY is missing or shorter than 16 characters; set one secret for the whole "
                "installation and keep it: dispute ids depend on it"
            )
        extra = environment.get("REFUND_BENCH_PACKS", "")
        return cls(
            installation_key=key.encode(),
            provider=environment.get("REFUND_BENCH_PROVIDER", ""),
            gateway_url=environment.get("REFUND_BENCH_GATEWAY", "http://127.0.0.1:8181"),
            gateway_kind=environment.get("REFUND_BENCH_GATEWAY_KIND", "http"),
            state_dir=Path(environment.get("REFUND_BENCH_STATE_DIR", ".refund-bench/state")),
            pack_roots=(SHIPPED, *(Path(root) for root in extra.split(os.pathsep) if root)),
            replication=int(environment.get("REFUND_BENCH_REPLICATION", "3")),
        )

    def packs(self) -> PackRegistry:
        """Every policy pack, built in and added."""
        return _load(self.pack_roots)


@cache
def _load(roots: tuple[Path, ...]) -> PackRegistry:
    """Once a process: several stages share one, and a pack that has been used never changes."""
    return PackRegistry.load(*roots)
