"""A person's review: once, within the role's authority, up to each scope's ceiling, two people in tier 3."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.settlement import PriceLine, ScopeShare
from streams.reviewing import Approval, ReviewOutcome, review_outcome
from tests.unit.stages.events import BANK, FOOD, NOW, a_docket, a_line, a_pending_line, a_review

RAITA = a_pending_line(1, 6_000)
NAAN = a_pending_line(2, 5_000)


def decide(
    action: str,
    *pending: PriceLine,
    approvals: tuple[Approval, ...] = (),
    tier: int = 1,
    waits: bool = True,
    pack: Any = FOOD,
    **changes: Any,
) -> ReviewOutcome:
    review = a_review(action, **changes)
    return review_outcome(review, pending, approvals, tier, pack.pack, waits)


def test_approval_pays_what_the_lines_are_worth() -> None:
    outcome = decide("approve", RAITA, NAAN)
    assert outcome.rule == "review_approved"
    assert not outcome.pending
    assert [(line.disposition, line.amount_minor) for line in outcome.lines] == [
        ("pay", 6_000),
        ("pay", 5_000),
    ]


def test_the_proposal_names_its_person_and_has_a_key_of_its_own() -> None:
    proposal = decide("approve", RAITA).proposal(a_docket(), NOW)
    assert proposal.proposal_id == "d-1:review:r-1"
    assert proposal.authorised_by == "person:asha"
    assert (proposal.amount_minor, proposal.review_id) == (6_000, "r-1")


def test_a_rejection_closes_the_lines_and_frees_their_scopes() -> None:
    outcome = decide("reject", RAITA)
    assert outcome.rule == "review_rejected"
    assert [(line.disposition, line.amount_minor, line.scopes) for line in outcome.lines] == [
        ("nothing", 0, ())
    ]
    assert not outcome.pending


def test_asking_for_more_evidence_decides_nothing() -> None:
    outcome = decide("more_evidence", RAITA)
    assert (outcome.rule, outcome.lines, outcome.pending) == ("review_more_evidence", (), True)


@pytest.mark.parametrize(
    ("amount", "given_"),
    [(11_000, [6_000, 5_000]), (7_000, [6_000, 1_000]), (6_000, [6_000, 0]), (0, [0, 0])],
)
def test_another_amount_goes_to_the_lines_in_order(amount: int, given_: list[int]) -> None:
    outcome = decide("amount", RAITA, NAAN, amount_minor=amount)
    assert outcome.rule == "review_amount"
    assert [line.amount_minor for line in outcome.lines] == given_
    assert all(
        line.disposition == ("pay" if line.amount_minor else "nothing") for line in outcome.lines
    )


def test_an_amount_above_the_ceiling_is_refused_and_the_lines_go_on_waiting() -> None:
    outcome = decide("amount", RAITA, NAAN, amount_minor=11_001)
    assert outcome.rule == "review_refused:above_ceiling"
    assert (outcome.lines, outcome.pending) == ((), True)


def test_a_person_may_give_up_to_the_ceiling_where_the_rules_priced_less() -> None:
    unpriced = a_pending_line(1, 0, ceiling=750_000, category="unauthorised")
    outcome = decide("amount", unpriced, amount_minor=700_000, pack=BANK)
    assert [line.amount_minor for line in outcome.lines] == [700_000]
    assert decide("amount", unpriced, amount_minor=750_001, pack=BANK).rule.endswith(
        "above_ceiling"
    )


def test_plain_approval_of_what_has_no_price_is_refused_rather_than_closed_with_nothing() -> None:
    outcome = decide("approve", a_pending_line(1, 0, ceiling=750_000), pack=BANK)
    assert (outcome.rule, outcome.pending) == ("review_refused:state_an_amount", True)


def test_approval_of_what_pays_nothing_by_its_kind_closes_it() -> None:
    conduct = a_pending_line(1, 0, scopes=(), category="PARTNER_CONDUCT")
    outcome = decide("approve", conduct)
    assert (outcome.rule, outcome.pending) == ("review_approved", False)
    assert [line.disposition for line in outcome.lines] == ["nothing"]


def test_what_is_left_above_the_prices_goes_on_top_up_to_each_ceiling() -> None:
    half = a_pending_line(1, 2_500, ceiling=5_000)
    outcome = decide("amount", half, NAAN, amount_minor=9_000)
    assert [line.amount_minor for line in outcome.lines] == [4_000, 5_000]


def test_one_unit_claimed_twice_is_paid_once() -> None:
    again = a_pending_line(3, 5_000, scopes=NAAN.scopes)
    outcome = decide("approve", NAAN, again)
    assert [line.amount_minor for line in outcome.lines] == [5_000, 0]
    assert decide("amount", NAAN, again, amount_minor=5_001).rule.endswith("above_ceiling")


@pytest.mark.parametrize("role", ["customer", "records", "system", "stranger"])
@pytest.mark.parametrize("action", ["approve", "reject", "more_evidence"])
def test_only_roles_of_the_pack_decide(role: str, action: str) -> None:
    outcome = decide(action, RAITA, role=role)
    assert (outcome.rule, outcome.lines) == ("review_refused:role_may_not_decide", ())
    assert outcome.pending


def test_a_role_has_its_authority() -> None:
    limit = next(r.limit_minor for r in FOOD.pack.roles if r.role == "officer")
    assert limit is not None
    just = a_pending_line(1, limit)
    above = a_pending_line(1, limit + 1)
    assert decide("approve", just, role="officer").rule == "review_approved"
    assert decide("approve", above, role="officer").rule == "review_refused:above_authority"
    assert decide("approve", above, role="lead").rule == "review_approved"


def test_tier_three_takes_two_different_people() -> None:
    first = decide("approve", RAITA, tier=3, reviewer="asha")
    assert (first.rule, first.lines, first.pending) == ("review_awaits_second_person", (), True)
    same = decide("approve", RAITA, tier=3, reviewer="asha", approvals=first.approvals)
    assert (same.rule, same.lines) == ("review_refused:same_person_twice", ())
    assert same.approvals == first.approvals
    second = decide("approve", RAITA, tier=3, reviewer="bola", approvals=first.approvals)
    assert second.rule == "review_approved"
    assert [line.amount_minor for line in second.lines] == [6_000]


@pytest.mark.parametrize("spelt", ["Asha", "ASHA", "\uff41sha"])
def test_another_spelling_of_a_name_is_no_second_person(spelt: str) -> None:
    first = decide("approve", RAITA, tier=3, reviewer="asha")
    same = decide("approve", RAITA, tier=3, reviewer=spelt, approvals=first.approvals)
    assert (same.rule, same.lines) == ("review_refused:same_person_twice", ())
    other = decide(
        "amount", RAITA, tier=3, reviewer=spelt, approvals=first.approvals, amount_minor=1
    )
    assert [approval.reviewer for approval in other.approvals] == [spelt]


def test_another_spelling_of_who_decided_does_not_decide_the_appeal() -> None:
    review = a_review("approve", reviewer="Asha")
    outcome = review_outcome(
        review, [RAITA], (), 1, FOOD.pack, True, appealed=True, decided_by=["asha"]
    )
    assert outcome.rule == "review_refused:decided_before_the_appeal"


def test_two_people_who_name_different_amounts_have_not_agreed() -> None:
    first = decide("amount", RAITA, tier=3, reviewer="asha", amount_minor=4_000)
    second = decide("approve", RAITA, tier=3, reviewer="bola", approvals=first.approvals)
    assert second.rule == "review_awaits_second_person"
    third = decide("approve", RAITA, tier=3, reviewer="chidi", approvals=second.approvals)
    assert third.rule == "review_approved"


def test_a_rejection_takes_one_person_in_any_tier_and_forgets_approvals() -> None:
    waiting = (Approval(review_id="r-0", reviewer="asha", amount_minor=6_000),)
    outcome = decide("reject", RAITA, tier=3, reviewer="bola", approvals=waiting)
    assert (outcome.rule, outcome.approvals) == ("review_rejected", ())


@pytest.mark.parametrize("action", ["approve", "reject", "more_evidence"])
def test_a_dispute_that_is_not_before_a_person_takes_no_review(action: str) -> None:
    outcome = decide(action, waits=False)
    assert (outcome.rule, outcome.pending) == ("review_refused:nothing_pending", False)


def test_a_dispute_before_a_person_without_a_line_can_be_closed_but_not_paid() -> None:
    """No evidence came, or everything was rejected in a tier that a person sees."""
    assert (decide("reject").rule, decide("reject").pending) == ("review_rejected", False)
    for action, amount in (("approve", None), ("amount", 100)):
        outcome = decide(action, amount_minor=amount)
        assert (outcome.rule, outcome.pending) == ("review_refused:nothing_to_approve", True)


def test_an_appeal_brings_a_closed_dispute_before_a_person() -> None:
    outcome = decide("appeal", waits=False, role="customer", reviewer="customer-1")
    assert (outcome.rule, outcome.lines, outcome.pending) == ("appealed", (), True)


shares = st.builds(
    ScopeShare,
    scope=st.sampled_from(["L1#1", "L1#2", "L2#1", "LATE", "fee"]),
    amount_minor=st.integers(0, 1_000),
    ceiling_minor=st.none() | st.integers(0, 2_000),
)
pending_lines = st.lists(
    st.lists(shares, max_size=3, unique_by=lambda share: share.scope), min_size=1, max_size=4
).map(
    lambda parts: [
        a_line(i, amount_minor=0, disposition="person", scopes=tuple(part))
        for i, part in enumerate(parts, 1)
    ]
)


@given(pending_lines, st.integers(0, 6_000), st.booleans())
def test_never_more_than_each_scopes_ceiling_and_no_scope_twice(
    lines: list[PriceLine], amount: int, plain: bool
) -> None:
    outcome = decide(
        "approve" if plain else "amount", *lines, amount_minor=None if plain else amount
    )
    paid = [share for line in outcome.lines for share in line.scopes]
    assert len({share.scope for share in paid}) == len(paid)
    for share in paid:
        most = max(
            max(s.amount_minor, s.ceiling_minor or 0)
            for line in lines
            for s in line.scopes
            if s.scope == share.scope
        )
        assert 0 < share.amount_minor <= most
    if outcome.rule == "review_amount":
        assert sum(line.amount_minor for line in outcome.lines) == amount
