"""What waits for a person, read from the ledger: first what concerns safety, then by when it must be decided."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ops.bounded_read import Found, every_partition, read_all
from schemas.ledger import LedgerEntry
from schemas.pack import PolicyPack
from schemas.topics import LEDGER
from streams.policies.loader import PackRegistry, UnknownPackError
from streams.reviewing import TWO_PEOPLE_TIER

NEVER = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Waiting:
    """One dispute of the queue."""

    entry: LedgerEntry
    roles: tuple[str, ...]
    """Roles whose authority reaches what the rules price; empty where the pack is not loaded."""

    def as_json(self, now: datetime) -> dict[str, Any]:
        entry = self.entry
        return {
            "dispute_id": entry.dispute_id,
            "order_id": entry.order_id,
            "policy": entry.policy,
            "status": entry.status,
            "decision_rule": entry.decision_rule,
            "safety": entry.safety,
            "tier": entry.tier,
            "people": 2 if (entry.tier or 1) >= TWO_PEOPLE_TIER else 1,
            "roles": list(self.roles),
            "waits_for": entry.waits_for,
            "decide_by": entry.resolve_by.isoformat() if entry.resolve_by else None,
            "overdue": entry.resolve_by is not None and entry.resolve_by < now,
            "age_s": round((now - entry.filed_at).total_seconds()),
            "filed_at": entry.filed_at.isoformat(),
            "currency": entry.currency,
            "pending_minor": entry.pending_minor,
            "ceiling_minor": entry.ceiling_minor,
            "escalated": list(entry.escalated),
            "attached": entry.attached,
            "reviews": len(entry.reviews),
            "simulated": entry.simulated,
        }


def queue(packs: PackRegistry, policy: str = "") -> list[Waiting]:
    """Every dispute that a person must decide, the most pressing first.

    Raises:
        KafkaException: the broker is away.
    """
    latest: dict[str, LedgerEntry] = {}

    def keep(one: Found) -> bool:
        """Folded while it is read: the topic holds every dispute there ever was."""
        key = (one.key or b"").decode("utf-8", "replace")
        if one.value is None or b'"needs_person":true' not in one.value:
            latest.pop(key, None)
        else:
            latest[key] = LedgerEntry.from_bytes(one.value)
        return False

    read_all(every_partition(LEDGER), keep)
    waiting = [
        Waiting(entry, _roles(entry, packs))
        for entry in latest.values()
        if not policy or entry.policy == policy
    ]
    return sorted(waiting, key=_pressing)


def _pressing(waiting: Waiting) -> tuple[bool, datetime, datetime]:
    entry = waiting.entry
    return not entry.safety, entry.resolve_by or NEVER, entry.filed_at


def _roles(entry: LedgerEntry, packs: PackRegistry) -> tuple[str, ...]:
    pack = pack_of(entry, packs)
    if pack is None:
        return ()
    return tuple(
        role.role
        for role in pack.roles
        if role.limit_minor is None or role.limit_minor >= entry.pending_minor
    )


def pack_of(entry: LedgerEntry, packs: PackRegistry) -> PolicyPack | None:
    """The pack the dispute is pinned to; None where it is not loaded here."""
    if entry.pack is None:
        return None
    try:
        return packs.get(entry.pack.policy, entry.pack.pack_version).pack
    except UnknownPackError:
        return None
