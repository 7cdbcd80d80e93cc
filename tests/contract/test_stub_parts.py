"""The parts of the stub that need no server: latency, limits, prompt cache, faults in a reply, scripts."""

import asyncio
from pathlib import Path
from statistics import median
from typing import Any

import orjson
import pytest

from ops.stub.admission import Admission, Bucket
from ops.stub.catalogue import CLAUDE, COMPATIBLE, GPT, Catalogue
from ops.stub.faults import IN_REPLY, Faults, befalling
from ops.stub.latency import latency
from ops.stub.prompt_cache import PromptCache
from ops.stub.reading import Asked
from ops.stub.script import ScriptedAnswers, ScriptError, read_script
from ops.stub.serve import named_models
from ops.stub.spoiling import spoil
from ops.stub.wire import Answer, Call, Piece, Turn
from streams.llm.parsing import parse
from streams.llm.port import ExtractionDraft, RulingDraft

SONNET = Catalogue().find("claude-sonnet-5-5", "anthropic")
POLICY = Piece("policy " * 1_000, 300.0)
LONG = -(-len(POLICY.text) // 4)


def test_every_model_that_a_seat_may_name_is_offered_and_those_of_ones_own_too(
    tmp_path: Path,
) -> None:
    own = tmp_path / "models.toml"
    own.write_text(
        '[providers.local]\ndialect = "openai"\nbase_url = "http://localhost:1/v1"\ndefault_model = "llama"\n'
        '[models.llama]\nprovider = "local"\ninput = 0\noutput = 0\ncache_write = 0\ncache_read = 0\n'
    )
    named = named_models({"REFUND_BENCH_MODELS": str(own)})
    assert named["llama"] == "openai"
    offered = Catalogue(named)
    for name, dialect in named.items():
        assert offered.find(name, dialect).name == name
    assert not set(named_models({})) - {*CLAUDE, *GPT, *COMPATIBLE}


def test_a_latency_is_fixed_uniform_or_lognormal() -> None:
    quantiles = [n / 1_000 for n in range(1_000)]
    assert {latency("1.5").drawn(q) for q in quantiles} == {1.5}
    assert [latency("1-2").drawn(q) for q in (0, 0.5)] == [1, 1.5]
    drawn = [latency("lognormal:1.4:0.5").drawn(q) for q in quantiles]
    assert median(drawn) == pytest.approx(1.4, rel=0.01)
    assert drawn == sorted(drawn)
    for wrong in ("soon", "2-1", "-1", "lognormal:1"):
        with pytest.raises(ValueError, match="write seconds as"):
            latency(wrong)


def test_a_bucket_admits_its_depth_and_then_its_rate() -> None:
    bucket = Bucket(per_s=50, depth=10, now=0)
    assert [bucket.take(1, 0) for _ in range(10)] == [0] * 10
    assert bucket.take(1, 0) == pytest.approx(0.02)
    assert bucket.take(1, 0.02) == 0
    taken = sum(bucket.take(1, 1 + n / 1_000) == 0 for n in range(2_000))
    assert 108 <= taken <= 112, "its depth and two seconds' worth"


def test_a_call_larger_than_the_token_limit_waits_for_a_full_bucket() -> None:
    limits = Admission(None, None, tokens_per_s=10, now=0)
    assert limits.ask(10_000, 0) == 0
    assert limits.ask(10_000, 1) == pytest.approx(59)
    assert limits.ask(10_000, 61) == 0


def test_a_cache_entry_can_be_read_once_its_reply_has_begun() -> None:
    cache = PromptCache()
    asked = (POLICY, Piece("claim 1"))
    first = cache.look_up(SONNET, asked, 0)
    parallel = cache.look_up(SONNET, asked, 1)
    assert first.charged.written == parallel.charged.written == LONG
    cache.write(first, 2)
    later = cache.look_up(SONNET, (POLICY, Piece("claim 2")), 3)
    assert (later.charged.cache_read, later.charged.written) == (LONG, 0)
    assert later.charged.prompt == 2


def test_a_cache_entry_ends_after_its_time_and_a_read_keeps_it_alive() -> None:
    cache = PromptCache()
    cache.write(cache.look_up(SONNET, (POLICY,), 0), 0)
    assert cache.look_up(SONNET, (POLICY,), 299).charged.cache_read == LONG
    assert cache.look_up(SONNET, (POLICY,), 598).charged.cache_read == LONG
    assert cache.look_up(SONNET, (POLICY,), 899).charged.cache_read == 0


def test_a_cache_is_of_one_model_and_an_exact_prefix() -> None:
    cache = PromptCache()
    cache.write(cache.look_up(SONNET, (POLICY,), 0), 0)
    opus = Catalogue().find("claude-opus-5-5", "anthropic")
    assert cache.look_up(opus, (POLICY,), 1).charged.cache_read == 0
    other = Piece(POLICY.text[:-1] + "!", 300.0)
    assert cache.look_up(SONNET, (other,), 1).charged.cache_read == 0


def test_a_prefix_below_the_models_minimum_is_never_cached() -> None:
    cache = PromptCache()
    short = Piece("x" * (SONNET.cache_from * 4 - 4), 300.0)
    for at in (0, 1):
        found = cache.look_up(SONNET, (short,), at)
        assert (found.charged.cache_read, found.charged.written) == (0, 0)
        cache.write(found, at)


def test_the_longest_prefix_is_read_and_the_rest_is_written() -> None:
    cache = PromptCache()
    snapshot = Piece("evidence " * 500, 300.0)
    cache.write(cache.look_up(SONNET, (POLICY, Piece("other", 300.0)), 0), 0)
    found = cache.look_up(SONNET, (POLICY, snapshot, Piece("claim")), 1)
    assert found.charged.cache_read == LONG
    assert found.charged.written == -(-len(POLICY.text + snapshot.text) // 4) - LONG


def test_a_breakpoint_looks_back_twenty_pieces_and_no_further() -> None:
    cache = PromptCache()
    cache.write(cache.look_up(SONNET, (POLICY,), 0), 0)
    near = (Piece(POLICY.text), *[Piece("turn ")] * 19, Piece("end", 300.0))
    far = (Piece(POLICY.text), *[Piece("turn ")] * 20, Piece("end", 300.0))
    assert cache.look_up(SONNET, near, 1).charged.cache_read == LONG
    assert cache.look_up(SONNET, far, 1).charged.cache_read == 0


@pytest.mark.parametrize("kind", ["extraction", "judging", "letter", "other"])
def test_everything_spreads_one_share_over_every_fault_of_a_kind(kind: Any) -> None:
    faults = Faults(everything=0.5)
    met = [faults.strike(kind, "m", "p", str(n), 1) for n in range(4_000)]
    struck = [fault for fault in met if fault]
    assert set(struck) == set(befalling(kind))
    assert 1_800 < len(struck) < 2_200


def test_a_fault_that_a_kind_cannot_meet_does_not_strike_it() -> None:
    faults = Faults(shares={"ghost_citations": 1})
    assert faults.strike("letter", "m", "p", "x", 1) is None
    assert faults.strike("judging", "m", "p", "x", 1) == "ghost_citations"


def test_faults_can_be_kept_to_a_model_or_a_seats_prompt() -> None:
    faults = Faults(shares={"empty": 1}, on=("judge-strict",))
    assert faults.strike("judging", "m", "judge-strict", "x", 1) == "empty"
    assert faults.strike("judging", "m", "judge-plain", "x", 1) is None


RULING = Answer('{"ruling":"UPHELD","confidence":0.9,"citations":["a"],"reason":"r"}')
EXTRACTION = Answer(
    '{"grievances":[{"category":"C","text":"t","quote":"q","line_id":null,"quantity":null,"scope":"line",'
    '"safety":false}],"left_out":[]}'
)
UNREADABLE = ("confidence_out_of_range", "unknown_ruling", "hedged", "missing_fields", "several_objects")  # fmt: skip


@pytest.mark.parametrize("fault", UNREADABLE)
def test_a_spoilt_ruling_holds_no_draft(fault: str) -> None:
    assert parse(spoil(fault, RULING, None).text, RulingDraft).draft is None


@pytest.mark.parametrize("fault", ["missing_fields", "several_objects"])
def test_a_spoilt_extraction_holds_no_draft(fault: str) -> None:
    assert parse(spoil(fault, EXTRACTION, None).text, ExtractionDraft).draft is None


def test_prose_around_an_object_leaves_it_readable() -> None:
    said = spoil("prose_around", RULING, None).text
    assert not said.startswith("{")
    assert parse(said, RulingDraft).draft == parse(RULING.text, RulingDraft).draft


@pytest.mark.parametrize("fault", sorted(IN_REPLY - {"obedient"}))
def test_every_fault_changes_what_is_said(fault: str) -> None:
    sound = {"judging": RULING, "extraction": EXTRACTION, "letter": Answer("We refunded ₹689.00.")}
    met = [kind for kind in sound if fault in befalling(kind)]  # type: ignore[arg-type]
    assert met
    for kind in met:
        assert spoil(fault, sound[kind], None) != sound[kind]


def call(words: str = "two of the four biryanis", model: str = "claude-sonnet-5-5") -> Call:
    offered = Catalogue().find(model, "anthropic")
    return Call(offered, "", (Turn("user", words),), (Piece(words),), 1_000)


class Otherwise:
    async def answer(self, call: Call, asked: Asked, attempt: int) -> Answer:
        return Answer("otherwise")


def test_a_script_answers_what_it_matches_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "script.jsonl"
    file.write_bytes(
        b"\n".join(
            map(
                orjson.dumps,
                [
                    {
                        "kind": "judging",
                        "prompt": "judge-strict",
                        "contains": "four biryanis",
                        "on_attempt": 1,
                        "reply": {"ruling": "UPHELD"},
                    },
                    {"model": "claude-opus-5-5", "reply": "cut", "stop": "truncated"},
                ],
            )
        )
    )
    scripted = ScriptedAnswers(read_script(file), Otherwise())

    def said(one: Call, asked: Asked, attempt: int = 1) -> Answer:
        return asyncio.run(scripted.answer(one, asked, attempt))

    strict = Asked("judging", "judge-strict")
    assert said(call(), strict) == Answer('{"ruling":"UPHELD"}')
    assert said(call(), strict, 2) == Answer("otherwise")
    assert said(call("the raita"), strict) == Answer("otherwise")
    assert said(call(), Asked("judging", "judge-plain")) == Answer("otherwise")
    assert said(call(model="claude-opus-5-5"), Asked()) == Answer("cut", "truncated")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"not json", "line 1: is not JSON"),
        (b'{"kind": "judging"}', "line 1: reply: Field required"),
        (b'{"reply": "x", "grievance": "y"}', "line 1: grievance: Extra inputs"),
    ],
)
def test_a_wrong_line_of_a_script_is_named(tmp_path: Path, line: bytes, said: str) -> None:
    file = tmp_path / "script.jsonl"
    file.write_bytes(line)
    with pytest.raises(ScriptError, match=said):
        read_script(file)
