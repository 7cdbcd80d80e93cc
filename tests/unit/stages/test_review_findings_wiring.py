"""Faults that a hostile review found in how stages are wired, each as the case that showed it."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from schemas.base import Model
from schemas.dead_letter import DeadLetter
from schemas.dispute import Dispute
from schemas.docket import Docket
from schemas.topics import Topic
from streams.emit import Emit
from tests.unit.stages.events import NOW, PACKS, a_complaint, a_record, about
from tests.unit.stages.test_intake import Order as IntakeOrder
from tests.unit.topologies.broker_free import Bench
from topologies import clients, extraction
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.models import Gates
from topologies.timer import TimerApp

# A stage that cannot go on.


class Note(Model):
    who: str
    size: int
    padding: str = ""


class Notes(Model):
    text: str = ""


NOTES = Topic("notes", "who", Note, text=True)


def keep(state: Notes | None, record: Record) -> tuple[Notes | None, list[Emit]]:
    return Notes(text=(state or Notes()).text + "x" * record.event.size), []


def a_bench(folder: Path) -> Bench:
    source = Source(NOTES, Note.from_bytes, lambda note: note.who, keep)
    box = DeadLetterBox(b"a test's installation key")
    return Bench(KeyedStage("noting", Notes, (source,), (), box), folder)


def test_a_state_too_large_for_its_changelog_is_a_dead_letter_and_not_a_crash_at_every_start(
    tmp_path: Path,
) -> None:
    """Some twenty complaints of 64 KB about one order, all waiting for its records, are enough."""
    bench = a_bench(tmp_path)
    assert bench.send_event("notes", "asha", Note(who="asha", size=1_900_000)) == []
    kept = bench.state("asha")
    [letter] = bench.send_event("notes", "asha", Note(who="asha", size=200_000))
    assert letter.topic == "dead-letters"
    assert letter.value is not None
    assert "state" in DeadLetter.from_bytes(letter.value).error
    assert bench.state("asha") == kept
    bench.close()


def test_a_misplaced_record_too_large_to_be_produced_again_is_a_dead_letter(tmp_path: Path) -> None:
    """A producer that compresses can send what no producer of ours may send uncompressed."""
    bench = a_bench(tmp_path)
    huge = Note(who="asha", size=1, padding="x" * 3_000_000)
    [letter] = bench.send("notes", b"bola", huge.to_bytes())
    assert letter.topic == "dead-letters"
    bench.close()


# A dispute without a docket.


def test_an_extraction_that_crashes_leaves_a_docket(monkeypatch: pytest.MonkeyPatch) -> None:
    handles: list[Callable[..., Coroutine[Any, Any, list[Emit]]]] = []

    async def crash(*_: Any) -> Any:
        raise RuntimeError("a fault of ours, or of a library")

    class Packs:
        provider = "offline-rules"

        def packs(self) -> Any:
            return PACKS

    monkeypatch.setattr(extraction, "network_stage", lambda *args: handles.append(args[3]))
    monkeypatch.setattr(extraction, "extract", crash)
    extraction.stage(Packs(), Gates(Packs(), ()))  # type: ignore[arg-type]
    dispute = Dispute(
        **about(), text="One naan missing.", filed_at=NOW, received_at=NOW, evidence=a_record()
    )
    [made] = asyncio.run(handles[0](dispute, None))
    assert isinstance(made.event, Docket)
    assert made.event.outcome == "extraction_failed"
    assert "a fault" not in str(made.event.problem)


# A deadline that rings twice, or a timer that never does.


class Wire:
    """A producer that notes what it was told, in order."""

    def __init__(self) -> None:
        self.said: list[tuple[Any, ...]] = []

    def produce(self, topic: str, key: bytes, value: bytes | None, **_: Any) -> None:
        self.said.append((topic, value is None))

    def __getattr__(self, name: str) -> Any:
        return lambda *_: self.said.append((name,))


def test_a_deadline_and_the_end_of_its_timer_are_one_transaction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rung twice, a tally that has closed and forgotten would say that no seat ever answered."""
    wire = Wire()
    for name in ("producer", "transactional_producer", "consumer"):
        monkeypatch.setattr(clients, name, lambda *_, **__: wire)
    intake = IntakeOrder()
    intake.take(a_complaint())
    TimerApp(DeadLetterBox(b"k" * 32))._ring([intake.grace])
    assert wire.said == [
        ("begin_transaction",),
        ("deadlines", False),
        ("timers", True),
        ("commit_transaction",),
    ]
