"""A letter's task from what its prompt tells: the pack's own template stands in for a model's words."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from schemas.letter import LetterRequest, ToldLine
from schemas.money import exponent
from streams.letter_templates import render
from streams.llm.port import LetterTask
from streams.policies.loader import LoadedPack

_NOT_A_NUMBER = re.compile(r"[^0-9.]")


def minor(shown: str, currency: str) -> int:
    """The amount that `schemas.money.show` showed; 0 where nothing is shown."""
    digits = _NOT_A_NUMBER.sub("", shown)
    return int(Decimal(digits) * 10 ** exponent(currency)) if digits else 0


def letter_of(
    told: Mapping[str, Any], pack: LoadedPack, complaint: str, common: Mapping[str, Any]
) -> LetterTask:
    """The task of a `# Decision` block.

    Raises:
        KeyError, ValueError: the block lacks something, or the pack its template.
    """
    currency = pack.pack.currency
    lines = tuple(
        ToldLine(
            category=line["category"],
            text=line["text"],
            amount_minor=minor(line["amount"], currency),
            state=line["state"],
            note=line["note"],
        )
        for line in told["lines"]
    )
    request = LetterRequest(
        at=datetime.now(UTC),
        dispute_id="simulated",
        order_id=told["order_id"],
        customer_id="simulated",
        settles_under=told["order_id"],
        pack=pack.ref,
        letter_id="simulated",
        kind=told["kind"],
        paid_minor=minor(told["paid"], currency),
        currency=currency,
        lines=lines,
        complaint_text=complaint,
        promises=told["promises"],
    )
    return LetterTask(
        **common,
        language=told["language"],
        kind=told["kind"],
        order_id=told["order_id"],
        paid=told["paid"],
        lines=lines,
        line_amounts=tuple(line["amount"] for line in told["lines"]),
        promises=told["promises"],
        complaint_text=complaint,
        template=render(request, pack),
    )
