"""What people and safety catches did to the installation itself; no free text, kept as long as money is."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import Event, Id

OperationAction = Literal[
    "payouts_paused", "payouts_resumed", "payouts_tripped", "pack_loaded", "roles_changed",
    "customer_text_read", "customer_erased", "trail_exported", "archive_written",
]  # fmt: skip


class Operation(Event):
    """Key: subject. Chained by the ledger like a dispute's events, under its subject."""

    operation_id: Id
    """One per act; a repeat of the same act carries the same id, and is chained once."""
    subject: Id
    """What it was done to: a dispute id, or `payouts`, `packs`, `roles`, `archive`, a customer's HMAC."""
    action: OperationAction
    actor: Id
    """The user, or the app where nobody ordered it."""
    role: Id = "operator"
    reason_code: Id = "unstated"
    details: Annotated[dict[str, str], Field(max_length=20)] = {}
    """Codes, hashes, counts and amounts; never a customer's words."""
