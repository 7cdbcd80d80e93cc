"""Ledger: the current state of each dispute, and its numbered, hash-chained history.

An entry is a fold over the dispute's events that gives the same result whatever order they come in;
the status is derived from what is known, never from which event came last.
"""

from datetime import datetime

from schemas.base import DisputeEvent, Event, Id, UtcDatetime
from schemas.dispute import Dispute
from schemas.docket import Docket, Usage
from schemas.ids import content_hash
from schemas.ledger import LedgerEntry, LedgerGrievance
from schemas.letter import Letter
from schemas.payment import Payment
from schemas.receipt import Receipt
from schemas.review import Review
from schemas.settlement import Decision
from schemas.topics import AUDIT, LEDGER
from schemas.verdict import Verdict
from streams.emit import emit
from streams.ledger_account import Account, LedgerState, derived
from streams.ledger_chain import GENESIS, Place, Step, chain, link
from streams.telling import ACKNOWLEDGEMENT
from streams.transactions_taken import REFUSED as TRANSACTION_TAKEN

STAGE = "ledger"


STAGE_NAMES: dict[type[Event], Id] = {
    Dispute: "opened",
    Docket: "docketed",
    Verdict: "judged",
    Decision: "decided",
    Payment: "paid",
    Letter: "told",
    Receipt: "delivered",
    Review: "reviewed",
}
"""The stage that an event ends; the request for a letter ends none."""


def on_event(
    state: LedgerState, event: DisputeEvent | Review, value: bytes, place: Place, now: datetime
) -> Step:
    """Fold one event into its dispute, and link it into the dispute's chain."""
    event_hash = content_hash(value)
    account = state.accounts.get(event.dispute_id) or Account(entry=_blank(event, now))
    if event_hash in account.seen:
        return state, []
    account = derived(_fold(account, event))
    entry = account.entry
    sequence = entry.sequence + 1
    previous = entry.chain_head or GENESIS
    entry = entry.model_copy(
        update={
            "at": now,
            "sequence": sequence,
            "chain_head": chain(previous, event_hash),
            "stages": _stages(entry.stages, event),
        }
    )
    account = account.model_copy(update={"entry": entry, "seen": (*account.seen, event_hash)})
    audit = link(entry.dispute_id, sequence, place, event_hash, previous, now)
    next_state = state.model_copy(
        update={"accounts": {**state.accounts, entry.dispute_id: account}}
    )
    return next_state, [emit(LEDGER, entry), emit(AUDIT, audit)]


def _stages(known: dict[str, UtcDatetime], event: DisputeEvent | Review) -> dict[str, UtcDatetime]:
    """When the pipeline reached each stage: the first time, so that a later review or its payment
    changes nothing; for `judged` the last grievance's verdict, late revisions aside."""
    name = STAGE_NAMES.get(type(event))
    if name is None:
        return known
    if isinstance(event, Letter) and event.template == ACKNOWLEDGEMENT:
        name = "acknowledged"
    if isinstance(event, Verdict):
        if event.revision > 1:
            return known
        return {**known, name: max(event.at, known.get(name, event.at))}
    return {**known, name: min(event.at, known.get(name, event.at))}


def _blank(event: DisputeEvent | Review, now: datetime) -> LedgerEntry:
    pack = getattr(event, "pack", None)
    return LedgerEntry(
        at=now,
        dispute_id=event.dispute_id,
        order_id=event.order_id,
        customer_id=getattr(event, "customer_id", "unknown"),
        settles_under=event.settles_under,
        pack=pack,
        policy=pack.policy if pack else "unknown",
        status="received",
        sequence=0,
        filed_at=getattr(event, "filed_at", event.at),
    )


def _fold(account: Account, event: DisputeEvent | Review) -> Account:
    entry = account.entry
    if isinstance(event, DisputeEvent):
        entry = entry.model_copy(
            update={
                "customer_id": event.customer_id,
                "pack": event.pack,
                "policy": event.pack.policy,
                "simulated": entry.simulated or event.simulated,
            }
        )
        account = account.model_copy(update={"entry": entry})
    match event:
        case Dispute():
            return _with(account, _opened(entry, event))
        case Docket():
            return _with(account, _docketed(entry, event), docketed=True)
        case Verdict():
            return _judged(account, event)
        case Decision() if event.decision_id not in account.decisions:
            return _decided(account, event)
        case Payment() if event.payment_id not in account.answered:
            return _paid(account, event)
        case Letter():
            update = {"letters": entry.letters + 1, **_spent(entry, event.usage)}
            return _with(account, entry.model_copy(update=update))
        case Review():
            return _with(
                account, entry.model_copy(update={"reviews": (*entry.reviews, event.review_id)})
            )
    return account


def _with(account: Account, entry: LedgerEntry, **changes: object) -> Account:
    return account.model_copy(update={"entry": entry, **changes})


def _opened(entry: LedgerEntry, event: Dispute) -> LedgerEntry:
    return entry.model_copy(
        update={
            "filed_at": event.filed_at,
            "stages": {**entry.stages, "received": event.received_at},
            "tier": max(event.tier, entry.tier or 1),
            "acknowledge_by": event.acknowledge_by,
            "resolve_by": event.resolve_by,
            "evidence_hash": event.evidence_hash,
            "evidence_stale": event.evidence_stale,
            "screening": tuple(flag.rule for flag in event.screening),
            "outcome": entry.outcome or event.outcome,
        }
    )


def _docketed(entry: LedgerEntry, event: Docket) -> LedgerEntry:
    known = {grievance.grievance_id: grievance for grievance in entry.grievances}
    grievances = tuple(
        known.get(
            claim.grievance_id,
            LedgerGrievance(grievance_id=claim.grievance_id, category=claim.category),
        ).model_copy(
            update={"line_id": claim.line_id, "quantity": claim.quantity, "scope": claim.scope}
        )
        for claim in event.claims
    )
    claimed = {claim.grievance_id for claim in event.claims}
    # The line of what a person paid for the order as a whole is no claim's.
    beside = tuple(g for g in entry.grievances if g.grievance_id not in claimed)
    return entry.model_copy(
        update={
            "grievances": (*grievances, *beside),
            "safety": event.safety_words or any(claim.safety for claim in event.claims),
            "left_out": len(event.left_out),
            "outcome": event.outcome or entry.outcome,
            **_spent(entry, event.usage),
        }
    )


def _spent(entry: LedgerEntry, *usages: Usage) -> dict[str, object]:
    """What the dispute has cost so far, these calls included."""
    usage = entry.usage
    for one in usages:
        usage = usage.plus(one)
    return {"usage": usage, "llm_calls": usage.calls, "cost_micros": usage.cost_micros}


def _put(entry: LedgerEntry, grievance: LedgerGrievance) -> tuple[LedgerGrievance, ...]:
    others = [g for g in entry.grievances if g.grievance_id != grievance.grievance_id]
    return tuple(sorted([*others, grievance], key=lambda g: (len(g.grievance_id), g.grievance_id)))


def _judged(account: Account, event: Verdict) -> Account:
    """A late revision decides nothing, but the ruling that it brings was asked for and has its cost."""
    fresh = [ruling for ruling in event.rulings if ruling.ruling_id not in account.rulings]
    entry = account.entry.model_copy(
        update=_spent(account.entry, *(ruling.usage for ruling in fresh))
    )
    counted = (*account.rulings, *(ruling.ruling_id for ruling in fresh))
    if event.revision > 1 or event.grievance_id in account.verdicts:
        return _with(account, entry, rulings=counted)
    known = next((g for g in entry.grievances if g.grievance_id == event.grievance_id), None)
    grievance = (
        known or LedgerGrievance(grievance_id=event.grievance_id, category=event.category)
    ).model_copy(
        update={"ruling": event.ruling, "votes": event.votes, "confidence": event.confidence}
    )
    entry = entry.model_copy(update={"grievances": _put(entry, grievance)})
    return _with(account, entry, rulings=counted, verdicts=(*account.verdicts, event.grievance_id))


def _decided(account: Account, event: Decision) -> Account:
    entry = account.entry
    for line in event.lines:
        known = next((g for g in entry.grievances if g.grievance_id == line.grievance_id), None)
        grievance = (
            known or LedgerGrievance(grievance_id=line.grievance_id, category=line.category)
        ).model_copy(
            update={
                "amount_minor": line.amount_minor,
                "amount_if_upheld_minor": line.amount_if_upheld_minor,
                "ceiling_minor": max(line.ceiling_minor, line.amount_minor),
                "disposition": line.disposition,
                "basis": line.basis,
            }
        )
        entry = entry.model_copy(update={"grievances": _put(entry, grievance)})
    key = event.decision_id
    changes: dict[str, object] = {
        "decisions": (*account.decisions, key),
        "due": {**account.due, key: event.amount_minor},
        "decided_under": account.decided_under
        | dict.fromkeys((line.grievance_id for line in event.lines), key),
        "for_person": event.needs_person,
        "whole_ceiling": event.whole_ceiling_minor,
        "waits_for": _waits_for(event.decision_rule, account.waits_for),
    }
    update: dict[str, object] = {
        "currency": event.currency,
        "tier": max(event.tier, entry.tier or 1),
    }
    if event.review_id is not None:
        update["review_rules"] = {**entry.review_rules, event.review_id: event.decision_rule}
        update["attached"] = entry.attached + (event.decision_rule == "review_attached")
    else:
        changes |= {
            "automatic_rule": event.decision_rule,
            "automatic_at": (*account.automatic_at, event.at),
        }
        update |= {
            "amount_minor": event.amount_minor,
            "proposed_minor": event.proposed_minor,
            "escalated": event.escalated,
        }
    return _with(account, entry.model_copy(update=update), **changes)


def _waits_for(rule: str, before: str) -> str:
    if rule.startswith("review_refused:") and rule != TRANSACTION_TAKEN:  # that one begins anew
        return before
    waits = {"review_awaits_second_person": "second_person", "review_more_evidence": "evidence"}
    return waits.get(rule, "person")


def _paid(account: Account, event: Payment) -> Account:
    entry, key = account.entry, event.payment_id
    changes: dict[str, object] = {"answered": (*account.answered, key)}
    if event.review_id is None:
        changes["automatic_at"] = (*account.automatic_at, event.at)
    if event.status == "refused":
        changes["refused"] = (*account.refused, key)
    else:
        paid = entry.paid_minor + event.amount_minor
        entry = entry.model_copy(update={"paid_minor": paid})
    return _with(account, entry, **changes)
