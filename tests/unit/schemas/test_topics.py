"""The topics' contract: where words live and for how long, what is compacted, and one partition count."""

import pytest
from pydantic import BaseModel

from schemas.topics import ALL, BY_NAME, MAX_MESSAGE_BYTES, PARTITIONS, Topic

THIRTY_DAYS_MS = 30 * 24 * 60 * 60 * 1000
EXPECTED = {
    "complaints", "evidence", "disputes", "dockets", "grievances", "rulings", "verdicts",
    "proposals", "decisions", "payments", "letter-requests", "letters", "receipts", "reviews",
    "timers", "deadlines", "ledger", "audit", "switches", "operations", "dead-letters",
}  # fmt: skip
FREE_TEXT_FIELDS = {"text", "body", "note", "complaint_text", "raw_reply", "reason", "value"}
"""Names under which our events hold a person's or a model's words."""

every_topic = pytest.mark.parametrize("topic", ALL, ids=lambda topic: topic.name)


def test_these_topics_and_no_other() -> None:
    assert set(BY_NAME) == EXPECTED
    assert len(ALL) == len(EXPECTED), "a name appears twice"


@every_topic
def test_a_topic_with_words_keeps_them_thirty_days_at_most(topic: Topic) -> None:
    if topic.text:
        assert 0 < topic.retention_ms <= THIRTY_DAYS_MS
        assert topic.cleanup == "delete", "a compacted topic keeps the last record for ever"


def _fields(model: type[BaseModel]) -> set[str]:
    """Names of every field of the model and of the models within."""
    found: set[str] = set()
    waiting, seen = [model], set()
    while waiting:
        current = waiting.pop()
        seen.add(current)
        for name, field in current.model_fields.items():
            found.add(name)
            for inner in _models(field.annotation):
                if inner not in seen:
                    waiting.append(inner)
    return found


def _models(annotation: object) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return {annotation}
    return {model for part in getattr(annotation, "__args__", ()) for model in _models(part)}


@every_topic
def test_a_topic_not_marked_as_text_has_no_field_for_words(topic: Topic) -> None:
    if not topic.text:
        assert not _fields(topic.event) & FREE_TEXT_FIELDS


def test_only_current_state_is_compacted() -> None:
    assert {topic.name for topic in ALL if topic.cleanup == "compact"} == {
        "timers",
        "ledger",
        "switches",
    }


@every_topic
def test_one_partition_count_everywhere(topic: Topic) -> None:
    assert topic.partitions == PARTITIONS == 12


@every_topic
def test_the_key_is_a_field_of_the_event(topic: Topic) -> None:
    if topic.name == "dead-letters":
        assert topic.key == "source key"
    elif topic.name == "evidence":
        assert topic.key == "order_id", "every kind names its order or transaction"
    else:
        assert topic.key in topic.event.model_fields


@every_topic
def test_the_broker_stamps_the_time_and_takes_two_megabytes(topic: Topic) -> None:
    config = topic.config(replication=3)
    assert config["message.timestamp.type"] == "LogAppendTime"
    assert config["max.message.bytes"] == str(MAX_MESSAGE_BYTES) == str(2 * 1024 * 1024)
    assert config["cleanup.policy"] == topic.cleanup
    assert config["retention.ms"] == str(topic.retention_ms)


@pytest.mark.parametrize(("replication", "in_sync"), [(1, "1"), (2, "2"), (3, "2")])
def test_two_copies_must_have_a_record_where_there_are_two(replication: int, in_sync: str) -> None:
    assert BY_NAME["payments"].config(replication)["min.insync.replicas"] == in_sync
