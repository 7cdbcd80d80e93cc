"""How a stateful stage is wired to Quix: read, decide, write, all in one transaction.

A record that cannot be read, or whose step fails, becomes a dead letter in the same transaction and
the next one is processed. State changes only if the whole step succeeded. An output too large for
the broker becomes a dead letter too: Quix would crash on it at every start.
"""

import logging
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from quixstreams import Application, message_context

from schemas.base import Model
from schemas.topics import DEAD_LETTERS, PARTITIONS, Topic
from schemas.trace import trace_of
from streams.emit import Emit
from streams.ledger_chain import Place
from topologies import clients
from topologies.dead_letters import DeadLetterBox, describe, record_key
from topologies.partitioner import partition_of
from topologies.quix_app import (
    application,
    check_inputs,
    check_partitions,
    input_topic,
    output_topic,
    without_alignment,
)
from topologies.settings import Settings

log = logging.getLogger("refund_bench.stage")
S = TypeVar("S", bound=Model)
STATE_KEY = "state"
FITS = clients.MAX_MESSAGE_BYTES - 4096
"""Bytes of a value that fit a message with its key and headers; state travels in one too."""


@dataclass(frozen=True)
class Record:
    """One input record that was read."""

    event: Any
    value: bytes
    place: Place
    at: datetime
    """The broker's time of the record (LogAppendTime), which a replay sees again."""


@dataclass(frozen=True)
class Source(Generic[S]):
    """One input of a stage: how its records are read, keyed and decided on."""

    topic: Topic
    read: Callable[[bytes], Any]
    key_of: Callable[[Any], str]
    """The key the record belongs under; one that came under another is produced again under this."""
    step: Callable[[S | None, Record], tuple[S | None, list[Emit]]]


class Encoded(Model):
    """An event's bytes as they will be written: made once for the size check, or a misplaced record's own."""

    value: bytes

    def to_bytes(self) -> bytes:
        return self.value


class KeyedStage(Generic[S]):
    """A stateful stage: its inputs, its outputs and the type of its state per key."""

    def __init__(
        self,
        name: str,
        state: type[S],
        sources: tuple[Source[S], ...],
        outputs: tuple[Topic, ...],
        box: DeadLetterBox,
    ) -> None:
        self.name = name
        self.inputs = tuple(source.topic for source in sources)
        self.outputs = tuple(dict.fromkeys((*outputs, *self.inputs, DEAD_LETTERS)))
        self._state = state
        self._sources = {source.topic.name: source for source in sources}
        self._box = box

    def build(self, settings: Settings) -> Application:
        """The application, checked against what the broker holds, ready to run.

        Raises:
            InputSetChanged: the inputs are not those the state was built from, or a topic is wrong.
        """
        metadata = clients.admin().list_topics(timeout=10).topics
        check_partitions(
            {name: len(topic.partitions) for name, topic in metadata.items()}, self.outputs
        )
        check_inputs(self.name, self.inputs, set(metadata))
        app = application(self.name, settings)
        self.wire(app)
        return app

    def wire(self, app: Application) -> None:
        """Topics in, steps, topics out."""
        frames = [app.dataframe(input_topic(app, topic)) for topic in self.inputs]
        records = frames[0]
        for frame in frames[1:]:
            records = records.concat(frame)
        records = records.apply(self._read, metadata=True).set_headers(
            lambda value, key, timestamp, headers: list(trace_of(headers).items())
        )
        targets = {topic.name: output_topic(app, topic) for topic in self.outputs}

        def target(value: Emit, *_: Any) -> Any:
            return targets[value.topic]

        def key(value: Emit) -> str:
            return value.key

        records.filter(lambda value: isinstance(value, Emit)).to_topic(target, key=key)
        readable = records.filter(lambda value: isinstance(value, Record))
        readable.apply(self._decide, stateful=True, expand=True).to_topic(target, key=key)
        without_alignment(app)

    def _read(self, value: Any, key: Any, timestamp: int, headers: Any) -> Record | Emit:
        context = message_context()
        place = Place(context.topic, context.partition, context.offset)
        at = datetime.fromtimestamp(timestamp / 1000, UTC)
        source = self._sources[place.topic]
        try:
            if value is None:
                raise ValueError("record: has no value; a tombstone has no meaning here")
            event = source.read(value)
            belongs = source.key_of(event).encode()
        except Exception as error:
            return self._dead(place, key, value, error, at)
        if key != belongs or place.partition != partition_of(belongs, PARTITIONS):
            if len(value) >= FITS:
                # The broker took it compressed; produced again, it would stop the stage at every start.
                large = ValueError(
                    f"record: {len(value)} bytes is too large to be moved to its key"
                )
                return self._dead(place, key, value, large, at)
            log.warning(
                "misplaced record produced again", extra={"stage": self.name, "place": str(place)}
            )
            return Emit(place.topic, belongs.decode(), Encoded(value=value))
        return Record(event, value, place, at)

    def _decide(self, record: Record, state: Any) -> Iterator[Emit]:
        source = self._sources[record.place.topic]
        before = state.get_bytes(STATE_KEY)
        try:
            held = self._state.model_validate_json(before) if before is not None else None
            after, emits = source.step(held, record)
            emits = [self._fitting(item, record) for item in emits]
            if after is None:
                if before is not None:
                    state.delete(STATE_KEY)
            elif after is not held:
                kept = after.model_dump_json(exclude_defaults=True).encode()
                if len(kept) >= FITS:
                    # Quix would fail to write it to the changelog, at every start.
                    raise ValueError(f"state: {len(kept)} bytes is more than its changelog takes")
                state.set_bytes(STATE_KEY, kept)
        except Exception as error:
            # Not log.exception: an error's own text may quote the customer.
            where = traceback.extract_tb(error.__traceback__)[-1]
            log.error(
                "step failed",
                extra={
                    "stage": self.name,
                    "place": str(record.place),
                    "error": describe(error),
                    "where": f"{where.filename}:{where.lineno}",
                },
            )
            key = source.key_of(record.event).encode()
            emits = [self._dead(record.place, key, record.value, error, record.at)]
        yield from emits

    def _fitting(self, item: Emit, record: Record) -> Emit:
        if item.event is None:
            return item
        encoded = item.event.to_bytes()
        if len(encoded) < FITS:
            return Emit(item.topic, item.key, Encoded(value=encoded))
        error = ValueError(
            f"output for {item.topic}: {len(encoded)} bytes is over the {clients.MAX_MESSAGE_BYTES} a message may have"
        )
        key = self._sources[record.place.topic].key_of(record.event).encode()
        return self._dead(record.place, key, record.value, error, record.at)

    def _dead(
        self, place: Place, key: bytes | None, value: bytes | None, error: Exception, at: datetime
    ) -> Emit:
        letter = self._box.seal(
            stage=self.name,
            topic=place.topic,
            partition=place.partition,
            offset=place.offset,
            key=key,
            value=value,
            error=describe(error),
            now=at,
        )
        log.warning(
            "dead letter",
            extra={
                "stage": self.name,
                "dead_letter_id": letter.dead_letter_id,
                "error": letter.error,
            },
        )
        return Emit(
            DEAD_LETTERS.name, record_key(key, place.topic).decode("utf-8", "replace"), letter
        )
