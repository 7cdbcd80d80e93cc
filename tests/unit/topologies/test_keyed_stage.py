"""A stateful stage on Quix: nothing stops it, nothing is half done, and a record meets its key's state."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from schemas.base import Model
from schemas.dead_letter import DeadLetter
from schemas.topics import PARTITIONS, Topic
from schemas.trace import new_trace
from streams.emit import Emit
from tests.unit.topologies.broker_free import NOW, Bench, Produced, an_application
from topologies.dead_letters import DeadLetterBox
from topologies.keyed_stage import KeyedStage, Record, Source
from topologies.partitioner import partition_of

BOX = DeadLetterBox(b"a test's installation key")


class Said(Model):
    """The one event of the stage under test."""

    who: str
    word: str


class Heard(Model):
    """Its state: the words of one speaker."""

    words: tuple[str, ...] = ()


IN = Topic("words", "who", Said, text=True)
ALSO = Topic("more-words", "who", Said, text=True)
OUT = Topic("heard", "who", Said, text=True)


def step(state: Heard | None, record: Record) -> tuple[Heard | None, list[Emit]]:
    """Remember the word and pass it on; some words do something else."""
    word = record.event.word
    held = (state or Heard()).words
    if word == "fail":
        raise RuntimeError(f"SECRET {word}")
    if word == "forget":
        return None, [Emit(OUT.name, record.event.who, None)]
    if word == "huge":
        big = Said(who=record.event.who, word="x" * 2_000_000)
        return Heard(words=(*held, word)), [
            Emit(OUT.name, big.who, big),
            Emit(OUT.name, big.who, record.event),
        ]
    return Heard(words=(*held, word)), [Emit(OUT.name, record.event.who, record.event)]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    sources = tuple(
        Source(topic, Said.from_bytes, lambda said: said.who, step) for topic in (IN, ALSO)
    )
    running = Bench(KeyedStage("listening", Heard, sources, (OUT,), BOX), tmp_path)
    yield running
    running.close()


def say(bench: Bench, word: str, who: str = "asha", topic: str = IN.name) -> list[Produced]:
    return bench.send_event(topic, who, Said(who=who, word=word))


def words(bench: Bench, who: str = "asha") -> tuple[str, ...] | None:
    kept = bench.state(who)
    return Heard.model_validate_json(kept).words if kept is not None else None


def the_letter(produced: list[Produced]) -> DeadLetter:
    [record] = produced
    assert record.topic == "dead-letters"
    assert record.value is not None
    return DeadLetter.from_bytes(record.value)


def test_a_record_is_decided_on_and_what_follows_is_produced_under_its_key(bench: Bench) -> None:
    [made] = say(bench, "hello")
    assert made == Produced("heard", b"asha", Said(who="asha", word="hello").to_bytes())
    assert words(bench) == ("hello",)


def test_all_inputs_share_the_state_of_a_key(bench: Bench) -> None:
    say(bench, "one")
    say(bench, "two", topic=ALSO.name)
    say(bench, "other", who="bola")
    assert words(bench) == ("one", "two")
    assert words(bench, "bola") == ("other",)


@pytest.mark.parametrize("poison", [b"\xff\x00", b"{", b"[]", b'{"who": 7}', b"null", b"", None])
def test_poison_becomes_a_dead_letter_and_the_next_is_processed(
    bench: Bench, poison: bytes | None
) -> None:
    letter = the_letter(bench.send(IN.name, b"asha", poison, partition=4))
    assert (letter.stage, letter.topic, letter.partition, letter.offset) == (
        "listening",
        "words",
        4,
        0,
    )
    assert BOX.open(letter) == (poison or b"")
    assert letter.dead_letter_id == "listening:words-4-0"
    assert say(bench, "next")[0].topic == "heard"


def test_a_dead_letter_is_kept_under_its_records_key(bench: Bench) -> None:
    [record] = bench.send(IN.name, b"asha", b"poison")
    assert record.key == b"asha"
    [record] = bench.send(IN.name, None, b"poison")
    assert record.key == b"words"
    [record] = say(bench, "fail")
    assert record.key == b"asha"


def test_a_tombstone_input_is_a_dead_letter_not_a_crash(bench: Bench) -> None:
    assert "tombstone" in the_letter(bench.send(IN.name, b"asha", None)).error


@pytest.mark.parametrize("key", [None, b"", b"bola", b"\xff\xfe"])
def test_a_record_under_another_key_or_none_is_produced_again_under_its_own(
    bench: Bench, key: bytes | None
) -> None:
    value = Said(who="asha", word="hello").to_bytes()
    [again] = bench.send(IN.name, key, value, partition=3)
    assert again == Produced("words", b"asha", value)
    assert words(bench) is None, "it is decided on when it comes back"
    assert bench.send(again.topic, again.key, again.value)[0].topic == "heard"


def test_a_record_in_another_keys_partition_is_produced_again(bench: Bench) -> None:
    value = Said(who="asha", word="hello").to_bytes()
    wrong = (partition_of(b"asha", PARTITIONS) + 1) % PARTITIONS
    assert bench.send(IN.name, b"asha", value, partition=wrong) == [
        Produced("words", b"asha", value)
    ]


def test_a_step_that_fails_leaves_the_state_as_it_was(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    say(bench, "one")
    with caplog.at_level(logging.DEBUG):
        letter = the_letter(say(bench, "fail"))
    assert words(bench) == ("one",)
    assert BOX.open(letter) == Said(who="asha", word="fail").to_bytes()
    assert letter.error == "RuntimeError", "no text of its own: it may quote the customer"
    assert "SECRET" not in caplog.text
    say(bench, "two")
    assert words(bench) == ("one", "two")


def test_an_output_too_large_becomes_a_dead_letter_and_the_others_go_out(bench: Bench) -> None:
    letter, fine = say(bench, "huge")
    assert letter.topic == "dead-letters"
    assert letter.value is not None
    sealed = DeadLetter.from_bytes(letter.value)
    assert "heard" in sealed.error
    assert BOX.open(sealed) == Said(who="asha", word="huge").to_bytes(), (
        "the source, to be replayed"
    )
    assert len(letter.value) < 2_000_000
    assert fine.topic == "heard"


def test_an_input_of_the_largest_size_still_fits_as_a_dead_letter(bench: Bench) -> None:
    [record] = bench.send(IN.name, b"asha", b"x" * 1_999_000)
    assert record.value is not None
    assert len(record.value) < 1_990_000
    letter = DeadLetter.from_bytes(record.value)
    assert "bytes kept" in letter.error


def test_the_longest_key_still_fits_as_a_dead_letter(bench: Bench) -> None:
    [record] = bench.send(IN.name, b"k" * 1_900_000, b"not json")
    assert record.topic == "dead-letters"
    assert len(record.key or b"") + len(record.value or b"") < 10_000


def test_the_trace_goes_on_and_no_other_header_does(bench: Bench) -> None:
    trace = new_trace()
    sent = [*trace.items(), ("huge", b"x" * 1_900_000), ("tracestate", b"y" * 1_000)]
    event = Said(who="asha", word="one").to_bytes()
    [record] = bench.send(IN.name, b"asha", event, headers=sent)
    assert dict(record.headers) == trace


def test_a_state_that_is_none_is_deleted_and_a_tombstone_goes_out(bench: Bench) -> None:
    say(bench, "one")
    [made] = say(bench, "forget")
    assert made == Produced("heard", b"asha", None)
    assert words(bench) is None


def test_the_brokers_time_of_a_record_is_what_the_step_is_told(tmp_path: Path) -> None:
    told = []

    def remember(state: Heard | None, record: Record) -> tuple[Heard | None, list[Emit]]:
        told.append((record.at, record.place.offset))
        return state, []

    source = Source(IN, Said.from_bytes, lambda said: said.who, remember)
    running = Bench(KeyedStage("listening", Heard, (source,), (OUT,), BOX), tmp_path)
    say(running, "now")
    running.close()
    assert told == [(NOW, 0)]


def test_time_alignment_is_off(bench: Bench) -> None:
    """The private name that the factory sets; `concat` sets it, and it would hold all inputs of a
    partition while any transaction is open on one of them."""
    registry = bench.app._dataframe_registry
    assert hasattr(registry, "_requires_time_alignment")
    assert registry.requires_time_alignment is False


def test_quix_would_align_without_us(tmp_path: Path) -> None:
    app = an_application("listening", tmp_path)
    app.dataframe(app.topic("a")).concat(app.dataframe(app.topic("b")))
    assert app._dataframe_registry.requires_time_alignment is True, (
        "or the setting is no longer needed"
    )
