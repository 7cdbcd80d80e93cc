"""Settings that need no environment."""

from pathlib import Path

import pytest

from topologies.settings import Settings

INSTALLATION_KEY = "a test's installation key"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_environment(
        {
            "REFUND_BENCH_INSTALLATION_KEY": INSTALLATION_KEY,
            "REFUND_BENCH_PROVIDER": "offline-rules",
            "REFUND_BENCH_STATE_DIR": str(tmp_path),
            "REFUND_BENCH_REPLICATION": "1",
        }
    )
