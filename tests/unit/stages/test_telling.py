"""What a letter may speak of: what was paid, what a colleague looks at, and never what was rejected."""

import pytest

from schemas.letter import LetterRequest
from schemas.payment import Payment
from schemas.settlement import Decision, PriceLine
from streams.telling import acknowledgement, is_outcome, is_told, outcome_letter, review_letter
from tests.unit.stages.events import (
    BANK,
    FOOD,
    NOW,
    a_claim,
    a_docket,
    a_line,
    a_pending_line,
    a_proposal,
    a_review_decision,
    after,
    as_decided,
    as_paid,
    as_refused,
)

DOCKET = a_docket(
    a_claim(1, text="two biryanis missing"),
    a_claim(2, text="the raita leaked"),
    a_claim(3, text="the courier was rude", category="PARTNER_CONDUCT"),
)
REJECTED = a_line(
    3, category="PARTNER_CONDUCT", ruling="REJECTED", disposition="nothing", amount_minor=0
)


def tell(*lines: PriceLine, payment: Payment | None = None, **changes: object) -> LetterRequest:
    decision = as_decided(a_proposal(*lines), **changes)
    return outcome_letter(DOCKET, decision, payment or as_paid(decision), FOOD.pack, NOW)


def test_what_was_paid_and_what_waits_and_not_what_was_rejected() -> None:
    letter = tell(a_line(1), a_pending_line(2), REJECTED)
    assert (letter.kind, letter.paid_minor, letter.currency) == ("outcome", 5_000, "INR")
    assert [(line.text, line.state, line.amount_minor) for line in letter.lines] == [
        ("two biryanis missing", "resolved", 5_000),
        ("the raita leaked", "with_a_person", 0),
    ]
    assert "courier" not in letter.model_dump_json(exclude={"complaint_text"})


def test_a_complaint_with_a_clock_for_it_is_acknowledged_with_the_date_of_the_answer() -> None:
    clocks = {"acknowledge_by": after(days=3), "resolve_by": after(hours=24)}
    letter = acknowledgement(a_docket(pack=BANK.ref, **clocks), BANK, NOW)
    assert letter is not None
    assert (letter.template, letter.lines, letter.complaint_text) == ("acknowledgement", (), "")
    assert letter.promises["by"] == "19 September 2026, 17:00 UTC"
    assert letter.promises["review"].endswith("by 19 September 2026, 17:00 UTC.")
    assert not is_outcome(letter.letter_id)
    assert acknowledgement(a_docket(pack=BANK.ref), BANK, NOW) is None, "no clock"
    assert acknowledgement(a_docket(**clocks), FOOD, NOW) is None, "no template"


def test_a_promise_of_a_date_is_not_made_where_there_is_none() -> None:
    decision = as_decided(a_proposal(a_pending_line(1)))
    letter = outcome_letter(DOCKET, decision, as_paid(decision), BANK.pack, NOW)
    assert "review" not in letter.promises
    assert not any("{" in said for said in letter.promises.values())
    assert is_outcome(letter.letter_id)


def test_the_amount_told_is_the_amount_the_gateway_confirmed() -> None:
    decision = as_decided(a_proposal(a_line(1)))
    confirmed = as_paid(decision, amount_minor=4_999)
    assert outcome_letter(DOCKET, decision, confirmed, FOOD.pack, NOW).paid_minor == 4_999


def test_a_refused_payment_is_told_as_being_with_a_person() -> None:
    decision = as_decided(a_proposal(a_line(1)))
    letter = outcome_letter(DOCKET, decision, as_refused(decision), FOOD.pack, NOW)
    assert (letter.kind, letter.paid_minor) == ("handed_over", 0)
    assert [(line.state, line.amount_minor) for line in letter.lines] == [("with_a_person", 0)]


def test_an_upheld_line_that_pays_nothing_says_why() -> None:
    within_grace = a_line(1, amount_minor=0, disposition="nothing", basis="10 minutes: below 15")
    [line] = tell(within_grace).lines
    assert (line.state, line.amount_minor, line.note) == ("resolved", 0, "10 minutes: below 15")


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("no_checkable_grievance", "no_checkable_grievance"),
        ("no_grievance_upheld", "nothing_upheld"),
        ("evidence_unavailable", "handed_over"),
        ("screening_flag_requires_human", "handed_over"),
    ],
)
def test_the_kind_follows_from_the_rule(rule: str, kind: str) -> None:
    assert tell(decision_rule=rule).kind == kind


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("review_approved", "review"),
        ("review_rejected", "review"),
        ("review_more_evidence", "more_evidence"),
        ("appealed", "handed_over"),
    ],
)
def test_a_review_has_a_letter_of_its_own(rule: str, kind: str) -> None:
    decision: Decision = a_review_decision("r-1", decision_rule=rule)
    letter = review_letter(DOCKET, decision, as_paid(decision), FOOD.pack, NOW)
    assert letter.kind == kind
    assert letter.letter_id == "d-1:review:r-1:letter"


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("review_approved", True),
        ("review_more_evidence", True),
        ("auto_resolve_within_cap", True),
        ("review_awaits_second_person", False),
        ("review_refused:above_authority", False),
        ("review_refused:same_person_twice", False),
    ],
)
def test_what_is_between_officers_is_not_told(rule: str, told: bool) -> None:
    assert is_told(a_review_decision("r-1", decision_rule=rule)) is told


def test_only_the_packs_promises_may_be_made() -> None:
    assert tell(a_line(1)).promises == FOOD.pack.promises


def test_a_simulated_ruling_marks_the_letter() -> None:
    assert tell(a_line(1), simulated=True).simulated
