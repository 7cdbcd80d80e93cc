"""Every fault in a reply as the stages meet it through the real SDKs: none is believed, none is asked for ever."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import get_args

import pytest

from ops.stub.faults import Kind, ReplyFault, befalling
from schemas.grievance import Grievance
from streams.extraction import extract
from streams.judging import judge
from streams.letters import write
from streams.llm.offline_rules.model import OfflineRules
from streams.llm.registry import open_model
from streams.llm.remote import RemoteModel
from tests.contract.test_stub_answers import CASES, opened
from tests.support.stub import StubProcess
from tests.unit.reading.support import FOOD, now
from tests.unit.reading.test_letters import request as letter_request

pytestmark = pytest.mark.anyio

PROVIDERS = ("anthropic", "openai")
HARMLESS = {"prose_around"}
"""Read all the same: the object in it is the one that was meant."""
FINAL_AT_ONCE = {"refused"}
"""A model that refuses is not asked again."""
DISPUTE, PACK = opened(CASES["food-01-worked-example"])


def reply_faults(kind: Kind) -> list[str]:
    return [fault for fault in befalling(kind) if fault in get_args(ReplyFault)]


@asynccontextmanager
async def model_of(stub: StubProcess, provider: str) -> AsyncIterator[RemoteModel]:
    model = open_model(provider, {**stub.environment, "REFUND_BENCH_PROVIDER": provider})
    assert isinstance(model, RemoteModel)
    try:
        yield model
    finally:
        await model.aclose()


def strike(stub: StubProcess, fault: str, first: int | None) -> None:
    stub.call("DELETE", "/_journal")
    stub.set_faults(shares={fault: 1}, first_attempts=first)


async def a_grievance() -> Grievance:
    _, grievances = await extract(DISPUTE, PACK, OfflineRules(), now)
    return grievances[0]


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_ruling_that_must_not_be_believed_is_asked_for_once_more_and_then_failed(
    stub: StubProcess, provider: str
) -> None:
    grievance = await a_grievance()
    async with model_of(stub, provider) as model:
        for fault in reply_faults("judging"):
            for first in (1, None):
                strike(stub, fault, first)
                ruling = await judge(grievance, 1, PACK, model, now)
                assert ruling is not None
                good = fault in HARMLESS or (first == 1 and fault not in FINAL_AT_ONCE)
                assert ruling.ruling == ("UPHELD" if good else "FAILED"), (fault, first)
                asks = 1 if fault in HARMLESS | FINAL_AT_ONCE else 2
                assert (ruling.usage.calls, stub.journal()["calls"]) == (asks, asks), fault


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_an_extraction_that_must_not_be_believed_is_asked_for_once_more_and_then_a_persons(
    stub: StubProcess, provider: str
) -> None:
    wanted, _ = await extract(DISPUTE, PACK, OfflineRules(), now)
    async with model_of(stub, provider) as model:
        for fault in reply_faults("extraction"):
            for first in (1, None):
                strike(stub, fault, first)
                docket, _ = await extract(DISPUTE, PACK, model, now)
                good = fault in HARMLESS or (first == 1 and fault not in FINAL_AT_ONCE)
                found = docket.outcome, docket.claims
                assert found == ((None, wanted.claims) if good else ("extraction_failed", ())), (
                    fault, first,
                )  # fmt: skip
                asks = 1 if fault in HARMLESS | FINAL_AT_ONCE else 2
                assert (docket.usage.calls, stub.journal()["calls"]) == (asks, asks), fault


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_letter_that_must_not_be_sent_is_asked_for_once_more_and_then_the_template(
    stub: StubProcess, provider: str
) -> None:
    asked = letter_request()
    wanted = await write(asked, FOOD, OfflineRules(), now)
    async with model_of(stub, provider) as model:
        for fault in reply_faults("letter"):
            for first in (1, None):
                strike(stub, fault, first)
                letter = await write(asked, FOOD, model, now)
                good = first == 1 and fault not in FINAL_AT_ONCE
                assert letter.written_by == ("model" if good else "template"), (fault, first)
                assert letter.body == wanted.body
                assert stub.journal()["calls"] <= 2


async def test_a_model_that_obeys_the_customer_is_believed_only_where_the_record_can_be_cited(
    stub: StubProcess,
) -> None:
    stub.set_faults(shares={"obedient": 1})
    _, grievances = await extract(DISPUTE, PACK, OfflineRules(), now)
    async with model_of(stub, "anthropic") as model:
        rulings = [await judge(one, 1, PACK, model, now) for one in grievances]
    for one, ruling in zip(grievances, rulings, strict=True):
        assert ruling is not None
        assert (ruling.ruling == "UPHELD") <= any(
            one.evidence.get(field) is not None for field in ruling.citations
        )
