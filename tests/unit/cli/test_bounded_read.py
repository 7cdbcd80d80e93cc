"""Reading a topic to where it ends now."""

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from ops.bounded_read import spans
from topologies import clients


class Broker:
    """An admin client that fails so often, in one way, before it answers."""

    def __init__(self, fails: int, code: int) -> None:
        self.fails, self.code, self.asked = fails, code, 0

    def list_offsets(
        self, wanted: dict[TopicPartition, Any], **_: Any
    ) -> dict[TopicPartition, Any]:
        self.asked += 1
        told: Future[Any] = Future()
        if self.asked <= self.fails:
            told.set_exception(KafkaException(KafkaError(self.code)))
        else:
            told.set_result(SimpleNamespace(offset=self.asked))
        return dict.fromkeys(wanted, told)


@pytest.mark.parametrize(
    "code", [KafkaError.NOT_LEADER_FOR_PARTITION, KafkaError.LEADER_NOT_AVAILABLE]
)
def test_a_partition_whose_leader_takes_its_place_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    broker = Broker(2, code)
    monkeypatch.setattr(clients, "admin", lambda _: broker)
    [span] = spans([("verdicts", 0)])
    assert (span.start, span.end, broker.asked) == (3, 4, 4)


def test_any_other_error_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = Broker(2, KafkaError.UNKNOWN_TOPIC_OR_PART)
    monkeypatch.setattr(clients, "admin", lambda _: broker)
    with pytest.raises(KafkaException):
        spans([("verdicts", 0)])
    assert broker.asked == 1
