"""Evaluates a pack's conditions over the facts of a record."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from schemas.pack import Condition, Predicate


def holds(condition: Condition, facts: Mapping[str, Any]) -> bool:
    """Whether `left op right` is true of these facts.

    A comparison with an absent side (missing or null) is false, whatever the operator, save
    `absent`; so is one between values that have no order, such as a text and a number. Texts compare
    without regard to case, since operators' systems do not agree on it.
    """
    left = facts.get(condition.left)
    if condition.op == "present":
        return left is not None
    if condition.op == "absent":
        return left is None
    right = facts.get(condition.right_field) if condition.right_field else condition.right
    if left is None or right is None:
        return False
    return _compare(condition.op, _plain(left), _plain(right))


def matches(predicate: Predicate, facts: Mapping[str, Any]) -> bool:
    """Whether all conditions of the predicate hold; one without conditions never matches."""
    return bool(predicate.when) and all(holds(condition, facts) for condition in predicate.when)


def _plain(value: Any) -> Any:
    """The value as it compares: text without case, a float as the decimal it was written as."""
    if isinstance(value, str):
        return value.strip().casefold()
    return Decimal(repr(value)) if isinstance(value, float) else value


def _compare(op: str, left: Any, right: Any) -> bool:
    if isinstance(left, bool) != isinstance(right, bool):
        return False  # True is not 1: a flag and a number are not the same kind of fact
    if op == "eq":
        return bool(left == right)
    if op == "ne":
        return bool(left != right)
    if op == "startswith":
        return isinstance(left, str) and isinstance(right, str) and left.startswith(right)
    try:
        if op == "lt":
            return bool(left < right)
        if op == "le":
            return bool(left <= right)
        if op == "gt":
            return bool(left > right)
        return bool(left >= right)
    except TypeError:
        return False
