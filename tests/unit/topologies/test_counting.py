"""What a message cost is what its calls cost, those of attempts that came to nothing included."""

from dataclasses import replace

import pytest

from schemas.docket import Usage
from schemas.ruling import Ruling
from streams.llm.catalogue import ModelFacts
from streams.llm.meter import NotingTransport
from streams.llm.port import Misconfigured, Model, Overloaded, ProviderDown
from streams.llm.remote import RemoteModel
from streams.llm.wire import Access, Answer
from tests.unit.llm.test_remote import Told
from tests.unit.reading.test_judging import grievance
from topologies import judge, models
from topologies.async_stage import AsyncStage, Message, RetryLater
from topologies.async_stage import ProviderDown as StageProviderDown
from topologies.models import Gates
from topologies.network_stage import now
from topologies.settings import Settings

pytestmark = pytest.mark.anyio

BAD = Answer(text='{"ruling":"UPHELD","confidence":0.9,"citations":["ghost"],"reason":"r"}')
GOOD = Answer(text='{"ruling":"UPHELD","confidence":0.9,"citations":["packing_scan"],"reason":"r"}')


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def stage(told: Told, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncStage:
    facts = ModelFacts(provider="p", input=1, output=1, cache_write=1, cache_read=1)
    access = Access("p", "m", "http://x", "", "", 1, True)
    model: Model = RemoteModel(NotingTransport(told), access, facts)
    monkeypatch.setattr(models, "asked_model", lambda *_, **__: model)
    return judge.stage(settings, Gates(settings, ["judge-1"], {}), 1)


def message() -> Message:
    body = grievance(at=now()).to_bytes()
    return Message("grievances", 0, 7, b"d-1.g1", body)


async def test_calls_of_attempts_that_came_to_nothing_are_on_the_ruling(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Told(BAD, Overloaded(1.0), BAD, ProviderDown(), BAD, GOOD)
    judging, asked = stage(told, settings, monkeypatch), message()
    for _ in range(2):
        with pytest.raises(RetryLater):
            await judging.handler(asked)
        asked = replace(asked, attempt=asked.attempt + 1)
    [out] = await judging.handler(asked)
    usage = Ruling.from_bytes(out.value).usage
    assert usage.calls + usage.retries == len(told.sent) == 6
    assert (usage.calls, usage.re_asks, usage.retries) == (4, 1, 2)
    assert (usage.input_tokens, usage.output_tokens, usage.cost_micros) == (400, 40, 440)


async def test_a_seat_that_gives_up_tells_what_it_spent(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging = stage(Told(BAD, Overloaded()), settings, monkeypatch)
    asked = message()
    with pytest.raises(RetryLater) as given_up:
        await judging.handler(asked)
    assert judging.on_exhausted is not None
    [out] = await judging.on_exhausted(asked, given_up.value)
    ruling = Ruling.from_bytes(out.value)
    assert ruling.ruling == "FAILED"
    assert (ruling.usage.calls, ruling.usage.retries, ruling.usage.cost_micros) == (1, 1, 110)


async def test_messages_are_counted_each_for_itself(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    judging = stage(Told(GOOD), settings, monkeypatch)
    for _ in range(3):
        [out] = await judging.handler(message())
        assert Ruling.from_bytes(out.value).usage == Usage(
            calls=1, input_tokens=100, output_tokens=10, cost_micros=110
        )


@pytest.mark.parametrize(
    ("raised", "stage_does"),
    [
        (Misconfigured("the key is refused (401)"), StageProviderDown),
        (ProviderDown("nobody answers"), StageProviderDown),
        (Overloaded(2.0), RetryLater),
    ],
)
async def test_a_key_that_is_revoked_under_way_pauses_the_stage_like_an_outage(
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    raised: Exception,
    stage_does: type[Exception],
) -> None:
    told = Told(raised)
    with pytest.raises(stage_does):
        await stage(told, settings, monkeypatch).handler(message())
