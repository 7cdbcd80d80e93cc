"""A dispute's entry in the ledger, made again from its events by the ledger's own function."""

from ops.audit.stored import Place, Stored, View
from schemas.base import DisputeEvent
from schemas.ledger import LedgerEntry
from schemas.review import Review
from streams import ledger
from streams.ledger_account import LedgerState
from streams.ledger_chain import Place as LinkedPlace


def entry_of(view: View, dispute_id: str) -> LedgerEntry | None:
    """What the ledger says of the dispute after the events that its chain links, in that order; None where
    none can be read. An erased event leaves no trace here but its place in the chain."""
    held: dict[Place, Stored] = {one.place: one for one in view.events.get(dispute_id, ())}
    state = LedgerState()
    head, sequence = "", 0
    for link in sorted(view.links.get(dispute_id, ()), key=lambda one: one.sequence):
        head, sequence = link.chain, link.sequence
        one = held.get(Place(link.topic, link.partition, link.offset))
        event = one.event() if one is not None else None
        if one is None or one.value is None or not isinstance(event, DisputeEvent | Review):
            continue
        place = LinkedPlace(*one.place)
        after, _ = ledger.on_event(state, event, one.value, place, link.at)
        state = after or state
    account = state.accounts.get(dispute_id)
    if account is None:
        return None
    # The chain's own count: an erased event has its number too.
    return account.entry.model_copy(update={"sequence": sequence, "chain_head": head})
