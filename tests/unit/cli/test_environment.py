"""Where a second terminal finds the stack that `up` runs."""

import os
import subprocess
import sys

import pytest

from ops.local.environment import (
    clear_local_environment,
    load_local_environment,
    local_file,
    write_local_environment,
)

VALUES = {
    "REFUND_BENCH_BROKER": "127.0.0.1:39000",
    "REFUND_BENCH_INSTALLATION_KEY": "the local installation's key",
    "HOME": "/elsewhere",
}


@pytest.fixture
def environment() -> dict[str, str]:
    return {"XDG_STATE_HOME": os.environ["XDG_STATE_HOME"]}


def test_what_is_missing_is_filled_in(environment: dict[str, str]) -> None:
    write_local_environment(VALUES)
    filled = load_local_environment(environment)
    assert set(filled) == {"REFUND_BENCH_BROKER", "REFUND_BENCH_INSTALLATION_KEY"}
    assert environment["REFUND_BENCH_BROKER"] == "127.0.0.1:39000"
    assert "HOME" not in environment


def test_what_is_set_stays(environment: dict[str, str]) -> None:
    write_local_environment(VALUES)
    environment["REFUND_BENCH_INSTALLATION_KEY"] = "mine"
    load_local_environment(environment)
    assert environment["REFUND_BENCH_INSTALLATION_KEY"] == "mine"


def test_another_broker_gets_nothing_of_the_local_one(environment: dict[str, str]) -> None:
    write_local_environment(VALUES)
    environment["REFUND_BENCH_BROKER"] = "kafka:9092"
    assert load_local_environment(environment) == {}
    assert "REFUND_BENCH_INSTALLATION_KEY" not in environment


def test_a_stack_that_is_gone_is_not_offered(environment: dict[str, str]) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    write_local_environment(VALUES, pid=gone.pid)
    assert load_local_environment(environment) == {}


def test_only_its_user_can_read_the_file_and_only_its_writer_takes_it_away() -> None:
    file = write_local_environment(VALUES)
    assert file == local_file()
    assert file.stat().st_mode & 0o777 == 0o600
    clear_local_environment(pid=os.getpid() + 1)
    assert file.exists()
    clear_local_environment()
    assert not file.exists()
    clear_local_environment()


@pytest.mark.parametrize("held", ["", "{", "[]", '{"pid": "x", "environment": {}}', '{"pid": 1}'])
def test_a_file_that_makes_no_sense_is_no_file(environment: dict[str, str], held: str) -> None:
    file = write_local_environment(VALUES)
    file.write_text(held)
    assert load_local_environment(environment) == {}
