"""A command line cut off from whatever runs on this machine."""

from pathlib import Path

import pytest

from tests.unit.cli.calling import Cli

KEY = "an installation key for tests"


@pytest.fixture(autouse=True)
def _own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.startswith("REFUND_BENCH_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("REFUND_BENCH_BROKER", "127.0.0.1:1")
    monkeypatch.setenv("REFUND_BENCH_INSTALLATION_KEY", KEY)


@pytest.fixture
def cli() -> Cli:
    return Cli()
