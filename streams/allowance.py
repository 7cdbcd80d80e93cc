"""Allowance: the rolling limit per customer, enforced where one customer's concurrent orders meet."""

from datetime import datetime, timedelta

from schemas.base import CurrencyCode, Minor, Model, UtcDatetime
from schemas.ids import content_hash
from schemas.pack import PolicyPack
from schemas.settlement import Decision, Proposal
from schemas.timer import Deadline, Timer
from schemas.topics import DECISIONS
from streams.emit import Emit, emit, start, timer_id
from streams.policies.loader import PackRegistry
from streams.pricing.allowance import apply_allowance
from streams.recomputed import check_same, fingerprint
from streams.sealing import DecisionSeal
from streams.transactions_taken import Taken, remember, stopped

STAGE = "allowance"


class Authorised(Model):
    """One automatic payment to the customer."""

    decision_id: str
    at: UtcDatetime
    amount_minor: Minor
    currency: CurrencyCode


class CustomerState(Model):
    """Per customer: automatic payments of the window, and what was decided."""

    authorised: tuple[Authorised, ...] = ()
    decided: dict[str, UtcDatetime] = {}
    """Decisions already made, so that a proposal that comes again decides nothing twice."""
    contents: dict[str, str] = {}
    """What each of them was decided on, as a fingerprint of its proposal."""
    transactions: dict[str, Taken] = {}
    """Pay scopes of transactions whose payment was decided, since related ones may settle apart."""
    retire_at: UtcDatetime | None = None
    """When nothing of this counts any more; by a timer, never by a TTL."""


Step = tuple[CustomerState | None, list[Emit]]


class Allowance:
    """The decision of the allowance; holds no state of its own."""

    def __init__(self, registry: PackRegistry, seal: DecisionSeal) -> None:
        self._registry = registry
        self._seal = seal

    def on_proposal(self, state: CustomerState, proposal: Proposal, now: datetime) -> Step:
        """Turn a proposal into a decision. A person's proposal passes through.

        `now` is the broker's time of the proposal, so that a replay counts the same window. A payment
        that the gateway later refuses still counts: the limit may be too careful, never too generous.

        Raises:
            Recomputed: the proposal was decided before, and now says something else of the money.
        """
        content = fingerprint(proposal)
        if proposal.proposal_id in state.decided:
            known = state.contents.get(proposal.proposal_id, content)
            check_same(proposal.proposal_id, known, content)
            return state, []
        pack = self._registry.get(proposal.pack.policy, proposal.pack.pack_version).pack
        since = now - timedelta(days=pack.limits.customer_window_days)
        # Another pack's window may be longer than this one's: what it counts is not forgotten here.
        longest = max(other.pack.limits.customer_window_days for other in self._registry)
        kept = now - timedelta(days=longest)
        recent = tuple(entry for entry in state.authorised if entry.at > kept)
        lines, amount = proposal.lines, proposal.amount_minor
        rule, escalated, needs_person = (
            proposal.decision_rule,
            proposal.escalated,
            proposal.needs_person,
        )
        if proposal.review_id is None:
            allowed = apply_allowance(
                pack=pack,
                lines=proposal.lines,
                amount_minor=proposal.amount_minor,
                proposed_minor=proposal.proposed_minor,
                decision_rule=proposal.decision_rule,
                escalated=proposal.escalated,
                needs_person=proposal.needs_person,
                history_minor=proposal.history_minor,
                automatic_in_window_minor=sum(
                    entry.amount_minor
                    for entry in recent
                    if entry.at > since and entry.currency == proposal.currency
                ),
            )
            lines, amount, rule = allowed.lines, allowed.amount_minor, allowed.decision_rule
            escalated, needs_person = allowed.escalated, allowed.needs_person
        met = stopped(state.transactions, proposal, lines)
        if met is not None:
            lines, amount, rule = met.lines, 0, met.decision_rule
            escalated, needs_person = met.escalated, True
        if amount and proposal.review_id is None:
            recent = (
                *recent,
                Authorised(
                    decision_id=proposal.proposal_id,
                    at=now,
                    amount_minor=amount,
                    currency=proposal.currency,
                ),
            )
        decision = Decision(
            at=now,
            dispute_id=proposal.dispute_id,
            order_id=proposal.order_id,
            customer_id=proposal.customer_id,
            settles_under=proposal.settles_under,
            pack=proposal.pack,
            simulated=proposal.simulated,
            decision_id=proposal.proposal_id,
            currency=proposal.currency,
            lines=lines,
            amount_minor=amount,
            proposed_minor=proposal.proposed_minor,
            decision_rule=rule,
            escalated=escalated,
            needs_person=needs_person,
            tier=proposal.tier,
            whole_ceiling_minor=proposal.whole_ceiling_minor,
            authorised_by=proposal.authorised_by,
            review_id=proposal.review_id,
            charge=proposal.charge,
            filed_at=proposal.filed_at,
            received_at=proposal.received_at,
            usage=proposal.usage,
            proposal_hash=content_hash(proposal.to_bytes()),
        )
        # One that comes again later than this, from a replay of years, is decided again under the same
        # payment key, which payout looks up before it pays.
        decided = {key: at for key, at in state.decided.items() if at > now - remembered(pack)}
        decided[proposal.proposal_id] = now
        contents = {key: held for key, held in state.contents.items() if key in decided}
        contents[proposal.proposal_id] = content
        after = CustomerState(
            authorised=recent,
            decided=decided,
            contents=contents,
            transactions=remember(state.transactions, lines, proposal.settles_under, pack, now),
            retire_at=state.retire_at,
        )
        after, timers = self._keep(after, proposal.customer_id, now)
        return after, [emit(DECISIONS, self._seal.sealed(decision)), *timers]

    def on_deadline(self, state: CustomerState, deadline: Deadline, now: datetime) -> Step:
        """Forget the customer when nothing that was decided for them counts any more."""
        if state.retire_at is None or deadline.due_at < state.retire_at:
            return state, []
        return None, []

    def _keep(
        self, state: CustomerState, customer_id: str, now: datetime
    ) -> tuple[CustomerState, list[Emit]]:
        """Forget the customer no sooner than every pack's memory from now, nor than the last transaction
        remembered; put off once a day at most."""
        due_at = now + max(remembered(other.pack) for other in self._registry) + timedelta(days=1)
        due_at = max([due_at, *(entry.until for entry in state.transactions.values())])
        if state.retire_at is not None and state.retire_at > due_at - timedelta(days=1):
            return state, []
        timer = Timer(
            at=now,
            timer_id=timer_id(STAGE, "retire", customer_id),
            stage=STAGE,
            kind="retire",
            waiting_key=customer_id,
            due_at=due_at,
        )
        return state.model_copy(update={"retire_at": due_at}), [start(timer)]


def remembered(pack: PolicyPack) -> timedelta:
    """How long a decision under the pack is known, so that its proposal decides nothing twice."""
    return timedelta(days=max(pack.limits.customer_window_days, 30) + pack.windows.retire_days)
