"""The auditor's sum: what the rulings say of their calls is what the provider's own journal says."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from schemas.ids import grievance_id
from schemas.ruling import Ruling
from streams.llm.catalogue import load
from streams.llm.port import Model
from streams.llm.remote import RemoteModel
from tests.support.stub import StubProcess
from tests.unit.reading.test_judging import grievance
from topologies import judge, models
from topologies.async_stage import Message, Output, RetryLater
from topologies.async_stage.call_runner import Handler
from topologies.models import Gates, asked_model
from topologies.network_stage import now
from topologies.settings import Settings

pytestmark = pytest.mark.anyio

READ = {None, "ghost_citations", "truncated", "unknown_ruling"}
"""Fates of a call that gave an answer, which is what a provider charges for and we get to see."""


async def until_it_rules(handler: Handler, message: Message) -> Output:
    while True:
        try:
            [out] = await handler(message)
            return out
        except RetryLater:
            message = replace(message, attempt=message.attempt + 1)


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
async def test_calls_retries_tokens_and_cost_are_the_journals(
    stub: StubProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    limits = tmp_path / "limits.toml"
    limits.write_text(f"[{provider}]\nrequests_per_minute = 1000000\n")
    given = {"REFUND_BENCH_LLM_CACHE": "off", "REFUND_BENCH_LLM_LIMITS": str(limits)}
    for name, value in {**stub.environment, **given}.items():
        monkeypatch.setenv(name, value)
    opened: list[Model] = []

    def kept(*given: Any, **more: Any) -> Model:
        opened.append(asked_model(*given, **more))
        return opened[-1]

    monkeypatch.setattr(models, "asked_model", kept)
    settings = Settings.from_environment(
        {
            "REFUND_BENCH_INSTALLATION_KEY": "a long enough test key", "REFUND_BENCH_PROVIDER": provider,
            "REFUND_BENCH_STATE_DIR": str(tmp_path),
        }
    )  # fmt: skip
    stub.set_faults(
        shares={
            "rate_limited": 0.15, "server_error": 0.1, "broken_json": 0.1, "reset_before": 0.05,
            "ghost_citations": 0.2, "truncated": 0.1, "unknown_ruling": 0.1,
        },
        retry_after_s=0,
    )  # fmt: skip
    handler = judge.stage(settings, Gates(settings, ["judge-1"]), 1).handler
    names = [grievance_id(f"d-{i}", 1) for i in range(40)]
    claims = [grievance(grievance_id=name, at=now()) for name in names]
    texts = [
        one.model_copy(update={"claim": one.claim.model_copy(update={"text": f"Khichdi {i} is gone."})})
        for i, one in enumerate(claims)
    ]  # fmt: skip
    messages = [Message("grievances", 0, i, None, one.to_bytes()) for i, one in enumerate(texts)]
    outs = await asyncio.gather(*(until_it_rules(handler, message) for message in messages))
    for model in opened:
        assert isinstance(model, RemoteModel)
        await model.aclose()
    usages = [Ruling.from_bytes(out.value).usage for out in outs]

    entries = stub.journal()["entries"]
    read = [entry for entry in entries if entry["fault"] in READ]
    assert sum(u.calls for u in usages) == len(read)
    assert sum(u.retries for u in usages) == len(entries) - len(read) > 10
    assert sum(u.re_asks for u in usages) > 5
    assert sum(u.input_tokens for u in usages) == sum(e["input_tokens"] for e in read)
    assert sum(u.output_tokens for u in usages) == sum(e["output_tokens"] for e in read)
    _, facts = load().model(provider, "default")
    cost = sum(facts.input * e["input_tokens"] + facts.output * e["output_tokens"] for e in read)
    assert abs(sum(u.cost_micros for u in usages) - cost) <= len(read)
