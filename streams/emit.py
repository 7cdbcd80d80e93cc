"""What a stage hands back: events for topics, under their keys."""

from dataclasses import dataclass

from schemas.base import Model
from schemas.ids import content_hash
from schemas.timer import Timer
from schemas.topics import TIMERS, Topic


@dataclass(frozen=True)
class Emit:
    """One record to be produced. `event` None is a tombstone."""

    topic: str
    key: str
    event: Model | None


def emit(topic: Topic, event: Model) -> Emit:
    """The event under the key its topic's contract names."""
    return Emit(topic.name, str(getattr(event, topic.key)), event)


LONGEST_ID = 200


def timer_id(stage: str, kind: str, key: str) -> str:
    """The id of a wait on a key; one that still is an id where the key is as long as a key may be."""
    plain = f"{stage}:{kind}:{key}"
    return plain if len(plain) <= LONGEST_ID else f"{stage}:{kind}:{content_hash(key.encode())}"


def start(timer: Timer) -> Emit:
    return emit(TIMERS, timer)


def cancel(timer_id: str) -> Emit:
    """End a wait early: the tombstone of its timer."""
    return Emit(TIMERS.name, timer_id, None)
