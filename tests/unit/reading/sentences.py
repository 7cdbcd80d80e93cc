"""Complaints in our own words, and how a careful officer reads them. None is a labelled case.

Written in three batches, each before the reader was changed for it. When first read, the second came out
33 of 47 right and the third 35 of 43; that is what to expect on words the reader has not met.
A claim is (category, line, quantity, scope).
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

Claim = tuple[str, str | None, int | None, str]


class Said(NamedTuple):
    order: str
    text: str
    claims: set[Claim]
    left_out: int | None = None


def _lines(*lines: tuple[str, int]) -> dict[str, Any]:
    items = [
        {"line_id": f"L{i}", "name": name, "quantity": quantity, "unit_price_minor": 10000}
        for i, (name, quantity) in enumerate(lines, 1)
    ]
    return {"kind": "food-order", "line_items": items}


def _bank(rail: str) -> dict[str, Any]:
    return {"kind": "bank-transaction", "rail": rail, "amount_minor": 2500000}


RECORDS: dict[str, dict[str, Any]] = {
    "chinese": _lines(("Veg Manchurian", 3), ("Hakka Noodles", 2), ("Coke", 2)),
    "thali": _lines(("Gujarati Thali", 2)),
    "wrap": _lines(("Falafel Wrap", 1)),
    "pizza": _lines(("Farmhouse Pizza", 1), ("Cheesy Dip", 2)),
    "sweets": _lines(("Rasgulla box", 4), ("Kachori", 6)),
    "fish": {
        "kind": "food-order",
        "line_items": [
            {"line_id": "L1", "name": "Rohu fish, bengali cut", "quantity": 1, "unit_price_minor": 60000,
             "sold_by": "weight", "ordered_kg": 2.0},
        ],
    },
    "nip": _bank("nip"), "pos": _bank("pos"), "atm": _bank("atm"), "bill": _bank("bill"), "web": _bank("web"),
}  # fmt: skip

SENTENCES: tuple[Said, ...] = tuple(
    Said(told["order"], told["text"], {tuple(claim) for claim in told["claims"]}, told["left_out"])
    for told in map(json.loads, Path(__file__).with_suffix(".jsonl").read_text().splitlines())
)
