"""Only what our own allowance decided is paid: the seal on a decision, and who asks for it."""

from typing import Any

import pytest

from schemas.settlement import Decision, ScopeShare
from streams.sealing import DecisionSeal, NotSealed
from tests.unit.stages.events import SEAL, a_line, a_proposal, after, as_decided

DECISION = as_decided(a_proposal(a_line(), charge="ch_1"))

CHANGES: dict[str, Any] = {
    "amount_minor": 5_001,
    "decision_id": "d-2:auto",
    "dispute_id": "d-2",
    "order_id": "order-2",
    "settles_under": "order-2",
    "customer_id": "customer-2",
    "currency": "NGN",
    "charge": "ch_2",
    "simulated": True,
    "authorised_by": "person:lead",
    "review_id": "r-1",
    "needs_person": True,
    "tier": 3,
    "pack": DECISION.pack.model_copy(update={"pack_version": 2}),
    "lines": (a_line(scopes=(ScopeShare(scope="L1#2", amount_minor=5_000),)),),
}


def test_a_sealed_decision_survives_its_bytes_and_is_read() -> None:
    sealed = SEAL.sealed(DECISION)
    assert SEAL.read(sealed.to_bytes()) == sealed


@pytest.mark.parametrize("field", CHANGES)
def test_no_field_that_moves_money_can_be_changed_under_a_seal(field: str) -> None:
    changed = SEAL.sealed(DECISION).model_copy(update={field: CHANGES[field]})
    assert getattr(changed, field) != getattr(DECISION, field), "the case changes nothing"
    with pytest.raises(NotSealed):
        SEAL.read(changed.to_bytes())


@pytest.mark.parametrize("seal", [None, "", "v1:", "v1:" + "0" * 64, "é"])
def test_a_decision_with_no_seal_or_another_is_not_read(seal: str | None) -> None:
    forged: Decision = DECISION.model_copy(update={"seal": seal})
    with pytest.raises(NotSealed):
        SEAL.read(forged.to_bytes())


def test_another_installation_cannot_seal() -> None:
    elsewhere = DecisionSeal(b"another installation's key")
    assert not SEAL.holds(elsewhere.sealed(DECISION))


def test_what_does_not_move_money_is_free_to_change() -> None:
    assert SEAL.holds(SEAL.sealed(DECISION).model_copy(update={"at": after(days=1)}))
