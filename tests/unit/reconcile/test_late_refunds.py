"""A refund made while the gateway's list was read is looked up, by the request that payout made."""

from pathlib import Path

import anyio

from ops.bounded_read import Found
from ops.reconcile.book import Book
from ops.reconcile.reading import look_up_missing
from streams.payout import refund_request
from tests.support.memory_gateway import MemoryGateway
from tests.unit.stages.events import NOW, a_line, a_proposal, as_decided, as_paid


def test_what_the_list_did_not_hold_is_looked_up(tmp_path: Path) -> None:
    decision = as_decided(a_proposal(a_line(), charge="ch_1"))
    nothing = as_decided(a_proposal(dispute="d-2"))
    gateway, book = MemoryGateway(), Book(tmp_path / "book.sqlite")
    anyio.run(gateway.refund, refund_request(decision))
    for offset, each in enumerate((decision, nothing)):
        found = Found("decisions", 0, offset, b"order-1", each.to_bytes(), NOW, {})
        book.decision(each, found, late=False)
        book.payment(as_paid(each), found, late=False)
    anyio.run(look_up_missing, book, gateway)
    assert book.count("refund WHERE key = 'd-1:auto'") == 1
    assert gateway.calls == ["refund d-1:auto", "look_up d-1:auto"]
    book.close()
