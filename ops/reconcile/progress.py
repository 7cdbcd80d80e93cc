"""How far a stage has come, by what its consumer group has committed: the measure of what is still in
flight. It is exact where a waiting time would be a guess, and a payout held for a week is no difference."""

from collections.abc import Iterator
from dataclasses import dataclass

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from ops.reconcile.book import Book
from schemas.topics import DECISIONS, LEDGER, PARTITIONS, PAYMENTS, Topic
from topologies import clients
from topologies.async_stage.offset_codec import Progress, decode
from topologies.quix_app import group

ANSWER_WITHIN_S = 10.0


@dataclass(frozen=True)
class Step:
    """One stage reading one topic, and where the book notes what it has finished."""

    stage: str
    topic: Topic
    table: str
    flag: str


PAYOUT = (Step("payout", DECISIONS, "decision", "done"),)
LEDGER_APP = (Step("ledger", PAYMENTS, "payment", "folded"),)
SINK = (
    Step("sink", DECISIONS, "decision", "sunk"),
    Step("sink", PAYMENTS, "payment", "sunk"),
    Step("sink", LEDGER, "ledger", "sunk"),
)


def note(book: Book, steps: tuple[Step, ...], admin: AdminClient) -> None:
    """Mark in the book what these stages have finished by now.

    Raises:
        KafkaException: the broker is away.
    """
    for step in steps:
        for part, progress in committed(step.stage, step.topic, admin):
            book.reached(step.table, step.flag, part, progress.position, progress.finished_above())


def committed(stage: str, topic: Topic, admin: AdminClient) -> Iterator[tuple[int, Progress]]:
    """Partition → what the stage's group has committed of it; nothing where it never has."""
    name = group(stage)
    asked = [TopicPartition(topic.name, part) for part in range(PARTITIONS)]
    answers = admin.list_consumer_group_offsets(
        [ConsumerGroupTopicPartitions(name, asked)], request_timeout=clients.COORDINATOR_TIMEOUT_S
    )
    for place in clients.answer(answers[name], ANSWER_WITHIN_S).topic_partitions:
        if place.offset >= 0:
            yield place.partition, decode(place.offset, place.metadata)


def waiting(book: Book) -> dict[str, int]:
    """Stage → events in the cut that it has yet to finish."""
    return {
        "payout": book.count("decision WHERE NOT late AND NOT done"),
        "ledger": book.count("payment WHERE NOT late AND NOT folded"),
        "clickhouse": book.count("decision WHERE NOT late AND NOT sunk")
        + book.count("payment WHERE NOT late AND NOT sunk")
        + book.count("ledger WHERE NOT sunk"),
    }
