"""What the money chaos files and how it counts: by the gateway's own file, per pay scope."""

from collections import Counter
from pathlib import Path

import pytest

from ops.chaos.money_count import paid_more_than_once
from ops.chaos.money_orders import disputes
from ops.local.gateway_ledger import RefundLedger
from schemas.ids import normalise_text
from tests.support.gateway import a_request


@pytest.mark.parametrize(
    ("second", "found"),
    [
        ({"order_id": "o-1", "scopes": ["L1#2"]}, []),
        ({"order_id": "o-2", "scopes": ["L1#1"]}, []),
        ({"order_id": "o-1", "scopes": ["L1#1", "L1#2"]}, ["o-1 L1#1"]),
        ({"order_id": "o-1", "scopes": ["LATE", "L1#1"]}, ["o-1 L1#1", "o-1 LATE"]),
        ({"order_id": "o-2", "scopes": ["tx:T-1"]}, ["tx:T-1"]),
    ],
    ids=["another unit", "another order", "a unit again", "two again", "a transaction elsewhere"],
)
def test_a_pay_scope_paid_under_two_keys_is_counted(
    tmp_path: Path, second: dict[str, object], found: list[str]
) -> None:
    file = tmp_path / "gateway.sqlite"
    ledger = RefundLedger(file)
    ledger.pay(a_request(order_id="o-1", scopes=["L1#1", "LATE", "tx:T-1"]), None)
    ledger.pay(a_request(**second), None)
    ledger.close()
    assert paid_more_than_once(file) == found


def test_a_key_paid_again_after_the_gateway_forgot_it_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "gateway.sqlite"
    ledger, request = RefundLedger(file), a_request(order_id="o-1", scopes=["LATE"])
    ledger.pay(request, None)
    ledger.pay(request, 0)
    ledger.close()
    assert paid_more_than_once(file) == ["o-1 LATE"]


def test_disputes_share_orders_and_customers_and_none_is_a_repeat() -> None:
    groups = disputes(120, seed=3)
    cases = [case for group in groups for case in group]
    assert len(cases) == 120
    assert groups == disputes(120, seed=3)
    complaints = [case["complaint"] for case in cases]
    texts = {(one["order_id"], normalise_text(one["text"])) for one in complaints}
    assert len(texts) == 120
    orders = Counter(one["order_id"] for one in complaints)
    customers = Counter(one["customer_id"] for one in complaints)
    assert max(orders.values()) == 4
    assert max(customers.values()) > 4
