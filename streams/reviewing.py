"""What one person's review does to the lines that wait: once, up to each scope's ceiling.

Every review ends as a proposal under its own key, also one that is refused or waits for a second
person, so that each has a decision and a payment record and none is lost.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from schemas.base import Model
from schemas.docket import Docket
from schemas.ids import review_key, same_person
from schemas.pack import PolicyPack
from schemas.review import Review
from schemas.settlement import PriceLine, Proposal, ScopeShare
from streams.pricing.people import approvable, ceiling, most
from streams.tiers import tier_of

TWO_PEOPLE_TIER = 3
DECIDES = ("review_approved", "review_amount", "review_rejected")
"""Ends of a review that settle what waited."""
BRINGS = "customer"
"""The role that files appeals and may add to a case; it decides nothing."""


class Approval(Model):
    """A tier-3 approval that waits for a second, different person."""

    review_id: str
    reviewer: str
    amount_minor: int


@dataclass(frozen=True)
class ReviewOutcome:
    """The effect of a review. `rule` says what became of it; `lines` are those it changed."""

    review: Review
    rule: str
    lines: tuple[PriceLine, ...]
    approvals: tuple[Approval, ...]
    pending: bool
    tier: int
    currency: str

    @property
    def decides(self) -> bool:
        """Whether the dispute was decided by it."""
        return self.rule in DECIDES

    def appealed(self, before: bool) -> bool:
        """Whether an appeal waits for its decision after this."""
        return self.rule == "appealed" or (before and not self.decides)

    def decided_by(self, before: tuple[str, ...], agreed: Sequence[Approval]) -> tuple[str, ...]:
        """Everybody who decided the dispute, the first of two people in tier 3 included."""
        if not self.decides:
            return before
        people = (*before, self.review.reviewer, *(approval.reviewer for approval in agreed))
        return tuple(dict.fromkeys(people))

    def proposal(self, docket: Docket, now: datetime) -> Proposal:
        """The review as a proposal authorised by its person."""
        amount = sum(line.amount_minor for line in self.lines if line.disposition == "pay")
        return Proposal(
            at=now,
            dispute_id=docket.dispute_id,
            order_id=docket.order_id,
            customer_id=docket.customer_id,
            settles_under=docket.settles_under,
            pack=docket.pack,
            simulated=docket.simulated,
            proposal_id=review_key(docket.dispute_id, self.review.review_id),
            currency=self.currency,
            lines=self.lines,
            amount_minor=amount,
            proposed_minor=amount,
            decision_rule=self.rule,
            needs_person=self.pending,
            tier=self.tier,
            authorised_by=f"person:{self.review.reviewer}",
            review_id=self.review.review_id,
            filed_at=docket.filed_at,
            received_at=docket.received_at,
            charge=docket.charge,
        )


def review_outcome(
    review: Review,
    pending: Sequence[PriceLine],
    approvals: tuple[Approval, ...],
    tier: int,
    pack: PolicyPack,
    waits: bool,
    room: int | None = None,
    whole: PriceLine | str | None = None,
    appealed: bool = False,
    decided_by: Sequence[str] = (),
) -> ReviewOutcome:
    """Decide what the review does to the pending lines of its dispute.

    `waits` says whether the dispute is before a person at all; it can be with no line pending (no
    evidence came, or everything was rejected in a tier that a person sees). `room` is what may still be
    paid on the order, where something bounds it. `whole` is the line of what a person may pay beside
    those that wait, or why nothing more may be paid; None where only the lines can be approved.
    `decided_by` decided the dispute before it was `appealed`.
    """

    def end(
        rule: str,
        lines: tuple[PriceLine, ...] = (),
        waiting: tuple[Approval, ...] = approvals,
        still_pending: bool = waits,
    ) -> ReviewOutcome:
        return ReviewOutcome(review, rule, lines, waiting, still_pending, tier, pack.currency)

    limit = next((role for role in pack.roles if role.role == review.role), None)
    if review.action == "appeal":
        if waits and appealed:
            return end("review_refused:appealed_already")
        return end("appealed", still_pending=True)
    if not waits:
        return end("review_refused:nothing_pending")
    if limit is None and not (review.action == "attach" and review.role == BRINGS):
        return end("review_refused:role_may_not_decide")
    if review.action == "attach":
        return end("review_attached")
    if review.action == "more_evidence":
        return end("review_more_evidence")
    if appealed and any(same_person(review.reviewer, name) for name in decided_by):
        return end("review_refused:decided_before_the_appeal")
    if review.action == "reject":
        return end(
            "review_rejected", tuple(_closed(line) for line in pending), (), still_pending=False
        )
    if isinstance(whole, PriceLine):
        # One of an earlier payment that was refused waits under the same id; this one has the ceiling of now.
        pending = [line for line in pending if line.grievance_id != whole.grievance_id]
        pending = [*pending, whole]
    if not pending:
        return end(f"review_refused:{whole or 'nothing_to_approve'}")
    scopes = approvable(pending)
    priced = sum(share.amount_minor for share in scopes)
    most_of_all = ceiling(pending)
    at_most = ceiling(pending, room)
    amount = priced if review.action == "approve" else (review.amount_minor or 0)
    if review.action == "approve" and not priced and most_of_all:
        return end("review_refused:state_an_amount")
    if amount > at_most:
        return end("review_refused:above_ceiling")
    if limit is None or (limit.limit_minor is not None and amount > limit.limit_minor):
        return end("review_refused:above_authority")
    if pack.tier_amount_field is not None:
        tier = max(tier, tier_of(pack, amount))
    if tier >= TWO_PEOPLE_TIER:
        agreed = [approval for approval in approvals if approval.amount_minor == amount]
        others = tuple(a for a in approvals if not same_person(a.reviewer, review.reviewer))
        if not any(approval in others for approval in agreed):
            if agreed:
                return end("review_refused:same_person_twice")
            # Another amount than before replaces it, or two people who disagreed never could agree.
            mine = Approval(
                review_id=review.review_id, reviewer=review.reviewer, amount_minor=amount
            )
            return end("review_awaits_second_person", waiting=(*others, mine))
    rule = "review_approved" if review.action == "approve" else "review_amount"
    given = [
        line
        for line in _spread(pending, amount)
        if line.amount_minor
        or not isinstance(whole, PriceLine)
        or line.grievance_id != whole.grievance_id
    ]
    return end(rule, tuple(given), (), still_pending=False)


def _closed(line: PriceLine) -> PriceLine:
    return line.model_copy(update={"disposition": "nothing", "amount_minor": 0, "scopes": ()})


def _spread(lines: Sequence[PriceLine], amount: int) -> tuple[PriceLine, ...]:
    """Give `amount` to the lines in order, scope by scope, each scope once: first what each is priced
    at, then what is left, up to each scope's ceiling."""
    scopes = approvable(lines)
    given: dict[str, int] = {}
    for share in scopes:
        given[share.scope] = min(amount, share.amount_minor)
        amount -= given[share.scope]
    for share in scopes:
        more = min(amount, most(share) - given[share.scope])
        given[share.scope] += more
        amount -= more
    out: list[PriceLine] = []
    for line in lines:
        mine = {share.scope: given.pop(share.scope, 0) for share in line.scopes}
        total = sum(mine.values())
        out.append(
            line.model_copy(
                update={
                    "disposition": "pay" if total else "nothing",
                    "amount_minor": total,
                    "scopes": tuple(
                        ScopeShare(scope=scope, amount_minor=part)
                        for scope, part in mine.items()
                        if part
                    ),
                }
            )
        )
    return tuple(out)
