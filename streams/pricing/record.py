"""The frozen record as pricing reads it, or the reason why nothing can be priced on it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from schemas.evidence import read_record, subject_of
from schemas.money import exponent, show
from schemas.pack import PolicyPack
from streams.facts import facts, reversed_minor, same_reference, undelivered, whole
from streams.pricing.holdings import Holdings
from streams.pricing.refunds import Refunds, unite
from streams.pricing.shares import Line, value_lines


class UnusableRecordError(ValueError):
    """The record is not one that money can be moved on; the message says why."""


@dataclass(frozen=True)
class PricedRecord:
    """Everything about the order or transaction that a price can depend on."""

    pack: PolicyPack
    evidence: Mapping[str, Any]
    holdings: Holdings
    facts: Mapping[str, Any]
    lines: Mapping[str, Line]
    refunds: Refunds
    whole_order: bool
    """The record shows that nothing was delivered."""
    ceiling: int | None
    """Paid less what others than us refunded; None where the record has no total."""

    @property
    def available(self) -> int | None:
        """What may still be paid on the order: paid − refunded, by anyone, ever, and less what other
        disputes hold or have before a person. None where the record has no total."""
        return None if self.ceiling is None else max(0, self.ceiling - self.refunds.ours_minor)

    @property
    def subject_scope(self) -> str:
        """The pay scope of the transaction (or order) itself."""
        return f"tx:{self.evidence.get('transaction_id') or subject_of(dict(self.evidence))}"

    def line_facts(self, line_id: str | None) -> dict[str, Any]:
        return facts(self.evidence, line_id, self.pack.whole_order)

    def unreversed(self) -> int | None:
        """What is left of the disputed transaction; None where the pack names no amount for it."""
        field = self.pack.tier_amount_field
        amount = whole(self.evidence.get(field)) if field else None
        return None if amount is None else max(0, amount - reversed_minor(self.evidence))

    def transaction_amount(self, scope: str) -> int:
        """The full amount of the transaction behind a scope, which the tier goes by; 0 for any other."""
        amounts = {
            f"tx:{other.get('transaction_id')}": whole(other.get("amount_minor")) or 0
            for other in same_reference(self.evidence)
        }
        field = self.pack.tier_amount_field
        if field is not None:
            amounts[self.subject_scope] = whole(self.evidence.get(field)) or 0
        return amounts.get(scope, 0)

    def show(self, amount_minor: int) -> str:
        return show(amount_minor, self.pack.currency)


def read(pack: PolicyPack, evidence: Mapping[str, Any], holdings: Holdings) -> PricedRecord:
    """Check the record as a whole and value its lines.

    Raises:
        UnusableRecordError: another kind or currency than the pack's, a field that is wrong, lines that
            do not add up, or more refunded than was paid.
    """
    try:
        exponent(pack.currency)
        if evidence.get("currency") != pack.currency:
            raise UnusableRecordError(
                f"the record is in {evidence.get('currency')!r}, the pack settles in {pack.currency}"
            )
        if evidence.get("kind") != pack.evidence_kind:
            raise UnusableRecordError(
                f"the record is a {evidence.get('kind')!r}, the pack takes {pack.evidence_kind!r}"
            )
        read_record(dict(evidence))
        _one_currency(pack, evidence)
        lines = value_lines(evidence)
        refunds = unite(evidence, lines, holdings)
        paid = evidence.get("paid_total_minor")
        if paid is not None and (whole(paid) is None or paid < 0):
            raise UnusableRecordError("paid_total_minor is not an amount")
        if paid is not None and refunds.external_minor > paid:
            raise UnusableRecordError("more was refunded than paid_total_minor")
        if str(evidence.get("payment_status") or "").strip().casefold() == "unpaid":
            paid = 0  # whatever the bill says, nothing came in that could go back
        return PricedRecord(
            pack=pack,
            evidence=evidence,
            holdings=holdings,
            facts=facts(evidence, None, pack.whole_order),
            lines={line.line_id: line for line in lines},
            refunds=refunds,
            whole_order=pack.whole_order is not None and undelivered(evidence, pack.whole_order),
            ceiling=None if paid is None else max(0, paid - refunds.external_minor),
        )
    except ValidationError as error:
        fault = error.errors()[0]
        place = ".".join(str(part) for part in fault["loc"]) or "record"
        raise UnusableRecordError(f"{place}: {fault['msg']}") from None
    except UnusableRecordError:
        raise
    except (ValueError, TypeError, ArithmeticError, AttributeError) as error:
        raise UnusableRecordError(str(error)) from None


def _one_currency(pack: PolicyPack, evidence: Mapping[str, Any]) -> None:
    """Amounts inside the record are the record's currency; one that says otherwise is not converted."""
    for place in ("line_items", "fee_lines", "refunds", "related"):
        parts = evidence.get(place)
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            other = part.get("currency") if isinstance(part, dict) else None
            if other not in (None, pack.currency):
                raise UnusableRecordError(
                    f"{place}.{number} is in {other!r}, the record in {pack.currency}"
                )
