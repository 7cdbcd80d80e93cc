"""The broker goes away under load and comes back: no message lost, no call paid again."""

import time
from collections.abc import Callable, Iterator

import pytest

from ops.chaos.stage_fleet import Fleet
from ops.local.kafka import LocalKafka
from tests.integration.async_stage.harness import Lane, exactly_once, running, start
from tests.integration.async_stage.test_faults import Echo
from tests.support.kafka import Topics
from tests.support.wait import until
from topologies.async_stage import AsyncStage

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def own_broker(kafka: LocalKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalKafka]:
    """One that may be stopped; `kafka` is asked for only to skip or fail like the others."""
    with LocalKafka(tmp_path_factory.mktemp("own-kafka")) as broker:
        yield broker


@pytest.fixture
def lane(own_broker: LocalKafka) -> Lane:
    return Lane(Topics(own_broker.bootstrap))


def under_load(lane: Lane, fleet: Fleet, outage: Callable[[], None], messages: int) -> None:
    sent = lane.send(range(messages))
    process = fleet.start(0)
    fleet.until_calls(messages // 4)
    outage()
    reader = lane.reader()
    reader.until(messages, timeout_s=90)
    exactly_once(sent, reader.to_the_end())
    assert process.poll() is None, "the same process went through it"
    assert fleet.repeated() == 0
    assert fleet.terminate(0) == 0


@pytest.mark.parametrize("how", ["stop", pytest.param("kill", marks=pytest.mark.long)])
def test_a_broker_restarted_under_load(
    lane: Lane, fleet: Callable[..., Fleet], own_broker: LocalKafka, how: str
) -> None:
    def outage() -> None:
        getattr(own_broker, how)()
        own_broker.start()

    under_load(lane, fleet(seconds=(0.3, 0.6)), outage, messages=120)


@pytest.mark.long
def test_a_coordinator_away_for_longer_than_a_transaction_may_take(
    lane: Lane, fleet: Callable[..., Fleet], own_broker: LocalKafka
) -> None:
    """20 s: the transaction has timed out and so has our membership, and we are still alone."""
    it = fleet(seconds=(0.3, 0.6))

    def outage() -> None:
        own_broker.stop()
        away(20)
        own_broker.start()

    under_load(lane, it, outage, messages=400)


@pytest.mark.long
def test_sigterm_while_kafka_is_away_says_by_its_exit_code_whether_work_waits(
    lane: Lane, own_broker: LocalKafka
) -> None:
    """What is done and cannot be committed: 3, and done again at the next start. Nothing: 0."""
    sent = lane.send(range(40))
    held = Echo(lane, held=set(range(20)))
    busy = AsyncStage("busy", lane.input, held, lane.settings(grace_s=1.0))
    idle = AsyncStage("idle", lane.dead, held, lane.settings(grace_s=1.0))
    reader = lane.reader()
    working, resting = start(busy), start(idle)
    reader.until(20)
    until(lambda: idle.metrics.partitions == lane.partitions)
    until(lambda: busy.metrics.in_flight == 20)
    own_broker.stop()
    held.let_go = True
    until(lambda: busy.metrics.in_flight == 0)
    working.stop()
    resting.stop()
    assert (working.exit_codes, resting.exit_codes) == ([3], [0])
    own_broker.start()
    again = Echo(lane)
    with running(AsyncStage("busy", lane.input, again, lane.settings())):
        reader.until(40)
    exactly_once(sent, reader.to_the_end())
    exactly_once(sent[:20], again.calls)


def away(seconds: float) -> None:
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() > end, seconds + 5)
