"""A lane of topics for each test."""

import pytest

from tests.integration.async_stage.harness import Lane
from tests.support.kafka import Topics


@pytest.fixture
def lane(topics: Topics) -> Lane:
    return Lane(topics)
