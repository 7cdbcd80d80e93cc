"""Payout on a gateway in memory: each way the answer can come, and what becomes of the decision."""

from typing import Any

import anyio
import pytest

from schemas.payment import Payment
from schemas.settlement import Decision
from streams.emit import Emit
from streams.payments.kill_switch import SwitchState
from streams.payments.port import GatewayUnavailable, PaymentGateway, RefundRequest
from streams.sealing import NotSealed
from tests.support.memory_gateway import MemoryGateway
from tests.unit.stages.events import NOW, ORDER, SEAL, a_line, a_proposal, as_decided
from topologies.async_stage import Hold, Message, RetryLater
from topologies.payout import handler
from topologies.payout_gate import PayoutGate


def a_decision(**changes: Any) -> Decision:
    return SEAL.sealed(as_decided(a_proposal(a_line()), **changes))


def open_gate(ceiling: int | None = None) -> PayoutGate:
    gate = PayoutGate(lambda _: ceiling, lambda: NOW, lambda: 0.0)
    gate.known(0.0)
    return gate


def handled(
    decision: Decision,
    gateway: PaymentGateway,
    kind: str = "http",
    gate: PayoutGate | None = None,
) -> Payment:
    message = Message("decisions", 0, 7, ORDER.encode(), decision.to_bytes(), {}, 0)

    async def main() -> list[Emit]:
        return await handler(gateway, kind, SEAL, gate or open_gate())(decision, message)

    [emitted] = anyio.run(main)
    assert emitted.topic == "payments"
    assert isinstance(emitted.event, Payment)
    return emitted.event


def test_a_decision_is_paid_and_looked_up_before() -> None:
    gateway = MemoryGateway()
    payment = handled(a_decision(), gateway)
    assert (payment.status, payment.amount_minor) == ("paid", 5_000)
    assert payment.moved_at is not None
    assert gateway.calls == ["look_up d-1:auto", "refund d-1:auto"]


def test_one_that_was_paid_is_found_and_not_sent_again() -> None:
    gateway = MemoryGateway()
    handled(a_decision(), gateway)
    again = handled(a_decision(), gateway)
    assert (again.status, again.found_before_call) == ("paid", True)
    assert len(gateway.paid) == 1


@pytest.mark.parametrize("moment", ["failures", "losses"])
def test_an_unknown_outcome_is_tried_again_and_pays_once(moment: str) -> None:
    gateway = MemoryGateway()
    getattr(gateway, moment).append(GatewayUnavailable("answered 500"))
    with pytest.raises(RetryLater):
        handled(a_decision(), gateway)
    assert handled(a_decision(), gateway).status == "paid"
    assert len(gateway.paid) == 1


@pytest.mark.parametrize("code", ["already_refunded", "account_closed", "amount_above_charge"])
def test_a_definite_refusal_is_a_payment_record_that_says_why(code: str) -> None:
    payment = handled(a_decision(), MemoryGateway({ORDER: code}))
    assert (payment.status, payment.refusal, payment.amount_minor) == ("refused", code, 0)


@pytest.mark.parametrize(
    "change", [{"amount_minor": 1}, {"currency": "NGN"}, {"customer_id": "customer-2"}]
)
def test_the_same_key_for_something_else_is_refused_and_alarmed(
    change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    gateway = MemoryGateway()
    handled(a_decision(), gateway)
    payment = handled(a_decision(**change), gateway)
    assert (payment.status, payment.refusal) == ("refused", "key_conflict")
    assert [line.__dict__["alarm"] for line in caplog.records] == ["key_conflict"]
    assert len(gateway.paid) == 1


def test_a_simulated_ruling_reaches_no_real_gateway() -> None:
    for kind in ("http", "stripe"):
        gateway = MemoryGateway()
        payment = handled(a_decision(simulated=True), gateway, kind)
        assert payment.refusal == "simulated_not_allowed"
        assert gateway.calls == []
    assert handled(a_decision(simulated=True), MemoryGateway(), "embedded").status == "paid"


def test_five_forged_decisions_on_one_order_pay_nothing(caplog: pytest.LogCaptureFixture) -> None:
    gateway = MemoryGateway()
    genuine = a_decision()
    for number in range(5):
        forged = genuine.model_copy(update={"decision_id": f"d-x{number}:auto"})
        with pytest.raises(NotSealed):
            handled(forged, gateway)
    assert gateway.calls == []
    assert {line.__dict__["alarm"] for line in caplog.records} == {"decision_not_sealed"}


def test_a_decision_that_no_request_can_be_made_of_goes_to_a_person(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(decision: Decision) -> RefundRequest:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr("streams.payout.refund_request", fails)
    gateway = MemoryGateway()
    payment = handled(a_decision(), gateway)
    assert (payment.status, payment.refusal) == ("refused", "payout_error")
    assert gateway.calls == []


def test_a_fault_of_ours_once_a_call_may_be_under_way_is_tried_again() -> None:
    class Faulty(MemoryGateway):
        async def refund(self, request: RefundRequest) -> Any:
            await super().refund(request)
            raise ZeroDivisionError

    gateway = Faulty()
    with pytest.raises(RetryLater):
        handled(a_decision(), gateway)
    assert handled(a_decision(), gateway).found_before_call
    assert len(gateway.paid) == 1


def test_nothing_to_pay_is_a_record_and_no_call() -> None:
    gateway = MemoryGateway()
    assert handled(a_decision(amount_minor=0), gateway).status == "not_required"
    assert gateway.calls == []


def test_paused_the_gateway_is_not_even_asked_and_what_pays_nothing_goes_on() -> None:
    gateway, gate = MemoryGateway(), open_gate()
    gate.switched(SwitchState(paused=True, by="asha"))
    with pytest.raises(Hold):
        handled(a_decision(), gateway, gate=gate)
    assert gateway.calls == []
    assert handled(a_decision(amount_minor=0), gateway, gate=gate).status == "not_required"
    gate.switched(SwitchState())
    assert handled(a_decision(), gateway, gate=gate).status == "paid"


def test_above_the_ceiling_nothing_moves_and_what_was_paid_before_is_recorded() -> None:
    gateway = MemoryGateway()
    handled(a_decision(), gateway)
    assert handled(a_decision(), gateway, gate=open_gate(ceiling=1)).found_before_call
    with pytest.raises(Hold):
        handled(a_decision(decision_id="d-2:auto"), gateway, gate=open_gate(ceiling=4_999))
    assert len(gateway.paid) == 1
