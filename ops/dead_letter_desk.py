"""Reads dead letters, opens them, and puts them back; a replay is noted in the same topic.

The note is the letter again with who and when, under the same id: readers that do not know of replays
see the same dead letter, and the newest record of an id is how it stands.
"""

import base64
import getpass
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.fernet import InvalidToken

from ops.bounded_read import Found, every_partition, read_all
from ops.commands.reply import refuse
from ops.submitting import Sender
from ops.validation import check_line
from schemas.base import UtcDatetime
from schemas.dead_letter import DeadLetter
from schemas.evidence import subject_of
from schemas.topics import BY_NAME, COMPLAINTS, DEAD_LETTERS, EVIDENCE
from streams.policies.loader import PackRegistry
from topologies.dead_letters import DeadLetterBox
from topologies.intake import read_evidence

REPLAY_HEADER = "refund-bench-replay"
"""On a record that was put back: the id of the dead letter it comes from."""


class NotedLetter(DeadLetter):
    """A dead letter, and what became of it."""

    replayed_at: UtcDatetime | None = None
    replayed_by: str | None = None
    repaired: bool = False
    """True when other bytes than those kept were put back."""
    replays: int = 0


@dataclass(frozen=True)
class Held:
    """A dead letter as it stands in Kafka."""

    letter: NotedLetter
    key: bytes | None
    """Of its record in `dead-letters`."""
    plain: bytes | None = None
    """The bytes, where the record's wrapping failed and they were written as they came."""

    def as_json(self) -> dict[str, Any]:
        letter = self.letter
        return {
            "id": letter.dead_letter_id,
            "topic": letter.topic,
            "partition": letter.partition,
            "offset": letter.offset,
            "error": letter.error,
            "at": letter.at.isoformat(),
            "stage": letter.stage,
            "replayed_at": letter.replayed_at.isoformat() if letter.replayed_at else None,
            "replayed_by": letter.replayed_by,
            "replays": letter.replays,
        }

    @property
    def source_key(self) -> bytes | None:
        return base64.b64decode(self.letter.key) if self.letter.key is not None else None

    @property
    def is_cut(self) -> bool:
        return "bytes kept)" in self.letter.error


def letters() -> list[Held]:
    """Every dead letter as it stands now, oldest first.

    Raises:
        KafkaException: the broker is away, or has no such topic.
    """
    latest: dict[str, Held] = {}
    for one in read_all(every_partition(DEAD_LETTERS), lambda r: r.value is not None):
        held = _held(one)
        known = latest.get(held.letter.dead_letter_id)
        if known is None or known.letter.replays <= held.letter.replays:
            # The timer app reads its topic again at every start, and refuses the same record again.
            latest[held.letter.dead_letter_id] = held
    return sorted(latest.values(), key=lambda held: held.letter.at)


def _held(one: Found) -> Held:
    try:
        return Held(NotedLetter.from_bytes(one.value or b""), one.key)
    except ValueError:
        return Held(_from_headers(one), one.key, one.value)


def _from_headers(one: Found) -> NotedLetter:
    """A letter that could not be wrapped: the async stage's last resort has the place in headers."""
    text = {name: value.decode("utf-8", "replace") for name, value in one.headers.items()}
    return NotedLetter(
        at=one.at,
        dead_letter_id=f"unwrapped:{one.topic}-{one.partition}-{one.offset}",
        stage="unknown",
        topic=text.get("origin.topic") or one.topic,
        partition=int(text.get("origin.partition") or one.partition),
        offset=int(text.get("origin.offset") or one.offset),
        key=base64.b64encode(one.key).decode() if one.key is not None else None,
        value="",
        error=text.get("error.type") or "not a dead letter we know; its bytes are not encrypted",
    )


def find(identifier: str) -> Held:
    """The dead letter of that id.

    Raises:
        Failure: there is none.
    """
    found = next((held for held in letters() if held.letter.dead_letter_id == identifier), None)
    if found is None:
        refuse(f"there is no dead letter {identifier!r}", "see `refund-bench dead-letters list`")
    return found


def opened(held: Held, installation_key: bytes) -> bytes:
    """The bytes as they came.

    Raises:
        Failure: they were sealed under another installation key.
    """
    if held.plain is not None:
        return held.plain
    try:
        return DeadLetterBox(installation_key).open(held.letter)
    except InvalidToken:
        refuse(
            "the dead letter was sealed under another installation key",
            "set REFUND_BENCH_INSTALLATION_KEY to the one the apps had",
        )


def check_repaired(topic: str, value: bytes, packs: PackRegistry, now: datetime) -> None:
    """Refuse bytes that would come straight back.

    Raises:
        Failure: names each field that is still wrong.
    """
    if topic in (COMPLAINTS.name, EVIDENCE.name):
        item = check_line(1, value, packs, now)
        wanted = "complaint" if topic == COMPLAINTS.name else "evidence"
        if item.kind not in (wanted, "unknown"):
            refuse(f"the file holds a {item.kind}, and {topic} takes {wanted}", "send that alone")
        if item.errors:
            first = item.errors[0]
            refuse(
                f"it would be refused again: {first.field or 'record'} {first.problem}",
                first.remedy,
                errors=[{"field": e.field, "problem": e.problem, "remedy": e.remedy} for e in item.errors],
            )  # fmt: skip
    elif _key_of(topic, value) is None:
        refuse(f"it is not an event of {topic}", "see the JSON Schemas in schemas/json")


def _key_of(topic: str, value: bytes) -> str | None:
    """The key the contract gives these bytes; None where they cannot be read."""
    try:
        if topic == EVIDENCE.name:
            return subject_of(read_evidence(value))
        contract = BY_NAME[topic]
        event = contract.event.model_validate_json(value)
        return str(getattr(event, contract.key))
    except (KeyError, ValueError):
        return None


def replay(held: Held, value: bytes, repaired: bool, now: datetime) -> str:
    """Put the bytes back to the topic they came from and note it; the key they went under.

    The note comes after the acknowledgement: cut in between, the letter looks unreplayed, and replaying
    it again is safe because every stage knows its events by their ids.

    Raises:
        Failure: the bytes cannot be read and had no key.
        NotTaken: the broker did not acknowledge.
    """
    letter = held.letter
    if letter.topic not in BY_NAME:
        refuse(f"{letter.topic!r} is not a topic of ours", "nothing can be put back there")
    key = _key_of(letter.topic, value) or (held.source_key or b"").decode("utf-8", "replace")
    if not key:
        refuse("the record had no key and cannot be read", "repair it, and give it with --file")
    sender = Sender()
    sender.send(letter.topic, key, value, {REPLAY_HEADER: letter.dead_letter_id.encode()})
    sender.finish()
    noted = letter.model_copy(
        update={
            "error": letter.error if letter.replays else f"replayed: {letter.error}",
            "replayed_at": now,
            "replayed_by": getpass.getuser(),
            "repaired": repaired,
            "replays": letter.replays + 1,
        }
    )
    if held.plain is None:
        note_key = (held.key or b"").decode("utf-8", "replace")
        sender.send(DEAD_LETTERS.name, note_key, noted.to_bytes())
        sender.finish()
    return key
