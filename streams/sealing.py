"""The seal on a decision: payout pays what our own allowance decided, not whatever lies on `decisions`.

An HMAC under a key of its own, derived from the installation key, over every field that says whether,
what, to whom and on whose word money moves. A producer that may write to the topic but does not hold
the installation key cannot make one, nor change a sealed decision. A sealed decision that comes again
is the same payment key, which payout looks up.
"""

import hashlib
import hmac

from schemas.base import canonical_bytes
from schemas.settlement import Decision

VERSION = "v1"
"""Goes up when the fields below change; then decisions under way must be paid before the change."""


class NotSealed(ValueError):
    """The decision is not one that our allowance made, or not as it made it."""


class DecisionSeal:
    """Seals and checks decisions under one installation key."""

    def __init__(self, installation_key: bytes) -> None:
        self._key = hmac.digest(installation_key, b"refund-bench decision seal", "sha256")

    def sealed(self, decision: Decision) -> Decision:
        """The decision with its seal."""
        return decision.model_copy(update={"seal": self._seal(decision)})

    def holds(self, decision: Decision) -> bool:
        """Whether the decision has the seal that belongs to it."""
        return hmac.compare_digest((decision.seal or "").encode(), self._seal(decision).encode())

    def read(self, value: bytes) -> Decision:
        """A decision from its bytes, for whoever acts on it.

        Raises:
            NotSealed: its seal is missing, or is that of something else.
            orjson.JSONDecodeError, pydantic.ValidationError: it is no decision.
        """
        decision = Decision.from_bytes(value)
        if not self.holds(decision):
            raise NotSealed(
                "decision_not_sealed: it does not come from this installation's allowance"
            )
        return decision

    def _seal(self, decision: Decision) -> str:
        told = canonical_bytes([VERSION, _what_counts(decision)])
        return f"{VERSION}:{hmac.new(self._key, told, hashlib.sha256).hexdigest()}"


def _what_counts(decision: Decision) -> dict[str, object]:
    return {
        **decision.model_dump(
            mode="json",
            include={
                "dispute_id", "order_id", "customer_id", "settles_under", "simulated", "decision_id", "currency",
                "amount_minor", "proposed_minor", "decision_rule", "escalated", "needs_person", "tier",
                "authorised_by", "review_id", "charge", "proposal_hash", "whole_ceiling_minor",
            },
        ),
        "pack": decision.pack.model_dump(
            mode="json", include={"policy", "pack_version", "pack_hash"}
        ),
        "lines": [
            [
                line.grievance_id, line.category, line.ruling, line.disposition, line.amount_minor,
                line.amount_if_upheld_minor, line.ceiling_minor,
                [[share.scope, share.amount_minor, share.ceiling_minor] for share in line.scopes],
            ]
            for line in decision.lines
        ],
    }  # fmt: skip
