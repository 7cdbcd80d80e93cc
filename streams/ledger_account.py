"""What the ledger keeps of a dispute, and what follows from all of it: the status, what waits, the rule."""

from schemas.base import Model, UtcDatetime
from schemas.ids import auto_key
from schemas.ledger import LedgerEntry, Status


class Account(Model):
    """What the ledger keeps per dispute beside the entry itself."""

    entry: LedgerEntry
    docketed: bool = False
    verdicts: tuple[str, ...] = ()
    """Grievances whose first verdict has come."""
    rulings: tuple[str, ...] = ()
    """Rulings whose cost is counted; a late one comes with a later revision."""
    decisions: tuple[str, ...] = ()
    due: dict[str, int] = {}
    """Decision → amount that the gateway has yet to confirm."""
    answered: tuple[str, ...] = ()
    """Decisions with a payment record."""
    refused: tuple[str, ...] = ()
    """Decisions whose payment was refused for good."""
    decided_under: dict[str, str] = {}
    """Grievance → the latest decision that speaks of its line."""
    for_person: bool = False
    """What the latest decision says of `needs_person`."""
    whole_ceiling: int = 0
    """What the latest decision lets a person pay beside the lines."""
    waits_for: str = "person"
    """Whom or what the latest review that was not refused left the dispute to."""
    automatic_rule: str | None = None
    automatic_at: tuple[UtcDatetime, ...] = ()
    """When the automatic part was decided and when it was answered; both, and it is settled."""
    seen: tuple[str, ...] = ()
    """Event hashes in the chain, so that a redelivery is not numbered twice."""


class OperationsChain(Model):
    """How far the chain of one subject's operations has come."""

    sequence: int = 0
    head: str = ""
    recent: tuple[str, ...] = ()
    """Ids of the operations chained last, so that a repeat is not chained twice."""


class LedgerState(Model):
    """Per settles_under: its disputes. Per subject: the chain of what was done to it."""

    accounts: dict[str, Account] = {}
    operations: OperationsChain | None = None


def derived(account: Account) -> Account:
    """What follows from all that is known, so that the order in which it came leaves no trace."""
    entry, refused = account.entry, account.refused
    waiting = [
        grievance
        for grievance in entry.grievances
        if grievance.disposition == "person"
        or (
            grievance.disposition == "pay"
            and account.decided_under.get(grievance.grievance_id) in refused
        )
    ]
    rule = account.automatic_rule
    if rule is not None and auto_key(entry.dispute_id) in refused:
        rule = "payment_refused"
    needs_person = account.for_person or bool(waiting)
    most = account.whole_ceiling + sum(g.ceiling_minor for g in waiting)
    entry = entry.model_copy(
        update={
            "decision_rule": rule,
            "needs_person": needs_person,
            "ceiling_minor": most if needs_person else 0,
            "waits_for": account.waits_for if needs_person else None,
            "pending_minor": sum(g.amount_minor or g.amount_if_upheld_minor for g in waiting),
            "settled_at": max(account.automatic_at) if len(account.automatic_at) == 2 else None,
        }
    )
    account = account.model_copy(update={"entry": entry})
    return account.model_copy(
        update={"entry": entry.model_copy(update={"status": _status(account)})}
    )


def _status(account: Account) -> Status:
    entry = account.entry
    open_payments = [key for key in account.decisions if key not in account.answered]
    if auto_key(entry.dispute_id) in account.decisions:
        if any(account.due.get(key) for key in open_payments):
            return "paying"
        if open_payments:
            return "settling"
        if entry.needs_person:
            return "part_paid_in_review" if entry.paid_minor else "in_review"
        return "paid" if entry.paid_minor else "closed_no_payment"
    if not account.docketed:
        return "extracting"
    judged = sum(grievance.ruling is not None for grievance in entry.grievances)
    return "settling" if judged == len(entry.grievances) else "judging"
