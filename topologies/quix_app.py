"""The one factory of Quix applications, with every setting that keeps them exact and quick.

- exactly-once, `commit_interval` 0.1 s and poll 0.05 s: at Quix's defaults a hop costs up to 6 s;
- time alignment off: with it `concat` holds every input of a partition while a transaction is open on
  one of them, so a producer killed upstream would freeze settlement. Hence stages that do not care
  in which order their inputs come;
- topics and changelogs are created beforehand, with the right partitions, never by a start;
- the input set of a stateful app is frozen: Quix names the changelog after it, and another set would
  silently start with empty state.
"""

import logging
from typing import Any

from quixstreams import Application
from quixstreams.models import Serializer
from quixstreams.models import Topic as QuixTopic

from schemas.topics import PARTITIONS, Topic
from streams.emit import Emit
from topologies import clients
from topologies.settings import Settings

log = logging.getLogger("refund_bench.quix")

COMMIT_INTERVAL_S = 0.1
POLL_TIMEOUT_S = 0.05


class InputSetChanged(RuntimeError):
    """The app would read another set of topics than the one its state was built from."""


def group(stage: str) -> str:
    """The consumer group of a stage."""
    return f"refund-bench.{stage}"


def changelog(stage: str, inputs: tuple[Topic, ...]) -> str:
    """The changelog's name, as Quix derives it from the group and the joined input names."""
    return (
        f"changelog__{group(stage)}--{'--'.join(sorted(topic.name for topic in inputs))}--default"
    )


def check_inputs(stage: str, inputs: tuple[Topic, ...], existing: set[str]) -> None:
    """Refuse to start on a changed input set.

    Raises:
        InputSetChanged: a changelog of this stage exists under another set of inputs.
    """
    expected = changelog(stage, inputs)
    others = {name for name in existing if name.startswith(f"changelog__{group(stage)}--")} - {
        expected
    }
    if others:
        raise InputSetChanged(
            f"{stage} keeps its state in {', '.join(sorted(others))}, but its inputs now ask for {expected}; "
            "give the stage its old inputs back, or migrate the state and delete the old changelog"
        )


class EmitSerializer(Serializer):
    """Turns an `Emit` into its event's bytes; a tombstone stays None."""

    def __call__(self, value: Emit, ctx: Any) -> bytes | None:  # type: ignore[override]
        return value.event.to_bytes() if value.event is not None else None


def application(stage: str, settings: Settings, **changes: Any) -> Application:
    """An exactly-once application for a stage; static member and transactional id from the ordinal.

    `changes` replace settings of Quix where a stage has a reason to differ.
    """
    ordinal = clients.ordinal()
    chosen: dict[str, Any] = {
        "processing_guarantee": "exactly-once",
        "commit_interval": COMMIT_INTERVAL_S,
        **changes,
    }
    return Application(
        broker_address=clients.broker(),
        consumer_group=group(stage),
        auto_offset_reset="earliest",
        auto_create_topics=False,
        consumer_poll_timeout=POLL_TIMEOUT_S,
        state_dir=settings.state_dir / f"{stage}-{ordinal}",
        consumer_extra_config={
            **clients.security(),
            **clients.consumer_settings(),
            "group.instance.id": clients.instance_id(group(stage), ordinal),
        },
        producer_extra_config={
            **clients.security(),
            **clients.producer_settings(),
            **clients.transactional_settings(group(stage), ordinal),
        },
        loglevel=None,
        **chosen,
    )


def input_topic(app: Application, topic: Topic) -> QuixTopic:
    return app.topic(topic.name, key_deserializer="bytes", value_deserializer="bytes")


def output_topic(app: Application, topic: Topic) -> QuixTopic:
    return app.topic(topic.name, key_serializer="str", value_serializer=EmitSerializer())


def without_alignment(app: Application) -> None:
    """Switch off what `concat` switches on. A test guards the private name."""
    app._dataframe_registry._requires_time_alignment = False


def check_partitions(found: dict[str, int], topics: tuple[Topic, ...]) -> None:
    """Refuse topics with another partition count: keys would meet in the wrong place.

    Raises:
        InputSetChanged: a topic is missing or has another number of partitions.
    """
    for topic in topics:
        count = found.get(topic.name)
        if count is None:
            raise InputSetChanged(
                f"topic {topic.name} does not exist; run `refund-bench topics create`"
            )
        if count != PARTITIONS:
            raise InputSetChanged(
                f"topic {topic.name} has {count} partitions, not {PARTITIONS}; keys would move"
            )
