"""The embedded gateway: each fault as payout meets it, and a file that keeps what was answered."""

import sqlite3
import time
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from streams.payments.embedded import EmbeddedGateway
from streams.payments.http_gateway import HttpGateway
from streams.payments.port import GatewayRefused, GatewayUnavailable
from tests.support.gateway import GatewayProcess, a_request, gateway_process
from tests.support.wait import until

pytestmark = pytest.mark.anyio


async def test_failing_before_paying_is_an_unknown_outcome_and_paying_later_works(
    http: HttpGateway, process: GatewayProcess
) -> None:
    process.set_faults(fail_before=1, first_attempts=1)
    request = a_request()
    with pytest.raises(GatewayUnavailable):
        await http.refund(request)
    assert await http.look_up(request) is None
    await http.refund(request)
    assert len(process.refunds(request.key)) == 1


@pytest.mark.parametrize("how", ["500", "reset"])
async def test_failing_after_paying_is_found_by_look_up_and_not_paid_again(
    http: HttpGateway, process: GatewayProcess, how: str
) -> None:
    process.set_faults(fail_after=1, fail_after_with=how, first_attempts=1)
    request = a_request()
    with pytest.raises(GatewayUnavailable):
        await http.refund(request)
    found = await http.look_up(request)
    assert found is not None
    assert await http.refund(request) == found
    assert len(process.refunds(request.key)) == 1


async def test_a_timeout_after_paying_is_an_unknown_outcome(process: GatewayProcess) -> None:
    process.set_faults(latency_s=0.6, first_attempts=0)
    request = a_request()
    async with HttpGateway(process.url, timeout_s=0.2) as hasty:
        with pytest.raises(GatewayUnavailable):
            await hasty.refund(request)
    paid = until(lambda: process.refunds(request.key))
    async with HttpGateway(process.url) as patient:
        refund = await patient.refund(request)
    assert [refund.gateway_ref] == [one["gateway_ref"] for one in paid]


async def test_an_answer_that_comes_too_late_is_found_by_look_up(process: GatewayProcess) -> None:
    process.set_faults(late_answer=1, late_answer_s=1)
    request = a_request()
    async with HttpGateway(process.url, timeout_s=0.3) as hasty:
        with pytest.raises(GatewayUnavailable):
            await hasty.refund(request)
        assert await hasty.look_up(request) is not None
    assert len(process.refunds(request.key)) == 1


async def test_a_request_delivered_twice_at_once_pays_once(
    http: HttpGateway, process: GatewayProcess
) -> None:
    process.set_faults(deliver_twice=1, forget_keys_after_s=60)
    request = a_request()
    await http.refund(request)
    assert len(process.refunds(request.key)) == 1


async def test_a_failure_that_the_gateway_keeps_does_not_hold_the_payment_for_ever(
    http: HttpGateway, process: GatewayProcess
) -> None:
    process.set_faults(fail_before=1, first_attempts=1, store_errors=True)
    request = a_request()
    with pytest.raises(GatewayUnavailable):
        await http.refund(request)
    refund = await http.refund(request)
    assert await http.look_up(request) == refund
    assert [one["key"] for one in process.refunds(request.key)] == [f"{request.key}:2"]


async def test_a_kept_failure_of_a_payment_that_was_made_is_not_paid_again(
    http: HttpGateway, process: GatewayProcess
) -> None:
    process.set_faults(fail_after=1, store_errors=True)
    request = a_request()
    with pytest.raises(GatewayUnavailable):
        await http.refund(request)
    assert await http.refund(request) == await http.look_up(request)
    assert len(process.refunds(request.key)) == 1


async def test_faults_given_at_the_start_are_there_after_a_kill(tmp_path: Path) -> None:
    with gateway_process(tmp_path, "--faults", '{"seed": 9, "deliver_twice": 0.5}') as process:
        process.kill()
        process.start()
        assert process.call("GET", "/faults")["deliver_twice"] == 0.5


async def test_latency_is_drawn_from_its_range(http: HttpGateway, process: GatewayProcess) -> None:
    process.set_faults(latency_s=[0.1, 0.15])
    started = time.monotonic()
    await http.refund(a_request())
    assert time.monotonic() - started >= 0.1


async def test_too_many_requests_says_when_to_come_back(
    http: HttpGateway, process: GatewayProcess
) -> None:
    process.set_faults(rate_limited=1, retry_after_s=3)
    with pytest.raises(GatewayUnavailable) as limited:
        await http.refund(a_request())
    assert limited.value.retry_after_s == 3


async def test_a_duplicate_answer_is_resolved_by_looking_up(
    http: HttpGateway, process: GatewayProcess
) -> None:
    process.set_faults(duplicate_answer=True)
    request = a_request()
    assert await http.refund(request) == await http.refund(request)


async def test_a_failing_look_up_is_not_taken_for_nothing_paid(
    http: HttpGateway, process: GatewayProcess
) -> None:
    request = a_request()
    await http.refund(request)
    process.set_faults(fail_look_up=1)
    with pytest.raises(GatewayUnavailable):
        await http.look_up(request)


async def test_a_forgotten_key_pays_again_but_its_reference_is_still_found(
    http: HttpGateway, process: GatewayProcess
) -> None:
    request = a_request()
    first = await http.refund(request)
    process.set_faults(forget_keys_after_s=0)
    assert await http.look_up(request) == first
    assert await http.refund(request) != first, "the trap a caller who does not look up falls into"
    assert len(process.refunds(request.key)) == 2


async def test_refusals_are_definite_and_the_same_each_time(
    http: HttpGateway, process: GatewayProcess
) -> None:
    process.set_faults(refuse=[{"code": "account_closed", "order_ids": ["closed-1"]}])
    request = a_request(order_id="closed-1")
    for _ in range(2):
        with pytest.raises(GatewayRefused) as refused:
            await http.refund(request)
        assert refused.value.code == "account_closed"
    assert await http.look_up(request) is None
    await http.refund(a_request())


async def test_a_share_of_keys_is_refused_by_seed(
    http: HttpGateway, process: GatewayProcess
) -> None:
    requests = [a_request(key=f"seeded-{number}") for number in range(40)]

    async def refused() -> set[str]:
        keys = set()
        for request in requests:
            try:
                await http.refund(request)
            except GatewayRefused:
                keys.add(request.key)
        return keys

    process.set_faults(seed=7, refuse=[{"code": "already_refunded", "probability": 0.5}])
    first = await refused()
    assert 8 < len(first) < 32
    assert await refused() == first


async def test_a_misspelt_fault_is_refused_and_changes_nothing(process: GatewayProcess) -> None:
    process.set_faults(seed=5)
    with pytest.raises(OSError, match="400"):
        process.set_faults(fail_befor=1)
    assert process.call("GET", "/faults")["seed"] == 5
    assert process.call("DELETE", "/faults")["seed"] == 0


async def test_what_was_answered_survives_kill_9(tmp_path: Path) -> None:
    with gateway_process(tmp_path) as process:
        async with HttpGateway(process.url) as http:
            request = a_request()
            refund = await http.refund(request)
            process.kill()
            with pytest.raises(GatewayUnavailable):
                await http.look_up(request)
            process.start()
            assert await http.look_up(request) == refund
            assert await http.refund(request) == refund


async def test_a_real_gateway_refuses_what_was_simulated(tmp_path: Path) -> None:
    with gateway_process(tmp_path, "--real") as process:
        assert process.call("GET", "/health") == {"ok": True, "kind": "real"}
        async with HttpGateway(process.url) as http:
            with pytest.raises(GatewayRefused) as refused:
                await http.refund(a_request())
            assert refused.value.code == "simulated_not_allowed"
            await http.refund(a_request(simulated=False))


async def test_a_real_gateway_called_embedded_is_sent_no_simulated_ruling(tmp_path: Path) -> None:
    with gateway_process(tmp_path, "--real") as process:
        async with EmbeddedGateway(process.url) as mistaken:
            request = a_request()
            with pytest.raises(GatewayRefused, match="simulated_not_allowed"):
                await mistaken.refund(request)
            process.kill()
            with pytest.raises(GatewayUnavailable):
                await mistaken.refund(request)


async def test_every_refund_is_listed_page_by_page_with_its_scopes(
    http: HttpGateway, process: GatewayProcess
) -> None:
    requests = [a_request() for _ in range(5)]
    for request in requests:
        await http.refund(request)
    listed: list[dict[str, Any]] = []
    page = process.call("GET", "/refunds?limit=2")
    while page["refunds"]:
        listed += page["refunds"]
        page = process.call("GET", f"/refunds?limit=2&after={page['next']}")
    assert [one["key"] for one in listed[-5:]] == [request.key for request in requests]
    assert listed[-1]["scopes"] == ["L1#1", "L1#2", "LATE"]
    assert listed[-1]["order_id"] == "1840"


async def test_the_file_refuses_to_change_or_forget_money(
    http: HttpGateway, process: GatewayProcess
) -> None:
    await http.refund(a_request())
    with sqlite3.connect(process.db) as db:
        for statement in ("UPDATE refunds SET amount_minor = 1", "DELETE FROM refunds"):
            with pytest.raises(sqlite3.IntegrityError, match="append-only"):
                db.execute(statement)


@pytest.mark.parametrize("body", [b"not json", b"[]", b'{"amount_minor": -5}'])
async def test_nonsense_is_refused_as_invalid(process: GatewayProcess, body: bytes) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.post(
            f"{process.url}/refunds", data=body, headers={"Idempotency-Key": "k"}
        ) as answer,
    ):
        assert answer.status == 400
        assert (await answer.json())["code"] == "invalid_request"


async def test_the_list_of_refunds_comes_page_by_page(
    http: HttpGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streams.payments.http_gateway.PAGE", 2)
    paid = [await http.refund(a_request()) for _ in range(5)]
    listed = [refund async for refund in http.refunds(since=paid[0].created_at)]
    assert listed == paid
