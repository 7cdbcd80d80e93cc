"""Allowance: the rolling limit per customer, enforced where one customer's concurrent orders meet."""

from datetime import datetime, timedelta

from schemas.base import CurrencyCode, Minor, Model, UtcDatetime
from schemas.ids import content_hash
from schemas.settlement import Decision, Proposal
from schemas.topics import DECISIONS
from streams.emit import Emit, emit
from streams.policies.loader import PackRegistry
from streams.pricing.allowance import apply_allowance
from streams.sealing import DecisionSeal

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
        """
        if proposal.proposal_id in state.decided:
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
            if amount:
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
        horizon = now - timedelta(
            days=max(pack.limits.customer_window_days, 30) + pack.windows.retire_days
        )
        decided = {key: at for key, at in state.decided.items() if at > horizon}
        decided[proposal.proposal_id] = now
        return CustomerState(authorised=recent, decided=decided), [
            emit(DECISIONS, self._seal.sealed(decision))
        ]
