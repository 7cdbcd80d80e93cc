"""Disputes that get in each other's way: several complaints about one order filed at once, and several
orders of one customer, so that pay scopes and the customer's limit are fought over."""

import random
from collections.abc import Iterator
from typing import Any

from ops.cases import evidence_of, labelled, renamed

TELLINGS = (
    "",
    " Please look into it.",
    " I am writing about this a second time.",
    " I expect an answer today.",
)
"""What makes the same grievances another complaint; none of it is a grievance."""
ORDERS_PER_CUSTOMER = 4


def disputes(count: int, seed: int) -> list[list[dict[str, Any]]]:
    """So many labelled cases, renamed and told one to four times, in groups of one order each."""
    rng = random.Random(seed)
    pool = [case for case in labelled() if evidence_of(case) is not None]
    found: list[list[dict[str, Any]]] = []
    left = count
    while left:
        customer = f"chaos-c{len(found) // ORDERS_PER_CUSTOMER}"
        case = renamed(rng.choice(pool), f"chaos-{seed}-{len(found)}", customer)
        group = list(_told(case, min(left, rng.choice((1, 1, 2, 3, 4)))))
        found.append(group)
        left -= len(group)
    return found


def _told(case: dict[str, Any], times: int) -> Iterator[dict[str, Any]]:
    for number, telling in enumerate(TELLINGS[:times]):
        complaint = {**case["complaint"], "text": case["complaint"]["text"] + telling}
        yield {**case, "id": f"{case['id']}-{number}", "complaint": complaint}
