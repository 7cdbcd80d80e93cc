"""Fixtures every kind of test may use."""

import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

from ops.local.errors import DependencyMissing
from ops.local.kafka import LocalKafka
from ops.logs import OURS
from tests.support.kafka import Topics, kafka_is_required

# A neighbour on the same cores must not fail a test: none of them is about time.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")


ROOT = Path(__file__).parents[1]
WHOLE_STACKS, ON_KAFKA = "the whole stack", "on Kafka"


@cache
def lane(file: str) -> str:
    """Which tests follow one another in one process: two whole stacks, or two stages that are timed, would
    starve each other on two cores. What starts no broker goes file by file to whoever is free."""
    text = (ROOT / file).read_text(encoding="utf-8")
    if "LocalStack(" in text:
        return WHOLE_STACKS
    return ON_KAFKA if "mark.kafka" in text else file


class Lanes(LoadFileScheduling):
    """How the workers of `make test` share the tests. (xdist's own groups are no help: they are told
    apart by ids that pytest 9.2 does not let it write.)"""

    def _split_scope(self, nodeid: str) -> str:
        return lane(nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Lanes:
    return Lanes(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Among workers the longest lanes begin first; in one process alone, the quick tests do."""
    if hasattr(config, "workerinput"):
        first = [WHOLE_STACKS, ON_KAFKA]
        items.sort(key=lambda item: lane(item.nodeid.partition("::")[0]) not in first)


LEFT_OUT = pytest.StashKey[int]()


def pytest_deselected(items: list[pytest.Item]) -> None:
    """A worker counts what `-m` leaves out for the process that prints the summary and collects nothing."""
    told = getattr(items[0].config, "workeroutput", None) if items else None
    if told is not None:
        told["left_out"] = told.get("left_out", 0) + len(items)


def pytest_testnodedown(node: Any) -> None:
    # Every worker collects everything, so that one's number is all of them's.
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"{left_out} deselected by -m")


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """What a command sets up for its process is none of the next test's business."""
    kept, levels = logging.root.handlers[:], {name: logging.getLogger(name).level for name in OURS}
    yield
    logging.root.handlers[:] = kept
    for name, level in levels.items():
        logging.getLogger(name).setLevel(level)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKafka]:
    """Apache Kafka for the whole session: started by the first test that asks.

    Leave it running. A test that wants to stop or kill a broker starts one of its own.
    """
    broker = LocalKafka(tmp_path_factory.mktemp("kafka"))
    try:
        broker.start()
    except DependencyMissing as missing:
        if kafka_is_required():
            pytest.fail(f"REQUIRE_KAFKA=1: {missing}", pytrace=False)
        pytest.skip(f"no Apache Kafka: {missing}")
    yield broker
    broker.stop()


@pytest.fixture
def topics(kafka: LocalKafka) -> Iterator[Topics]:
    """Topics of this test's own, deleted after it."""
    mine = Topics(kafka.bootstrap)
    yield mine
    mine.delete()
