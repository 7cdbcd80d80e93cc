"""A lane of topics for each test, and processes that do not outlive it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ops.chaos.stage_fleet import Fleet
from tests.integration.async_stage.harness import Lane
from tests.support.kafka import Topics


@pytest.fixture
def lane(topics: Topics) -> Lane:
    return Lane(topics)


@pytest.fixture
def fleet(lane: Lane, tmp_path: Path) -> Iterator[Callable[..., Fleet]]:
    made: list[Fleet] = []

    def make(**changes: Any) -> Fleet:
        fleet = Fleet(
            bootstrap=lane.bootstrap,
            input=lane.input,
            output=lane.output,
            dead=lane.dead,
            prefix=lane.topics.prefix,
            folder=tmp_path,
            **changes,
        )
        made.append(fleet)
        return fleet

    yield make
    for each in made:
        each.end()
