"""The money cases as a spreadsheet that a pricing manager opens: `tests/data/money.csv`.

`python -m tests.support.money_table` writes it anew; a test fails while it does not say what the cases
and the rules do.
"""

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from schemas.money import EXPONENTS

DATA = Path(__file__).parents[1] / "data"
TABLE = DATA / "money.csv"
COLUMNS = (
    "case", "rules of", "what it shows", "currency", "goods", "record", "earlier disputes",
    "claims and rulings", "paid at once", "proposed", "rule that decides", "a person decides",
)  # fmt: skip
NOT_MONEY = {"kind", "order_id", "transaction_id", "customer_id", "currency", "line_items"}


def row(case: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, str]:
    """The case with what was `found` for it: the answer of the label, or of the rules."""
    evidence = case["evidence"] or {}
    currency = evidence.get("currency")
    person = ", ".join(found["escalated"]) or ("the dispute" if found["needs_person"] else "")
    values = (
        case["id"],
        case["policy"],
        case["note"],
        currency,
        "; ".join(_goods(line, currency) for line in evidence.get("line_items") or ()),
        _fields({k: v for k, v in evidence.items() if k not in NOT_MONEY}, currency),
        _fields(case.get("order_state") or {}, currency),
        "; ".join(_claim(each) for each in case["expect"]["grievances"]),
        _amount(found["amount_minor"], currency),
        _amount(found["proposed_minor"], currency),
        found["decision_rule"],
        person,
    )
    return dict(zip(COLUMNS, map(_plain, values), strict=True))


def _plain(value: object) -> str:
    return "" if value is None else str(value)


def _amount(value: object, currency: object) -> str:
    """In the currency's own units; in minor units, and saying so, where nobody can know those."""
    if not isinstance(value, int) or isinstance(value, bool):
        return _plain(value)
    if not isinstance(currency, str) or currency not in EXPONENTS:
        return f"{value} minor units" if value else "0"
    digits = EXPONENTS[currency]
    whole, part = divmod(abs(value), 10**digits)
    return ("-" if value < 0 else "") + f"{whole}" + (f".{part:0{digits}d}" if digits else "")


def _goods(line: Any, currency: object) -> str:
    if not isinstance(line, dict):
        return _plain(line)
    rest = {
        k: v
        for k, v in line.items()
        if k not in ("line_id", "name", "quantity", "unit_price_minor")
    }
    price = _amount(line.get("unit_price_minor"), currency)
    said = f"{line.get('line_id')}: {line.get('quantity')} × {line.get('name')} at {price}"
    return f"{said} ({_fields(rest, currency)})" if rest else said


def _fields(about: Mapping[str, Any], currency: object) -> str:
    return "; ".join(
        f"{name.removesuffix('_minor').replace('_', ' ')} {_value(name, value, currency)}"
        for name, value in about.items()
    )


def _value(name: str, value: Any, currency: object) -> str:
    if name.endswith("_minor"):
        return _amount(value, currency)
    if isinstance(value, dict):
        return f"({_fields(value, currency)})"
    if isinstance(value, list):
        return " + ".join(_value("", each, currency) for each in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "not recorded" if value is None else str(value)


def _claim(claim: Mapping[str, Any]) -> str:
    what = [
        claim["category"],
        claim.get("line_id"),
        claim.get("quantity") and f"× {claim['quantity']}",
    ]
    if claim.get("scope"):
        what.append("whole order")
    if claim.get("safety"):
        what.append("safety")
    return " ".join(part for part in what if part) + f" {claim['truth']}"


def cases() -> list[dict[str, Any]]:
    lines = (DATA / "money.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def main() -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(row(case, case["expect"]) for case in cases())
    TABLE.write_text(text.getvalue(), "utf-8")


if __name__ == "__main__":
    main()
