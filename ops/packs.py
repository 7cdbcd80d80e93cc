"""The policy packs, for commands that need no other setting."""

import os

from streams.policies.loader import PackRegistry
from topologies.settings import Settings


def load_packs() -> PackRegistry:
    """Every pack the apps would load: those shipped and those of REFUND_BENCH_PACKS.

    Raises:
        PackError: a pack that cannot be used.
    """
    # Checking a file takes no secret; the settings ask for one because every app needs it.
    stand_in = {"REFUND_BENCH_INSTALLATION_KEY": "not used to read packs"}
    return Settings.from_environment({**os.environ, **stand_in}).packs()
