"""The payment that is refunded: from the evidence to the gateway, for the rules' part and a person's."""

from typing import Any

import pytest

from streams.payout import refund_request
from streams.proposing import charge_in
from tests.unit.stages.events import SEAL, a_review, as_decided, as_paid
from tests.unit.stages.test_settlement import DOCKET, RECORD, Order, verdicts


def test_the_charge_comes_from_the_evidence_and_outlives_it_for_a_persons_review() -> None:
    order = Order()
    order.take(DOCKET.model_copy(update={"evidence": {**RECORD, "payment_reference": "ch_1"}}))
    order.take(*verdicts("ESCALATE", "UPHELD"))
    decision = as_decided(order.proposals[0])
    order.take(decision, as_paid(decision), a_review("approve"))
    assert [proposal.charge for proposal in order.proposals] == ["ch_1", "ch_1"]
    assert refund_request(SEAL.sealed(decision)).charge == "ch_1"


@pytest.mark.parametrize("said", [None, 7, "", "two words", "x" * 201, ["ch_1"]])
def test_a_reference_that_is_none_is_left_out(said: Any) -> None:
    assert charge_in({"payment_reference": said}) is None
    assert charge_in(None) is None
