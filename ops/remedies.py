"""Turns what pydantic says of a field into a problem and a remedy, without quoting the value."""

from pydantic import ValidationError

from ops.json_lines import Problem

_MOMENT = "send ISO 8601 with a zone, for example 2026-09-18T22:05:00+05:30"
_MINOR = "send a whole number of the minor unit (paise, kobo), from 0 to 9007199254740991"

_BY_FIELD = {
    "order_id": "name the order or transaction complained about, without spaces, up to 200 characters",
    "transaction_id": "name the transaction, without spaces, up to 200 characters",
    "customer_id": "name the customer, without spaces, up to 200 characters",
    "policy": "name the policy pack, for example food-delivery, or give --policy",
    "text": "send what the customer wrote, as one string of up to 64 KB",
    "currency": "send an ISO 4217 code, for example INR",
    "line_items": "send the order's lines: line_id, name, quantity, unit_price_minor each",
    "kind": "name the kind of record, for example food-order",
}


def explained(line: int, prefix: str, error: ValidationError) -> list[Problem]:
    """One problem per field that is wrong."""
    found: list[Problem] = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        path = ".".join(str(part) for part in fault["loc"])
        words = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "missing":
            problem, remedy = "is missing", ""
        elif fault["type"] == "value_error":
            problem, _, remedy = words.partition("; ")
            # A check over the whole record names its field in front, or as its first word.
            if not path:
                path, problem = _field_of(problem)
        else:
            problem, remedy = _plain(words), ""
        found.append(Problem(line, prefix + path, problem, remedy or remedy_for(path)))
    return found


def _field_of(words: str) -> tuple[str, str]:
    field, colon, rest = words.partition(": ")
    if colon and " " not in field:
        return field, rest
    first, _, rest = words.partition(" ")
    return (first, rest) if "_" in first or "." in first else ("", words)


def _plain(words: str) -> str:
    """Pydantic's sentence, turned round: `Input should be greater than 0` says what should be."""
    return words.replace("Input should", "should", 1).replace("String should", "should", 1)


def remedy_for(path: str) -> str:
    """What to send instead, by the name of the field."""
    field = path.rsplit(".", 1)[-1]
    if field in _BY_FIELD:
        return _BY_FIELD[field]
    if field.endswith("_at"):
        return _MOMENT
    if field.endswith("_minor"):
        return _MINOR
    if "quantity" in field:
        return "send a whole number of units"
    return "send the field as the evidence contract has it"
