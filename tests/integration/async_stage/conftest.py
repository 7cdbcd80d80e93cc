"""A lane of topics for each test, and processes that do not outlive it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.async_stage.harness import Lane
from tests.integration.async_stage.processes import Fleet
from tests.support.kafka import Topics


@pytest.fixture
def lane(topics: Topics) -> Lane:
    return Lane(topics)


@pytest.fixture
def fleet(lane: Lane, tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    made: list[Fleet] = []

    def make(**changes: Any) -> Fleet:
        fleet = Fleet(lane, tmp_path, **changes)
        made.append(fleet)
        return fleet

    yield make
    for each in made:
        each.end()
