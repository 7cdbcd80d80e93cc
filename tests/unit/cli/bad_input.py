"""Every kind of bad input the pipeline must survive, as lines of a file, and what must be said of each."""

import copy
from collections.abc import Callable
from typing import Any

import orjson

CASE: dict[str, Any] = {
    "policy": "food-delivery",
    "complaint": {
        "order_id": "order-9001",
        "customer_id": "cust-9001",
        "filed_at": "2026-09-18T22:05:00+05:30",
        "text": "One of the two rotis never came.",
    },
    "evidence": {
        "kind": "food-order",
        "order_id": "order-9001",
        "customer_id": "cust-9001",
        "currency": "INR",
        "placed_at": "2026-09-18T20:15:00+05:30",
        "delivered_at": "2026-09-18T20:45:00+05:30",
        "delivery_sla_minutes": 45,
        "line_items": [
            {"line_id": "L1", "name": "Roti", "quantity": 2, "unit_price_minor": 3000},
            {"line_id": "L2", "name": "Dal", "quantity": 1, "unit_price_minor": 9000},
        ],
        "paid_total_minor": 15000,
        "captured_at": "2026-09-18T22:05:00+05:30",
    },
}


def case(change: Callable[[dict[str, Any]], object] = lambda _: None) -> bytes:
    made = copy.deepcopy(CASE)
    change(made)
    return orjson.dumps(made)


def complaint(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda made: made["complaint"].update(fields)


def evidence(**fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda made: made["evidence"].update(fields)


def line(index: int, **fields: Any) -> Callable[[dict[str, Any]], object]:
    return lambda made: made["evidence"]["line_items"][index].update(fields)


def raw(old: bytes, new: bytes) -> bytes:
    made = case()
    assert old in made
    return made.replace(old, new)


TEXT = b"never came"

REFUSED: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"order-1840 was late", ""),
    "cut off": (case()[:-7], ""),
    "two objects on a line": (b'{"text": "a"} {"text": "b"}', ""),
    "a list": (b"[1, 2]", ""),
    "a number": (b"7", ""),
    "null": (b"null", ""),
    "nested 100,000 deep": (b"[" * 100_000, ""),
    "not UTF-8": (b'{"text": "\xff\xfe"}', ""),
    "NaN": (raw(b"15000", b"NaN"), ""),
    "a number above every double": (raw(b"15000", b"1e999"), ""),
    "none of ours": (b'{"hello": "world"}', ""),
    "complaint is a string": (case(lambda c: c.update(complaint="late!")), "complaint"),
    "evidence is a string": (case(lambda c: c.update(evidence="none")), "evidence"),
    "order id missing": (case(lambda c: c["complaint"].pop("order_id")), "order_id"),
    "order id is a number": (case(complaint(order_id=9001)), "order_id"),
    "order id is empty": (case(complaint(order_id="")), "order_id"),
    "order id with a space": (case(complaint(order_id="order 9001")), "order_id"),
    "order id with NUL": (case(complaint(order_id="order\x009001")), "order_id"),
    "order id with a zero-width character": (case(complaint(order_id="order-\u200b9001")), "order_id"),
    "order id with right-to-left override": (case(complaint(order_id="\u202eorder-9001")), "order_id"),
    "order id too long": (case(complaint(order_id="o" * 201)), "order_id"),
    "customer missing": (case(lambda c: c["complaint"].pop("customer_id")), "customer_id"),
    "text missing": (case(lambda c: c["complaint"].pop("text")), "text"),
    "text empty": (case(complaint(text="")), "text"),
    "text of white space": (case(complaint(text=" \n\t ")), "text"),
    "text of zero-width characters and NUL": (case(complaint(text="\u200b\x00\ufeff")), "text"),
    "text of 200 KB": (case(complaint(text="x" * 200_000)), "text"),
    "text of 200 KB of emoji": (case(complaint(text="😡" * 50_000)), "text"),
    "text is a list": (case(complaint(text=["late"])), "text"),
    "text is null": (case(complaint(text=None)), "text"),
    "lone surrogate in the text": (raw(TEXT, b"\\ud83d"), "text"),
    "lone low surrogate in a name": (raw(b"Roti", b"\\udc00"), "evidence.line_items.0.name"),
    "raw NUL byte": (raw(TEXT, b"\x00"), ""),
    "raw control character": (raw(TEXT, b"\x1b[2J"), ""),
    "policy unknown": (case(lambda c: c.update(policy="parcel-lost")), "policy"),
    "policy missing": (case(lambda c: c.pop("policy")), "policy"),
    "policy is a number": (case(lambda c: c.update(policy=3)), "policy"),
    "filed in the future": (case(complaint(filed_at="2199-01-01T00:00:00Z")), "filed_at"),
    "filed in the year 1": (case(complaint(filed_at="0001-01-01T00:00:00+14:00")), "filed_at"),
    "filed in the year 9999": (case(complaint(filed_at="9999-12-31T23:59:59-14:00")), "filed_at"),
    "filed before 2000": (case(complaint(filed_at="1970-01-01T00:00:00Z")), "filed_at"),
    "filed without a zone": (case(complaint(filed_at="2026-09-18T22:05:00")), "filed_at"),
    "filed at words": (case(complaint(filed_at="yesterday")), "filed_at"),
    "filed at a huge number": (case(complaint(filed_at=10**18)), "filed_at"),
    "filed at true": (case(complaint(filed_at=True)), "filed_at"),
    "evidence for another order": (case(evidence(order_id="order-1")), "evidence.order_id"),
    "evidence for no order": (case(lambda c: c["evidence"].pop("order_id")), "evidence.order_id"),
    "captured in the future": (case(evidence(captured_at="2199-01-01T00:00:00Z")), "evidence.captured_at"),
    "evidence over a message": (case(evidence(note="x" * 2_100_000)), "evidence"),
}  # fmt: skip
"""Refused before it is filed: name → (line, field)."""

TO_A_PERSON: dict[str, tuple[bytes, str]] = {
    "evidence of another customer": (case(evidence(customer_id="cust-1")), "evidence.customer_id"),
    "kind unknown": (case(evidence(kind="parcel")), "evidence.kind"),
    "kind of another policy": (case(evidence(kind="bank-transaction")), "evidence.kind"),
    "kind missing": (case(lambda c: c["evidence"].pop("kind")), "evidence.kind"),
    "currency of elsewhere": (case(evidence(currency="NGN")), "evidence.currency"),
    "currency in words": (case(evidence(currency="rupees")), "evidence.currency"),
    "amount negative": (case(evidence(paid_total_minor=-1)), "evidence.paid_total_minor"),
    "amount a float": (case(evidence(paid_total_minor=150.5)), "evidence.paid_total_minor"),
    "amount a string": (case(evidence(paid_total_minor="15000")), "evidence.paid_total_minor"),
    "amount true": (case(evidence(paid_total_minor=True)), "evidence.paid_total_minor"),
    "amount over 2**53": (case(evidence(paid_total_minor=2**53)), "evidence.paid_total_minor"),
    "amount over 2**64": (raw(b"15000", b"18446744073709551616"), "evidence.paid_total_minor"),
    "unit price negative": (case(line(0, unit_price_minor=-5)), "evidence.line_items.0.unit_price_minor"),
    "quantity nought": (case(line(0, quantity=0)), "evidence.line_items.0.quantity"),
    "quantity a billion": (case(line(0, quantity=10**9)), "evidence.line_items.0.quantity"),
    "duplicate line ids": (case(line(1, line_id="L1")), "evidence.line_items"),
    "no lines": (case(evidence(line_items=[])), "evidence.line_items"),
    "lines are an object": (case(evidence(line_items={"L1": 2})), "evidence.line_items"),
    "discount above the line": (case(line(0, discount_minor=6001)), "evidence.line_items.L1.discount_minor"),
    "more refunded than paid": (
        case(evidence(refunds=[{"refund_id": "r", "amount_minor": 15001}])), "evidence.refunds"
    ),
    "refund of a line that is not there": (
        case(evidence(refunds=[{"refund_id": "r", "amount_minor": 1, "line_id": "L9"}])), "evidence.refunds"
    ),
    "placed after filing": (case(evidence(placed_at="2026-09-19T20:15:00+05:30")), "evidence.delivered_at"),
    "placed in the year 1": (case(evidence(placed_at="0001-01-02T00:00:00Z")), "evidence.placed_at"),
    "delivered before it was placed": (case(evidence(delivered_at="2026-09-18T19:00:00+05:30")), "evidence.delivered_at"),
    "delivered in the year 9999": (
        case(evidence(delivered_at="9999-12-31T23:00:00Z")), "evidence.delivered_at"
    ),
    "a refund in another currency": (
        case(evidence(refunds=[{"refund_id": "r", "amount_minor": 1, "currency": "USD"}])),
        "evidence.refunds.0.currency",
    ),
    "captured without a zone": (case(evidence(captured_at="2026-09-18T22:05:00")), "evidence.captured_at"),
    "captured missing": (case(lambda c: c["evidence"].pop("captured_at")), "evidence.captured_at"),
    "record of 300 KB": (case(evidence(note="x" * 300_000)), "evidence"),
}  # fmt: skip
"""Its complaint can be filed; a person decides, since the record cannot be judged on."""

FINE: dict[str, bytes] = {
    "as it should be": case(),
    "emoji": case(complaint(text="Two rotis 😡🫓 missing 👨‍👩‍👧‍👦")),
    "right to left": case(complaint(text="الطعام لم يصل \u202eabc\u202c")),
    "zero-width characters": case(complaint(text="r\u200bo\u200dt\ufeffi missing")),
    "an escaped NUL": case(complaint(text="roti\x00 missing")),
    "a surrogate pair": raw(TEXT, b"\\ud83d\\ude21"),
    "combining marks": case(complaint(text="Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A̴̵̜̰͔ͫ͗͢ missing")),
    "text of 64 KB": case(complaint(text="x" * 65_536)),
    "fields we do not know": case(evidence(weather="rain", sources=[{"source": "kitchen"}])),
    "no evidence": case(lambda c: c.pop("evidence")),
    "evidence null": case(lambda c: c.update(evidence=None)),
    "an identity and nothing else": case(
        lambda c: c.update(evidence={"kind": "food-order", "order_id": "order-9001"})
    ),
    "a complaint alone": orjson.dumps({**CASE["complaint"], "policy": "food-delivery"}),
    "evidence alone": orjson.dumps(CASE["evidence"]),
}
