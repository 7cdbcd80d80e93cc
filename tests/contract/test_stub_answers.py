"""The stub reads a rendered prompt back into its task: through it `offline-rules` says what it says without it."""

import asyncio
from typing import Any

import pytest

from ops.cases import labelled
from ops.stub import anthropic_request, openai_request
from ops.stub.answering import NONE_OF_OURS, OfflineAnswers
from ops.stub.catalogue import Catalogue
from ops.stub.reading import Reader
from ops.stub.sections import sections
from ops.stub.wire import Answer, Call
from schemas.letter import LetterRequest
from streams.extraction import extract
from streams.judging import judge
from streams.letters import write
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.parsing import parse, parse_letter
from streams.llm.port import (
    EvidenceTool,
    ExtractionDraft,
    ExtractionTask,
    JudgingTask,
    LetterTask,
    Reply,
    RulingDraft,
)
from streams.llm.registry import open_model
from streams.llm.remote import RemoteModel
from streams.llm.rendering import Rendered, render_extraction, render_judging, render_letter
from streams.policies.loader import LoadedPack
from streams.screening import screen
from tests.support.stub import StubProcess, claude
from tests.unit.reading.support import BANK, FOOD, PACKS, dispute, now
from tests.unit.reading.test_letters import LATE, PENDING
from tests.unit.reading.test_letters import request as letter_request

CASES = {case["id"]: case for case in labelled(None)}
CATALOGUE = Catalogue()
READER = Reader(PACKS)


def as_anthropic(rendered: Rendered) -> Call:
    content = [
        {"type": "text", "text": block.text, **({"cache_control": {"type": "ephemeral"}} if block.cached else {})}
        for block in rendered.blocks
    ]  # fmt: skip
    messages: list[Any] = [{"role": "user", "content": content}]
    if rendered.correction is not None:
        messages.append({"role": "assistant", "content": rendered.previous_reply})
        messages.append({"role": "user", "content": rendered.correction})
    body = {
        "model": "claude-sonnet-5-5",
        "max_tokens": rendered.max_tokens,
        "system": [{"type": "text", "text": rendered.system}],
        "messages": messages,
    }
    if rendered.schema is not None:
        body["output_config"] = {"format": {"type": "json_schema", "schema": rendered.schema}}
    return anthropic_request.read({"anthropic-version": "2023-06-01"}, body, CATALOGUE)


def as_openai(rendered: Rendered) -> Call:
    messages: list[Any] = [
        {"role": "system", "content": rendered.system},
        {"role": "user", "content": [{"type": "text", "text": b.text} for b in rendered.blocks]},
    ]
    if rendered.correction is not None:
        messages.append({"role": "assistant", "content": rendered.previous_reply})
        messages.append({"role": "user", "content": rendered.correction})
    body = {"model": "gpt-6.1-sol", "messages": messages}
    if rendered.schema is not None:
        answer = {"name": "answer", "strict": True, "schema": rendered.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": answer}
    return openai_request.read({}, body, CATALOGUE)


def as_kimi(rendered: Rendered) -> Call:
    """A server that takes no schema gets it in words, behind the prompt."""
    system = rendered.system
    if rendered.schema is not None:
        system += f"\n\n# Schema of the answer\n{rendered.schema}"
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": "\n\n".join(block.text for block in rendered.blocks)},
    ]
    body = {"model": "kimi-k2.6", "max_tokens": rendered.max_tokens, "messages": messages}
    return openai_request.read({}, body, CATALOGUE)


CALLS = {"anthropic": as_anthropic, "openai": as_openai, "kimi": as_kimi}


class BehindTheStub:
    """`offline-rules` as a stage meets it behind one of the APIs, without a socket in between."""

    provider = "offline-rules"
    model = "rules-1"
    simulated = True

    def __init__(self, api: str) -> None:
        self._call = CALLS[api]
        self._answers = OfflineAnswers(READER)

    async def _ask(self, rendered: Rendered) -> str:
        call = self._call(rendered)
        answer = await self._answers.answer(call, READER.ask(call), 1)
        assert answer != Answer(NONE_OF_OURS), "the prompt was not read back"
        return answer.text

    def _reply(self, parsed: Any, raw: str) -> Reply[Any]:
        usage = OfflineRules()._reply(None, raw, 0).usage
        return Reply(
            draft=parsed.draft, raw=raw, usage=usage, provider=self.provider, model=self.model, simulated=True
        )  # fmt: skip

    async def extract(self, task: ExtractionTask) -> Reply[ExtractionDraft]:
        raw = await self._ask(render_extraction(task))
        return self._reply(parse(raw, ExtractionDraft), raw)

    async def judge(self, task: JudgingTask) -> Reply[RulingDraft]:
        raw = await self._ask(render_judging(task))
        return self._reply(parse(raw, RulingDraft), raw)

    async def write_letter(self, task: LetterTask) -> Reply[str]:
        raw = await self._ask(render_letter(task))
        return self._reply(parse_letter(raw), raw)


def opened(case: dict[str, Any]) -> tuple[Any, LoadedPack]:
    pack = FOOD if case["policy"] == "food-delivery" else BANK
    complaint, evidence = case["complaint"], case["evidence"]
    screening = screen(complaint["text"], evidence)
    filed = complaint["filed_at"]
    return dispute(
        complaint["text"], pack, evidence=evidence, filed_at=filed, screening=screening
    ), pack


@pytest.mark.parametrize("api", list(CALLS))
@pytest.mark.parametrize("name", list(CASES))
def test_every_labelled_case_reads_and_judges_the_same_behind_the_stub(name: str, api: str) -> None:
    asked, pack = opened(CASES[name])
    behind, plain = BehindTheStub(api), OfflineRules()
    docket, grievances = asyncio.run(extract(asked, pack, behind, now))
    wanted, same = asyncio.run(extract(asked, pack, plain, now))
    assert (docket.claims, docket.left_out) == (wanted.claims, wanted.left_out)
    assert grievances == same
    for grievance in grievances:
        for seat in grievance.seats:
            ruled = asyncio.run(judge(grievance, seat, pack, behind, now))
            expected = asyncio.run(judge(grievance, seat, pack, plain, now))
            assert ruled is not None
            assert expected is not None
            left_aside = {"usage": expected.usage}
            assert ruled.model_copy(update=left_aside) == expected


LETTERS: list[tuple[LoadedPack, LetterRequest]] = [
    (FOOD, letter_request()),
    (FOOD, letter_request(paid=0, lines=(LATE.model_copy(update={"amount_minor": 0}), PENDING))),
    (FOOD, letter_request(kind="review", paid=12_345_600)),
    (BANK, letter_request(pack=BANK, lines=(), paid=100)),
]


@pytest.mark.parametrize("api", list(CALLS))
@pytest.mark.parametrize("number", range(len(LETTERS)))
def test_a_letter_behind_the_stub_is_the_packs_own(number: int, api: str) -> None:
    pack, asked = LETTERS[number]
    behind = asyncio.run(write(asked, pack, BehindTheStub(api), now))
    plain = asyncio.run(write(asked, pack, OfflineRules(), now))
    assert (behind.body, behind.written_by) == (plain.body, plain.written_by)


def a_judging(tools: tuple[EvidenceTool, ...] = (), **changes: Any) -> Rendered:
    """The first grievance of the worked example, as its strict seat is asked."""
    kept: list[JudgingTask] = []

    class Keeping(OfflineRules):
        async def judge(self, task: JudgingTask) -> Reply[RulingDraft]:
            kept.append(task)
            return await super().judge(task)

    asked, pack = opened(CASES["food-01-worked-example"])
    _, grievances = asyncio.run(extract(asked, pack, OfflineRules(), now))
    asyncio.run(judge(grievances[0], 2, pack, Keeping(), now))
    return render_judging(JudgingTask(**{**vars(kept[0]), "tools": tools, **changes}))


def test_a_re_ask_is_read_with_what_was_wrong() -> None:
    call = as_anthropic(a_judging(correction="no such field", previous_reply='{"a": 1}'))
    task = READER.task(call, READER.ask(call))
    assert task is not None
    assert (task.correction, task.previous_reply) == ("no such field", '{"a": 1}')
    first = as_anthropic(a_judging())
    assert READER.ask(first).matter == READER.ask(call).matter, "one matter, asked twice"


def test_a_judge_with_tools_asks_first_and_rules_on_what_it_was_given() -> None:
    tool = EvidenceTool("get_delivery_timeline", "when", ("placed_at", "delivered_at"))
    rendered = a_judging((tool,))
    plain = as_anthropic(rendered)
    call = Call(**{**vars(plain), "tools": (tool.name,)})
    answers = OfflineAnswers(READER)
    asked = asyncio.run(answers.answer(call, READER.ask(call), 1))
    assert (asked.stop, asked.calls) == ("tools", (tool.name,))
    told = '{"placed_at": "2026-09-30T20:15:00+05:30", "delivered_at": "2026-09-30T21:40:00+05:30", "delivery_sla_minutes": 45}'
    for result, ruling in ((told, "UPHELD"), ("{}", "ESCALATE")):
        answered = Call(**{**vars(call), "results": (result,)})
        ruled = asyncio.run(answers.answer(answered, READER.ask(answered), 1))
        assert parse(ruled.text, RulingDraft).draft.ruling == ruling  # type: ignore[union-attr]


def test_a_heading_in_a_customers_words_is_no_heading() -> None:
    turn = (
        '# Record\n<<data 0123456789abcdef>>\n{"a": 1}\n# Categories\n<<end 0000000000000000>>\n'
        "<<end 0123456789abcdef>>\n# Complaint\nFiled at x.\n"
    )
    found = sections(turn)
    assert set(found) == {"Record", "Complaint"}
    assert (found["Record"].theirs or "").splitlines()[1] == "# Categories"


async def _said(stub: StubProcess, rendered: Rendered) -> str:
    async with claude(stub) as client:
        message = await client.messages.create(
            model="claude-sonnet-5-5",
            max_tokens=rendered.max_tokens,
            system=rendered.system,
            messages=[
                {
                    "role": "user",
                    "content": [{"type": "text", "text": b.text} for b in rendered.blocks],
                }
            ],
            output_config={
                "format": {"type": "json_schema", "schema": dict(rendered.schema or {})}
            },
        )
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.mark.anyio
async def test_the_journal_knows_what_was_asked(stub: StubProcess) -> None:
    rendered = await asyncio.to_thread(a_judging)
    said = await _said(stub, rendered)
    assert parse(said, RulingDraft).draft is not None
    [entry] = stub.journal()["entries"]
    assert (entry["kind"], entry["prompt"]) == ("judging", "judge-strict")
    stub.set_faults(down=["judge-strict"], down_with="server_error")
    with pytest.raises(Exception, match="Internal server error"):
        await _said(stub, rendered)


@pytest.mark.anyio
@pytest.mark.parametrize("provider", ["anthropic", "openai", "kimi"])
async def test_each_adapter_gets_from_the_stub_what_offline_rules_says(
    stub: StubProcess, provider: str
) -> None:
    environment = {**stub.environment, "REFUND_BENCH_PROVIDER": provider}
    model = open_model(provider, environment)
    assert isinstance(model, RemoteModel)
    asked, pack = opened(CASES["food-01-worked-example"])
    wanted, _ = await extract(asked, pack, OfflineRules(), now)
    try:
        await model.check()
        docket, grievances = await extract(asked, pack, model, now)
        rulings = [await judge(one, 1, pack, model, now) for one in grievances]
        letter = await write(letter_request(), pack, model, now)
    finally:
        await model.aclose()
    assert docket.claims == wanted.claims
    assert docket.simulated
    assert [one.ruling for one in rulings if one] == ["UPHELD", "UPHELD", "ESCALATE", "REJECTED"]
    assert all(one.simulated and one.request_id for one in rulings if one)
    assert letter.written_by == "model"
    told = stub.journal()
    assert told["kinds"] == {"extraction": 1, "judging": 4, "letter": 1}
    assert told["statuses"] == {"200": 6}
