"""Everything Kafka and a handler can do to a running stage, one test each."""

import asyncio
import logging
import threading
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.integration.async_stage.harness import Lane, exactly_once, running, start
from tests.support.wait import until
from topologies import clients
from topologies.async_stage import AsyncStage, Message, Output
from topologies.async_stage.membership import read
from topologies.async_stage.offset_codec import decode

pytestmark = pytest.mark.kafka


class Echo:
    """A handler that copies, counts, and can be held back by key."""

    def __init__(self, lane: Lane, held: set[int] | None = None, seconds: float = 0.0) -> None:
        self.seconds = seconds
        self.lane = lane
        self.held = held or set()
        self.calls: list[bytes] = []
        self.let_go = False

    async def __call__(self, message: Message) -> list[Output]:
        key = message.key or b""
        self.calls.append(key)
        await asyncio.sleep(self.seconds)
        while int(key) in self.held and not self.let_go:
            await asyncio.sleep(0.02)
        return [Output(self.lane.output, key, message.value)]


class WatchedStage(AsyncStage):
    """A stage whose clients a test can reach, and whose producer a test can replace."""

    producer_class: Any = Producer
    extra: dict[str, Any] = {}

    def make_consumer(self) -> Consumer:
        self.consumer = super().make_consumer()
        return self.consumer

    def make_producer(self) -> Producer:
        config = clients.transactional_producer_config(
            self.group, self.ordinal, self.settings.bootstrap
        )
        return self.producer_class({**config, **self.extra})


# A message that is stuck


def test_a_stuck_message_fills_its_span_then_its_partition_pauses_and_no_other(lane: Lane) -> None:
    sent = lane.send([0], partition=0)
    sent += lane.send(range(1, 600), partition=0)
    sent += lane.send(range(1_000, 1_600), partition=1)
    echo = Echo(lane, held={0})
    stage = AsyncStage("stuck", lane.input, echo, lane.settings(span=200, slots=20, grace_s=0.1))
    reader = lane.reader()
    with running(stage):
        reader.until(199 + 600)
        until(lambda: stage.metrics.snapshot()["paused"] == {"0": 1, "1": 0, "2": 0, "3": 0})
        assert stage.metrics.span["0"] == 200
        sent += lane.send(range(2_000, 2_100), partition=1)
        reader.until(199 + 600 + 100)
        assert len(reader.to_the_end()) == 199 + 600 + 100
    offset, metadata = lane.committed(stage.group)[0]
    assert offset == 0
    assert decode(offset, metadata).finished_above() == list(range(1, 200))

    # A restart in that state: the stuck one is called again, nothing that was done is.
    again = Echo(lane, held={0})
    stage = AsyncStage("stuck", lane.input, again, lane.settings(span=200, slots=20, grace_s=0.1))
    with running(stage):
        until(lambda: stage.metrics.snapshot()["paused"].get("0") == 1)
        assert again.calls == [b"0"]
        assert stage.metrics.skipped_done == 199
        again.let_go = True
        reader.until(len(sent))
    exactly_once(sent, reader.to_the_end())


# What the log may do


def test_gaps_from_transaction_markers_and_aborted_records(lane: Lane) -> None:
    producer = clients.transactional_producer(lane.topics.group("upstream"), 0, lane.bootstrap)
    producer.init_transactions(30)
    sent = []
    for number in range(60):
        producer.begin_transaction()
        producer.produce(lane.input, key=str(number), value=b"", partition=number % 2)
        if number % 3 == 0:
            producer.flush(30)
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
            sent.append(str(number).encode())
    first = sent[0]
    echo = Echo(lane, held={int(first)})
    stage = AsyncStage("gaps", lane.input, echo, lane.settings(grace_s=0.1))
    reader = lane.reader()
    with running(stage):
        reader.until(len(sent) - 1)
    again = Echo(lane)
    stage = AsyncStage("gaps", lane.input, again, lane.settings())
    with running(stage):
        reader.until(len(sent))
    assert again.calls == [first]
    exactly_once(sent, reader.to_the_end())


def test_records_removed_above_the_committed_offset(lane: Lane) -> None:
    lane.send(range(20), partition=0)
    stage = AsyncStage("reset", lane.input, Echo(lane), lane.settings())
    reader = lane.reader()
    with running(stage):
        reader.until(20)
    lane.send(range(20, 40), partition=0)
    admin = clients.admin(lane.bootstrap)
    (done,) = admin.delete_records([TopicPartition(lane.input, 0, 30)]).values()
    done.result(15)
    echo = Echo(lane)
    stage = AsyncStage("reset", lane.input, echo, lane.settings())
    with running(stage):
        reader.until(30)
    assert sorted(map(int, echo.calls)) == list(range(30, 40))
    until(lambda: lane.committed(stage.group)[0] == (40, ""))


def test_a_log_that_begins_anew_below_the_committed_offset(
    lane: Lane, caplog: pytest.LogCaptureFixture
) -> None:
    """As after a topic was deleted and made again: the new messages are not the old ones."""
    consumer = clients.consumer(lane.topics.prefix + "anew", bootstrap=lane.bootstrap)
    consumer.commit(offsets=[TopicPartition(lane.input, 0, 500)], asynchronous=False)
    consumer.close()
    sent = lane.send(range(10), partition=0)
    stage = AsyncStage("anew", lane.input, Echo(lane), lane.settings())
    reader = lane.reader()
    with running(stage):
        reader.until(10)
        assert stage.metrics.rewinds == 1
    exactly_once(sent, reader.to_the_end())
    assert lane.committed(stage.group)[0][0] == 10


def test_foreign_or_corrupt_metadata_counts_as_none(
    lane: Lane, caplog: pytest.LogCaptureFixture
) -> None:
    strange = ["somebody else's", "rb1:AAAAAAAAAAAA", "rb1:", "rb9:AA=="]
    consumer = clients.consumer(lane.topics.prefix + "foreign", bootstrap=lane.bootstrap)
    wanted = []
    for partition, metadata in enumerate(strange):
        sent = lane.send(range(10 * partition, 10 * partition + 10), partition=partition)
        wanted += sent[4:]
        place = TopicPartition(lane.input, partition, 4, metadata=metadata)
        consumer.commit(offsets=[place], asynchronous=False)
    consumer.close()
    stage = AsyncStage("foreign", lane.input, Echo(lane), lane.settings())
    reader = lane.reader()
    with caplog.at_level(logging.WARNING), running(stage):
        reader.until(len(wanted))
    exactly_once(wanted, reader.to_the_end())
    assert caplog.text.count("counts as none") == len(strange)


def test_an_offset_delivered_again_is_ignored(lane: Lane) -> None:
    sent = lane.send(range(30), partition=0)
    echo = Echo(lane, held={5})
    stage = WatchedStage("again", lane.input, echo, lane.settings())
    reader = lane.reader()
    with running(stage):
        reader.until(29)
        stage.consumer.seek(TopicPartition(lane.input, 0, 0))
        until(lambda: stage.metrics.redelivered == 30)
        echo.let_go = True
        reader.until(30)
    exactly_once(sent, reader.to_the_end())
    exactly_once(sent, echo.calls)


# What cannot be handled


def test_poison_bytes_become_a_dead_letter_and_the_rest_goes_on(lane: Lane) -> None:
    sent = lane.send(range(10))
    producer = clients.producer(lane.bootstrap)
    producer.produce(lane.input, key=b"poison", value=b"\xff\xfe\x00", partition=2)
    producer.flush(30)

    async def handler(message: Message) -> list[Output]:
        return [Output(lane.output, message.key or b"", message.value.decode().encode())]

    stage = AsyncStage("poison", lane.input, handler, lane.settings())
    reader, dead = lane.reader(), lane.reader(lane.dead)
    with running(stage):
        reader.until(10)
        dead.until(1)
    exactly_once(sent, reader.to_the_end())
    (record,) = dead.records
    headers = dict(record.headers())
    assert (record.key(), record.value()) == (b"poison", b"\xff\xfe\x00")
    assert headers["error.type"] == b"UnicodeDecodeError"
    assert headers["origin"].startswith(f"{lane.input}/2/".encode())


@pytest.mark.parametrize("where", ["above our limit", "above the topic's limit"])
def test_an_output_too_large_becomes_a_dead_letter_in_the_same_transaction(
    lane: Lane, where: str
) -> None:
    """Fifty normal ones share its batch: none of them is lost or held back."""
    (small,) = lane.topics.make("small", config={"max.message.bytes": "20000"})
    size = 3_000_000 if where == "above our limit" else 100_000
    sent = lane.send(range(50))

    async def handler(message: Message) -> list[Output]:
        key = message.key or b""
        value = b"x" * size if key == b"13" else b"fine"
        return [Output(lane.output, key, b""), Output(small, key, value)]

    extra: dict[str, Any] = {"compression.type": "none"}
    stage = WatchedStage("large", lane.input, handler, lane.settings())
    stage.extra = extra
    reader, dead, others = lane.reader(small), lane.reader(lane.dead), lane.reader()
    with running(stage):
        reader.until(49)
        dead.until(1)
    normal = [key for key in sent if key != b"13"]
    exactly_once(normal, reader.to_the_end())
    exactly_once(normal, others.to_the_end())
    (record,) = dead.records
    assert record.key() == b"13"
    assert record.value() == b"value 13"
    assert dict(record.headers())["error.type"] == b"OutputTooLarge"
    assert dict(record.headers())["origin.topic"] == lane.input.encode()


def test_a_full_producer_queue_is_waited_out(lane: Lane) -> None:
    sent = lane.send(range(40))

    async def handler(message: Message) -> list[Output]:
        key = message.key or b""
        return [Output(lane.output, key + b"-%d" % each, b"x" * 500) for each in range(50)]

    stage = WatchedStage("full", lane.input, handler, lane.settings())
    stage.extra = {"queue.buffering.max.messages": 30}
    reader = lane.reader()
    with running(stage):
        reader.until(2_000)
    wanted = [key + b"-%d" % each for key in sent for each in range(50)]
    exactly_once(wanted, reader.to_the_end())


# What a transaction may do


class LosesItsId(Producer):  # type: ignore[misc]
    """Fails for good around the third commit, as after a coordinator was away too long."""

    commits = 0
    really = True

    def commit_transaction(self, *arguments: Any) -> Any:
        type(self).commits += 1
        if type(self).commits != 3:
            return super().commit_transaction(*arguments)
        if self.really:
            super().commit_transaction(*arguments)
        raise KafkaException(KafkaError(KafkaError._FENCED, "lost", fatal=True))


@pytest.mark.parametrize("really", [True, False])
def test_an_unknown_outcome_is_looked_up_and_no_call_is_paid_again(
    lane: Lane, really: bool
) -> None:
    sent = lane.send(range(300))

    class Lossy(LosesItsId):
        commits = 0

    Lossy.really = really
    echo = Echo(lane, seconds=0.05)
    stage = WatchedStage("doubt", lane.input, echo, lane.settings(slots=10))
    stage.producer_class = Lossy
    reader = lane.reader()
    with running(stage) as run:
        reader.until(300)
        assert stage.metrics.producers_replaced == 1
    assert run.exit_codes == [0]
    exactly_once(sent, reader.to_the_end())
    exactly_once(sent, echo.calls)
    assert stage.metrics.results == 300


def test_an_aborted_transaction_keeps_its_results(lane: Lane) -> None:
    sent = lane.send(range(100))

    class Refused(Producer):  # type: ignore[misc]
        sends = 0

        def send_offsets_to_transaction(self, *arguments: Any) -> Any:
            type(self).sends += 1
            if type(self).sends in (2, 3):
                raise KafkaException(KafkaError(KafkaError.ILLEGAL_GENERATION, "not now"))
            return super().send_offsets_to_transaction(*arguments)

    echo = Echo(lane, seconds=0.05)
    stage = WatchedStage("aborts", lane.input, echo, lane.settings(slots=10))
    stage.producer_class = Refused
    reader = lane.reader()
    with running(stage):
        reader.until(100)
    exactly_once(sent, reader.to_the_end())
    exactly_once(sent, echo.calls)
    assert stage.metrics.aborts == {"ILLEGAL_GENERATION": 2}


def test_losing_the_producer_twice_in_a_short_time_ends_the_stage_as_fenced(lane: Lane) -> None:
    lane.send(range(200))

    class AlwaysLost(Producer):  # type: ignore[misc]
        def commit_transaction(self, *arguments: Any) -> Any:
            raise KafkaException(KafkaError(KafkaError._FENCED, "lost", fatal=True))

    stage = WatchedStage("twin", lane.input, Echo(lane), lane.settings())
    stage.producer_class = AlwaysLost
    run = start(stage)
    run.join()
    assert run.exit_codes == [4]


def test_a_stop_in_the_middle_of_a_rebalance_commits_after_it(lane: Lane) -> None:
    """The last commit is refused for a while: it is made again within the grace."""
    sent = lane.send(range(40))
    stopping = threading.Event()

    class Refused(Producer):  # type: ignore[misc]
        refused = 0

        def send_offsets_to_transaction(self, *arguments: Any) -> Any:
            if stopping.is_set() and self.refused < 3:
                self.refused += 1
                raise KafkaException(KafkaError(KafkaError.REBALANCE_IN_PROGRESS, "not now"))
            return super().send_offsets_to_transaction(*arguments)

    echo = Echo(lane, held=set(range(40)))
    stage = WatchedStage("stopped", lane.input, echo, lane.settings())
    stage.producer_class = Refused
    run = start(stage)
    until(lambda: len(echo.calls) == 40)
    stopping.set()
    echo.let_go = True
    run.stop()
    assert run.exit_codes == [0]
    assert stage.metrics.aborts == {"REBALANCE_IN_PROGRESS": 3}
    exactly_once(sent, lane.reader().to_the_end())


def test_a_stop_before_kafka_ever_answered_leaves_nothing_undone(lane: Lane) -> None:
    settings = lane.settings(bootstrap="127.0.0.1:9", grace_s=0.1)
    run = start(AsyncStage("nobody", lane.input, Echo(lane), settings))
    run.stop()
    assert run.exit_codes == [0]


def test_a_broker_that_never_answers_ends_the_stage(lane: Lane) -> None:
    settings = lane.settings(bootstrap="127.0.0.1:9", patience_s=0.5)
    run = start(AsyncStage("nobody", lane.input, Echo(lane), settings))
    run.join()
    assert run.exit_codes == [3]


# Who we say we are


def test_generation_minus_one_or_an_empty_member_is_never_sent(lane: Lane) -> None:
    sent = lane.send(range(400))
    seen: list[bytes] = []

    class Listening(Producer):  # type: ignore[misc]
        def send_offsets_to_transaction(self, positions: Any, metadata: Any, *rest: Any) -> Any:
            seen.append(metadata)
            return super().send_offsets_to_transaction(positions, metadata, *rest)

    async def handler(message: Message) -> list[Output]:
        await asyncio.sleep(0.05)
        return [Output(lane.output, message.key or b"", b"")]

    stages = []
    for ordinal in range(3):
        stage = WatchedStage(
            "members", lane.input, handler, lane.settings(ordinal=ordinal, slots=10)
        )
        stage.producer_class = Listening
        stages.append(stage)
    reader = lane.reader()
    with running(stages[0]):
        reader.until(50)
        with running(stages[1]), running(stages[2]):
            reader.until(400)
    exactly_once(sent, reader.to_the_end())
    assert len(seen) > 20
    assert all(read(metadata) is not None for metadata in seen)
