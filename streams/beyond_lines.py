"""What a person may pay on an order beside its priced lines: for the order, or the transaction, as a whole.

The rules price nothing where no record came, where it could not be used, where the order is too old or
the complaint could not be split; and an appeal contests what they priced. A person may pay all the same,
once per scope, and never more than is left of what was paid.

An order's own scope is `reviewed:<dispute>`: nobody can say which of its units it stood for, so whatever
is claimed later on the order goes to a person. A transaction has one scope, and it is that.
"""

from schemas.docket import Docket
from schemas.pack import PolicyPack
from schemas.settlement import PriceLine, ScopeShare
from streams.order_book import DisputeBook, OrderBook, paid_on, room_on_order
from streams.payout import KEY_CONFLICT
from streams.pricing.holdings import REVIEWED, TRANSACTION

CATEGORY = "order_as_a_whole"
"""Of a line that no grievance stands for."""


def line_id(dispute_id: str) -> str:
    """The id under which the line stands among the dispute's grievances."""
    return f"{dispute_id}.order"


def is_open(dispute: DisputeBook) -> bool:
    """Whether a person may go beyond the lines: nothing was priced, no line waits, or there is an appeal.
    Never where the gateway holds one of its keys with another amount: nobody here knows what is left."""
    if any(payment.refusal == KEY_CONFLICT for payment in dispute.payments.values()):
        return False
    return dispute.unpriced or dispute.appealed or not dispute.pending()


def beyond_lines(
    book: OrderBook, dispute_id: str, dispute: DisputeBook, docket: Docket, pack: PolicyPack
) -> PriceLine | str:
    """The line for the order as a whole, or why there is none: the reason of a refused review."""
    scope = own_scope(dispute_id, docket, pack)
    if any(
        share.scope == scope
        for line in dispute.lines
        if line.disposition == "pay"
        for share in line.scopes
    ):
        return "scope_paid"
    if _taken(book, dispute_id, scope):
        return "scope_taken"
    ceiling = _ceiling(book, dispute_id, dispute, docket, pack)
    if not ceiling:
        return "nothing_left"
    return PriceLine(
        grievance_id=line_id(dispute_id),
        category=CATEGORY,
        ruling="ESCALATE",
        scope="transaction" if scope.startswith(TRANSACTION) else "whole",
        ceiling_minor=ceiling,
        disposition="person",
        scopes=(ScopeShare(scope=scope, amount_minor=0, ceiling_minor=ceiling),),
        basis="not priced: a person decides for the order as a whole",
    )


def whole_ceiling(
    book: OrderBook, dispute: DisputeBook, docket: Docket, pack: PolicyPack, waits: bool
) -> int:
    """What a person may still pay beside the lines of a dispute that waits, as the queue shows it."""
    if not (waits and is_open(dispute)):
        return 0
    whole = beyond_lines(book, docket.dispute_id, dispute, docket, pack)
    return 0 if isinstance(whole, str) else whole.ceiling_minor


def own_scope(dispute_id: str, docket: Docket, pack: PolicyPack) -> str:
    if pack.tier_amount_field is not None:
        return f"{TRANSACTION}{docket.order_id}"
    return f"{REVIEWED}{dispute_id}"


def unrecorded_limit(pack: PolicyPack) -> int:
    """The most that people may give on an order of which no usable record says what was paid: what the
    pack says, else its smallest authority."""
    if pack.limits.unrecorded_limit_minor is not None:
        return pack.limits.unrecorded_limit_minor
    return min((role.limit_minor for role in pack.roles if role.limit_minor is not None), default=0)


def _taken(book: OrderBook, dispute_id: str, scope: str) -> bool:
    """Of related transactions one must stand, so another dispute that has any of them has this one too."""
    return scope.startswith(TRANSACTION) and any(
        share.scope.startswith(TRANSACTION)
        for other_id, other in book.disputes.items()
        if other_id != dispute_id
        for line in other.lines
        if line.disposition != "nothing"
        for share in line.scopes
    )


def _ceiling(
    book: OrderBook, dispute_id: str, dispute: DisputeBook, docket: Docket, pack: PolicyPack
) -> int:
    """What is left of the order by the tightest record of it that any dispute holds."""
    disputes = {**book.disputes, dispute_id: dispute}
    recorded = [
        each.subject_ceiling_minor
        for each in disputes.values()
        if each.subject_ceiling_minor is not None
        and each.docket is not None
        and each.docket.order_id == docket.order_id
    ]
    limit = min(recorded) if recorded else unrecorded_limit(pack)
    left = max(0, limit - paid_on(disputes.values()))
    room = room_on_order(book, dispute_id, dispute)
    return left if room is None else min(left, room)
