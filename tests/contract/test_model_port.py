"""One suite for every model behind the port: the three adapters through their SDKs, and the stand-in."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any, get_type_hints

import pytest
from anthropic.types.message_create_params import (
    MessageCreateParamsNonStreaming as MessageCreate,
)
from openai.types.chat.completion_create_params import (
    CompletionCreateParamsNonStreaming as CompletionCreate,
)
from pydantic import TypeAdapter

from schemas.grievance import Claim
from schemas.letter import ToldLine
from streams.extraction import briefs
from streams.llm import anthropic_messages, openai_chat
from streams.llm.port import (
    EvidenceTool,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Misconfigured,
    Model,
    Overloaded,
    ProviderDown,
)
from streams.llm.registry import check_models, open_model
from streams.llm.remote import RemoteModel
from streams.llm.wire import as_json
from streams.prompts import extraction_prompt, judge_prompt, letter_prompt
from tests.support.stub import StubProcess
from tests.unit.reading.support import FOOD, ORDER

pytestmark = pytest.mark.anyio

REMOTE = ("anthropic", "openai", "kimi")
SETTINGS = {"REFUND_BENCH_LLM_TIMEOUT_S": "1"}
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY", "kimi": "MOONSHOT_API_KEY"}
MISSING = next(brief for brief in briefs(FOOD) if brief.name == "MISSING_ITEM")

EXTRACTION = ExtractionTask(
    prompt=extraction_prompt(FOOD), stand_in=FOOD.offline, text="One khichdi was missing from the bag.",
    filed_at="2026-11-20T22:00:00+00:00", record={"line_items": ORDER["line_items"]}, categories=briefs(FOOD),
    max_grievances=8,
)  # fmt: skip
JUDGING = JudgingTask(
    prompt=judge_prompt(FOOD, "plain"), stand_in=FOOD.offline, grievance_id="d-1.g1",
    claim=Claim(
        grievance_id="d-1.g1", index=1, category="MISSING_ITEM", text="One of the khichdi ordered did not arrive.",
        span_start=0, span_end=37, line_id="L1", quantity=1,
    ),
    category=MISSING, evidence={f: ORDER[f] for f in ("line_items", "packing_scan") if f in ORDER},
    filed_at="2026-11-20T22:00:00+00:00", seat=1, seats=(1, 2, 3), variant="plain",
)  # fmt: skip
TOOLS = tuple(EvidenceTool(t.name, t.description, t.fields) for t in FOOD.pack.tools)
LETTER = LetterTask(
    prompt=letter_prompt(FOOD), stand_in=FOOD.offline, kind="outcome", order_id="o-77", paid="₹49.00",
    lines=(ToldLine(category="LATE_DELIVERY", text="It came late.", amount_minor=4900, state="resolved"),),
    line_amounts=("₹49.00",), promises=FOOD.pack.promises, complaint_text="It came late.",
    template="We looked at the late delivery. ₹49.00 has been refunded. It arrives within 3 working days.",
)  # fmt: skip


@pytest.fixture(params=(*REMOTE, "offline-rules"))
async def model(request: pytest.FixtureRequest, stub: StubProcess) -> AsyncIterator[Model]:
    found = open_model(request.param, {**SETTINGS, **stub.environment})
    yield found
    if isinstance(found, RemoteModel):
        await found.aclose()


@pytest.fixture(params=REMOTE)
async def remote(request: pytest.FixtureRequest, stub: StubProcess) -> AsyncIterator[RemoteModel]:
    found = open_model(request.param, {**SETTINGS, **stub.environment})
    assert isinstance(found, RemoteModel)
    yield found
    await found.aclose()


async def test_each_of_the_three_tasks_brings_a_draft_and_what_an_auditor_asks(
    model: Model,
) -> None:
    extraction = await model.extract(EXTRACTION)
    ruling = await model.judge(JUDGING)
    letter = await model.write_letter(LETTER)
    assert extraction.draft is not None
    assert [g.category for g in extraction.draft.grievances] == ["MISSING_ITEM"]
    assert ruling.draft is not None
    assert ruling.draft.ruling in ("UPHELD", "REJECTED", "ESCALATE")
    assert letter.draft
    for reply in (extraction, ruling, letter):
        assert reply.raw
        assert (reply.provider, reply.model) == (model.provider, model.model)
        assert (reply.usage.calls, reply.usage.re_asks, reply.attempts) == (1, 0, 1)
        assert reply.usage.input_tokens > 0
        assert reply.usage.output_tokens > 0
        assert reply.simulated
        assert reply.failure is None


async def test_a_call_over_the_network_has_a_request_id_a_price_and_a_latency(
    remote: RemoteModel, stub: StubProcess
) -> None:
    stub.set_faults(latency="0.05")
    reply = await remote.judge(JUDGING)
    [entry] = stub.journal()["entries"]
    assert reply.request_id == entry["request_id"]
    assert reply.usage.cost_micros > 0
    assert reply.usage.latency_ms >= 50
    assert (
        reply.usage.input_tokens
        == sum(entry[name] for name in ("input_tokens", "cache_read_tokens", "cache_write_tokens"))
        or reply.usage.input_tokens == entry["input_tokens"]
    )
    assert reply.usage.output_tokens == entry["output_tokens"]


async def test_a_re_ask_carries_the_correction_and_is_counted(
    model: Model, stub: StubProcess
) -> None:
    again = replace(
        JUDGING, correction="Your last reply cannot be used: cite a field", previous_reply=""
    )
    reply = await model.judge(again)
    assert reply.draft is not None
    if isinstance(model, RemoteModel):
        assert reply.usage.re_asks == 1


RAISED: dict[str, type[Exception]] = {
    "rate_limited": Overloaded, "overloaded": Overloaded, "server_error": ProviderDown, "bad_gateway": ProviderDown,
    "hang": TimeoutError, "reset_before": ProviderDown, "reset_within": ProviderDown, "broken_json": ProviderDown,
    "html": ProviderDown, "wrong_shape": ProviderDown, "unauthorised": Misconfigured, "forbidden": Misconfigured,
    "unknown_model": Misconfigured, "no_credit": Misconfigured,
}  # fmt: skip


@pytest.mark.parametrize("fault", RAISED)
async def test_a_call_that_fails_is_one_of_the_ports_errors(
    remote: RemoteModel, stub: StubProcess, fault: str
) -> None:
    stub.set_faults(shares={fault: 1})
    with pytest.raises(RAISED[fault]):
        await remote.judge(JUDGING)
    assert len(stub.journal()["entries"]) == 1, "the SDK tried again by itself"


async def test_a_429_says_when_to_come_back(remote: RemoteModel, stub: StubProcess) -> None:
    stub.set_faults(shares={"rate_limited": 1}, retry_after_s=7)
    with pytest.raises(Overloaded) as caught:
        await remote.judge(JUDGING)
    assert caught.value.after_s == 7


TOLD: dict[str, str | None] = {
    "truncated": "truncated", "refused": "refused", "empty": "empty", "several_objects": "several",
    "missing_fields": "schema", "confidence_out_of_range": "schema", "unknown_ruling": "schema",
    "context_too_long": "too_long", "too_large": "too_long", "unprocessable": "not_accepted",
    "prose_around": None, "ghost_citations": None,
}  # fmt: skip


@pytest.mark.parametrize("fault", TOLD)
async def test_a_reply_without_a_draft_says_why(
    remote: RemoteModel, stub: StubProcess, fault: str
) -> None:
    stub.set_faults(shares={fault: 1})
    reply = await remote.judge(JUDGING)
    assert reply.failure == TOLD[fault]
    assert (reply.draft is None) == (TOLD[fault] is not None)
    assert (reply.problem is None) == (TOLD[fault] is None)


async def test_what_is_asked_is_what_the_sdks_own_types_describe(
    remote: RemoteModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bodies go to the SDK as bytes, past its typed methods."""
    asked: list[dict[str, Any]] = []

    def noted(request: dict[str, Any]) -> bytes:
        asked.append(request)
        return as_json(request)

    for adapter in (anthropic_messages, openai_chat):
        monkeypatch.setattr(adapter, "as_json", noted)
    await remote.extract(EXTRACTION)
    await remote.judge(replace(JUDGING, correction="cite a field", previous_reply="?"))
    await remote.judge(replace(JUDGING, tools=TOOLS))
    await remote.write_letter(LETTER)
    assert len(asked) >= 5, "the judge with tools asks twice at least"
    shape = MessageCreate if remote.provider == "anthropic" else CompletionCreate
    for request in asked:
        TypeAdapter(shape).validate_python(request)
        assert set(request) <= set(get_type_hints(shape)), "a parameter that the API does not know"


async def test_a_judge_with_tools_is_answered_from_the_snapshot_and_what_it_saw_is_kept(
    remote: RemoteModel, stub: StubProcess
) -> None:
    reply = await remote.judge(replace(JUDGING, tools=TOOLS))
    assert reply.draft is not None
    assert reply.seen
    assert reply.usage.tool_turns >= 1
    assert reply.usage.calls == reply.usage.tool_turns + 1 == len(stub.journal()["entries"])


@pytest.mark.parametrize("provider", REMOTE)
async def test_keys_and_names_are_checked_without_a_call(stub: StubProcess, provider: str) -> None:
    good = open_model(provider, stub.environment)
    assert isinstance(good, RemoteModel)
    await good.check()
    bad = open_model(provider, {**stub.environment, KEYS[provider]: "revoked-1"})
    assert isinstance(bad, RemoteModel)
    with pytest.raises(Misconfigured, match=KEYS[provider]) as caught:
        await bad.check()
    assert "revoked-1" not in str(caught.value)
    assert stub.journal()["kinds"].get("judging", 0) == 0


@pytest.mark.parametrize("provider", REMOTE)
def test_a_provider_that_cannot_be_asked_at_the_start_is_a_doubt_and_no_error(
    provider: str,
) -> None:
    nowhere = {
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "MOONSHOT_BASE_URL": "http://127.0.0.1:9/v1", KEYS[provider]: "sk-any",
    }  # fmt: skip
    [doubt] = check_models([open_model(provider, nowhere)])
    assert "127.0.0.1:9" in doubt
    assert "sk-any" not in doubt


@pytest.mark.parametrize(
    "text",
    ["खाना ठंडा था और एक खिचड़ी नहीं आई।", "Ounje mi ko de, okan ninu khichdi ko si nibe.", "Dem no bring my khichdi o.", "!!!"],
    ids=["Hindi", "Yoruba", "Pidgin", "no language"],
)  # fmt: skip
async def test_a_complaint_in_any_language_is_an_answer_and_no_error(
    model: Model, text: str
) -> None:
    reply = await model.extract(replace(EXTRACTION, text=text))
    assert reply.draft is not None


async def test_evidence_of_a_megabyte_and_none_are_answers_and_no_errors(model: Model) -> None:
    for evidence in ({}, {"packing_scan": [{"note": "x" * 1_000_000}]}):
        reply = await model.judge(replace(JUDGING, evidence=evidence))
        assert reply.draft is not None or reply.failure == "too_long"


async def test_later_judges_of_one_snapshot_read_it_from_the_cache(stub: StubProcess) -> None:
    """A prompt has to be long enough to be cached at all; this one's evidence makes it so."""
    environment = {**stub.environment, "REFUND_BENCH_LLM_CACHE": "lead"}
    model = open_model("anthropic", environment)
    assert isinstance(model, RemoteModel)
    evidence = {**JUDGING.evidence, "gps_trail": "12.9716,77.5946 " * 600}
    claims = [
        JUDGING.claim.model_copy(update={"text": f"{n} khichdi did not arrive."}) for n in range(4)
    ]
    try:
        tasks = [replace(JUDGING, evidence=evidence, claim=claim) for claim in claims]
        replies = await asyncio.gather(*map(model.judge, tasks))
    finally:
        await model.aclose()
    written = [reply.usage.cache_write_tokens for reply in replies]
    read = [reply.usage.cache_read_tokens for reply in replies]
    assert [tokens > 0 for tokens in written] == [True, False, False, False]
    assert [tokens > 0 for tokens in read] == [False, True, True, True]
    entries = stub.journal()["entries"]
    assert sorted(entry["cache_read_tokens"] for entry in entries) == sorted(read)
