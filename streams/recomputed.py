"""A proposal or a decision that comes again must say the same. One that says something else under a known
id is refused; the stage that meets it makes a dead letter of it, so that somebody looks."""

import hashlib

from schemas.base import canonical_bytes
from schemas.settlement import Decision, Proposal

MONEY = frozenset(
    {
        "order_id", "customer_id", "currency", "amount_minor", "proposed_minor", "decision_rule", "escalated",
        "needs_person", "tier", "authorised_by", "review_id",
    }
)  # fmt: skip


class Recomputed(ValueError):
    """A known id with other content: money is decided once, so the first stands."""


def fingerprint(event: Proposal | Decision) -> str:
    """What the event says of money and of who decides, in 16 hexadecimal digits; not when it was made."""
    lines = [
        [
            line.grievance_id, line.ruling, line.disposition, line.amount_minor, line.amount_if_upheld_minor,
            [[share.scope, share.amount_minor] for share in line.scopes],
        ]
        for line in event.lines
    ]  # fmt: skip
    told = canonical_bytes([event.model_dump(mode="json", include=set(MONEY)), lines])
    return hashlib.sha256(told).hexdigest()[:16]


def check_same(identifier: str, before: str, now: str) -> None:
    """Compare two fingerprints of one id.

    Raises:
        Recomputed: they differ.
    """
    if before != now:
        raise Recomputed(
            f"recomputed: {identifier} was decided before with other content; the first decision stands, "
            "find out what was computed again and from what"
        )
