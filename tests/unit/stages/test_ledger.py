"""The ledger says the same of a dispute whatever order its events come in, and its chain holds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.dispute import Dispute
from schemas.docket import Docket
from schemas.ids import auto_key, content_hash
from schemas.ledger import AuditEntry, LedgerEntry
from schemas.letter import Letter, LetterRequest
from schemas.operation import Operation
from schemas.payment import Payment
from schemas.receipt import Receipt
from schemas.review import Review
from schemas.settlement import Decision
from schemas.verdict import Verdict
from streams import ledger
from streams.emit import Emit
from streams.ledger_account import LedgerState
from streams.ledger_chain import GENESIS, REMEMBERED, Place, chain, on_operation
from streams.tally import as_counted
from tests.unit.reading.support import FOOD
from tests.unit.stages.events import (
    DISPUTE,
    NOW,
    a_claim,
    a_docket,
    a_letter,
    a_line,
    a_pending_line,
    a_proposal,
    a_review,
    a_review_decision,
    a_ruling,
    a_verdict,
    about,
    after,
    as_decided,
    as_paid,
    as_refused,
    on,
)

TOPICS = {
    Dispute: "disputes",
    Docket: "dockets",
    Verdict: "verdicts",
    Decision: "decisions",
    Payment: "payments",
    LetterRequest: "letter-requests",
    Letter: "letters",
    Receipt: "receipts",
    Review: "reviews",
}


@dataclass
class Run:
    """The ledger after some events."""

    state: LedgerState
    emits: list[Emit]

    @property
    def entry(self) -> LedgerEntry:
        return on("ledger", self.emits)[-1]

    @property
    def statuses(self) -> list[str]:
        return [entry.status for entry in on("ledger", self.emits)]

    @property
    def audit(self) -> list[AuditEntry]:
        return on("audit", self.emits)


def run(*events: Any, now: datetime = NOW) -> Run:
    state, emits = LedgerState(), []
    for offset, event in enumerate(events):
        place = Place(TOPICS[type(event)], 3, offset)
        after_it, more = ledger.on_event(state, event, event.to_bytes(), place, now)
        assert after_it is not None
        state = after_it
        emits += more
    return Run(state, emits)


def at(event: Any, seconds: float) -> Any:
    return event.model_copy(update={"at": after(seconds=seconds)})


OPENED = Dispute(**{**about(), "at": after(seconds=1)}, text="words", filed_at=NOW, received_at=NOW)
DOCKET = at(a_docket(a_claim(1), a_claim(2, category="PACKAGING")), 2)
VERDICTS = [at(a_verdict(1), 3), at(a_verdict(2, "ESCALATE", category="PACKAGING"), 4)]
DECISION = at(as_decided(a_proposal(a_line(1), a_pending_line(2, 3_000, category="PACKAGING"))), 5)
PAYMENT = at(as_paid(DECISION), 6)
ASKED = LetterRequest(
    **{**about(), "at": after(seconds=6.5)}, letter_id=a_letter().letter_id, kind="outcome",
    paid_minor=5_000, currency="INR", complaint_text="words",
)  # fmt: skip
LETTER = at(a_letter(), 7)
RECEIPT = Receipt(
    **{**about(), "at": after(seconds=7.5)}, letter_id=LETTER.letter_id, channel="file",
    reference=f"file:{LETTER.letter_id}",
)  # fmt: skip
REVIEW = at(a_review(), 8)
REVIEWED = at(a_review_decision("r-1", a_line(2, amount_minor=3_000, category="PACKAGING")), 9)
REVIEW_PAID = at(as_paid(REVIEWED), 10)
STORY = [
    OPENED, DOCKET, *VERDICTS, DECISION, PAYMENT, ASKED, LETTER, RECEIPT, REVIEW, REVIEWED, REVIEW_PAID,
]  # fmt: skip

REFUSED = at(as_refused(DECISION), 6)
AGAIN = at(
    a_review_decision("r-1", a_line(1), a_line(2, amount_minor=3_000, category="PACKAGING")), 9
)
REFUSED_STORY = [
    OPENED, DOCKET, *VERDICTS, DECISION, REFUSED, LETTER, REVIEW, AGAIN, at(as_paid(AGAIN), 10),
]  # fmt: skip

SECOND = at(
    a_review_decision("r-2", needs_person=False, decision_rule="review_refused:nothing_pending"), 10
)
REVIEW_REFUSED_STORY = [
    OPENED, DOCKET, *VERDICTS, DECISION, PAYMENT, REVIEW, REVIEWED,
    at(as_refused(REVIEWED), 11), at(a_review(review="r-2"), 9.5), SECOND, at(as_paid(SECOND), 12),
]  # fmt: skip


def test_a_dispute_part_paid_then_paid_by_a_person() -> None:
    seen = run(*STORY)
    assert seen.statuses == [
        "extracting", "judging", "judging", "settling", "paying", "part_paid_in_review",
        "part_paid_in_review", "part_paid_in_review", "part_paid_in_review", "part_paid_in_review",
        "paying", "paid",
    ]  # fmt: skip
    entry = seen.entry
    assert (entry.paid_minor, entry.pending_minor, entry.needs_person) == (8_000, 0, False)
    assert entry.amount_minor == 5_000, "what was decided automatically does not change"
    assert entry.decision_rule == "auto_resolve_within_cap"
    assert entry.settled_at == PAYMENT.at
    assert entry.sequence == len(STORY)
    assert (entry.letters, entry.reviews) == (1, ("r-1",))
    assert entry.llm_calls == 2, "extraction and letter; these verdicts embed no rulings"


def test_what_waits_is_stated_while_it_waits() -> None:
    entry = run(*STORY[:6]).entry
    assert (entry.status, entry.pending_minor, entry.needs_person) == (
        "part_paid_in_review", 3_000, True,
    )  # fmt: skip


def ended(review: str, rule: str, waits: bool = True, **changes: Any) -> Decision:
    return at(a_review_decision(review, decision_rule=rule, needs_person=waits, **changes), 9)


def test_what_became_of_each_review_and_for_whom_or_what_the_dispute_waits() -> None:
    unpriced = a_proposal(decision_rule="order_too_old", needs_person=True, whole_ceiling_minor=10_000)  # fmt: skip
    decision = as_decided(unpriced)
    safe = at(a_docket(safety_words=True, outcome="order_too_old"), 2)
    seen = run(OPENED, safe, decision, as_paid(decision))
    assert (seen.entry.waits_for, seen.entry.ceiling_minor, seen.entry.safety) == ("person", 10_000, True)  # fmt: skip
    steps = [
        ("review_more_evidence", "evidence"),
        ("review_refused:above_ceiling", "evidence"),
        ("review_attached", "person"),
        ("review_awaits_second_person", "second_person"),
        ("review_refused:transaction_taken", "person"),
    ]
    events = [OPENED, safe, decision, as_paid(decision)]
    for number, (rule, waits_for) in enumerate(steps):
        events.append(ended(f"r-{number}", rule, whole_ceiling_minor=10_000))
        assert run(*events).entry.waits_for == waits_for
    entry = run(*events, ended("r-9", "review_rejected", waits=False)).entry
    assert (entry.waits_for, entry.ceiling_minor, entry.attached) == (None, 0, 1)
    assert entry.review_rules["r-1"] == "review_refused:above_ceiling"


def test_what_was_paid_for_the_order_as_a_whole_stands_whenever_the_docket_comes() -> None:
    whole = a_line(1, grievance_id=f"{DISPUTE}.order", category="order_as_a_whole")
    paid = at(a_review_decision("r-1", whole), 9)
    crossed, straight = run(OPENED, paid, DOCKET), run(OPENED, DOCKET, paid)
    assert crossed.entry.grievances == straight.entry.grievances
    assert crossed.entry.grievances[-1].amount_minor == 5_000


def test_a_refused_payment_puts_its_amount_before_a_person() -> None:
    entry = run(*REFUSED_STORY[:6]).entry
    assert (entry.status, entry.decision_rule) == ("in_review", "payment_refused")
    assert (entry.paid_minor, entry.pending_minor, entry.needs_person) == (0, 8_000, True)


def test_a_person_can_pay_what_was_refused() -> None:
    entry = run(*REFUSED_STORY).entry
    assert (entry.status, entry.paid_minor, entry.pending_minor) == ("paid", 8_000, 0)
    assert entry.decision_rule == "payment_refused"


def test_a_review_whose_payment_is_refused_is_before_a_person_again() -> None:
    entry = run(*REVIEW_REFUSED_STORY).entry
    assert (entry.status, entry.pending_minor) == ("part_paid_in_review", 3_000)


def interleavings(events: list[Any]) -> st.SearchStrategy[list[Any]]:
    """Orders that Kafka can deliver: any across topics, the order made within a topic."""

    def keep_topics_in_order(shuffled: list[Any]) -> list[Any]:
        queues = {kind: [e for e in events if type(e) is kind] for kind in TOPICS}
        return [queues[type(e)].pop(0) for e in shuffled]

    return st.permutations(events).map(keep_topics_in_order)


def facts(seen: Run) -> dict[str, Any]:
    """All that the ledger says except how it came to know it."""
    return seen.entry.model_dump(exclude={"at", "sequence", "chain_head"})


@pytest.mark.parametrize(
    "story",
    [STORY, REFUSED_STORY, REVIEW_REFUSED_STORY],
    ids=["paid by review", "refused", "review refused"],
)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_order_across_topics_leaves_no_trace(story: list[Any], data: st.DataObject) -> None:
    shuffled = run(*data.draw(interleavings(story)))
    in_order = run(*story)
    assert facts(shuffled) == facts(in_order)
    assert shuffled.entry.sequence == in_order.entry.sequence


@given(st.lists(st.sampled_from(range(len(STORY))), max_size=12))
@settings(max_examples=60, deadline=None)
def test_a_record_that_comes_again_changes_nothing(again: list[int]) -> None:
    once = run(*STORY)
    twice = run(*STORY, *(STORY[i] for i in again))
    assert twice.state == once.state
    assert len(twice.emits) == len(once.emits)


CLOSED = as_decided(a_proposal(decision_rule="no_grievance_upheld"))
TO_A_PERSON = as_decided(a_proposal(decision_rule="evidence_unavailable", needs_person=True))


@pytest.mark.parametrize(
    ("events", "status"),
    [
        ([OPENED], "extracting"),
        ([OPENED, DOCKET], "judging"),
        ([OPENED, a_docket()], "settling"),
        ([DOCKET, VERDICTS[0]], "judging"),
        ([DOCKET, *VERDICTS], "settling"),
        ([VERDICTS[0]], "extracting"),
        ([DOCKET, *VERDICTS, DECISION], "paying"),
        ([DECISION], "paying"),
        ([PAYMENT, DOCKET], "judging"),
        ([CLOSED], "settling"),
        ([CLOSED, as_paid(CLOSED)], "closed_no_payment"),
        ([TO_A_PERSON, as_paid(TO_A_PERSON)], "in_review"),
        ([DECISION, PAYMENT], "part_paid_in_review"),
        ([DECISION, REFUSED], "in_review"),
        ([as_decided(a_proposal(a_line())), as_paid(as_decided(a_proposal(a_line())))], "paid"),
    ],
)
def test_the_status_follows_from_what_is_known(events: list[Any], status: str) -> None:
    assert run(*events).entry.status == status


def test_a_dispute_is_settled_when_its_automatic_part_is_and_not_before() -> None:
    for story in (STORY, REFUSED_STORY):
        entries = on("ledger", run(*story).emits)
        assert [e.settled_at is not None for e in entries] == [False] * 5 + [True] * (
            len(story) - 5
        )


def test_a_late_verdict_changes_no_ruling() -> None:
    late = a_verdict(1, "REJECTED", revision=2, closed_by="late")
    entry = run(*STORY[:4], late).entry
    assert entry.grievances[0].ruling == "UPHELD"


def test_two_disputes_on_one_order_are_kept_apart() -> None:
    other = a_docket(a_claim(1, "d-2"), dispute="d-2")
    seen = run(DOCKET, other)
    assert set(seen.state.accounts) == {DISPUTE, "d-2"}
    assert [entry.sequence for entry in on("ledger", seen.emits)] == [1, 1]


def test_the_chain_can_be_recounted_from_the_events() -> None:
    previous = GENESIS
    seen = run(*STORY)
    for number, (entry, event) in enumerate(zip(seen.audit, STORY, strict=True), 1):
        assert entry.sequence == number
        assert entry.event_hash == content_hash(event.to_bytes())
        assert entry.previous == previous
        assert entry.chain == chain(previous, entry.event_hash)
        previous = entry.chain
    assert seen.entry.chain_head == previous


def test_a_late_ruling_is_counted_in_what_the_dispute_cost_and_each_ruling_once() -> None:
    pack = FOOD.pack
    one, two, three = (as_counted(a_ruling(seat), pack) for seat in (1, 2, 3))
    first = a_verdict(1, rulings=(one, two), closed_by="window")
    late = a_verdict(1, revision=2, closed_by="late", rulings=(one, two, three))
    spent = run(a_docket(a_claim(1)), first, late).entry
    assert (
        spent.llm_calls - a_docket().usage.calls,
        spent.cost_micros - a_docket().usage.cost_micros,
    ) == (3, 15)
    assert run(late, first).entry.cost_micros == run(first, late).entry.cost_micros == 15


def test_one_changed_byte_breaks_every_later_link() -> None:
    changed = DECISION.model_copy(update={"amount_minor": 5_001})
    before, now = run(*STORY).audit, run(*STORY[:4], changed, *STORY[5:]).audit
    same = [a.chain == b.chain for a, b in zip(before, now, strict=True)]
    assert same == [True] * 4 + [False] * (len(STORY) - 4)


def test_neither_ledger_nor_audit_holds_the_customers_words() -> None:
    spoken = a_docket(a_claim(text="SECRET claim"), text="SECRET words")
    opened = OPENED.model_copy(update={"text": "SECRET words"})
    told = a_letter(body="SECRET body")
    seen = run(opened, spoken, a_review(note="SECRET note"), told)
    assert not any(b"SECRET" in item.event.to_bytes() for item in seen.emits if item.event)
    assert "SECRET" not in seen.state.model_dump_json()


def test_a_simulated_event_marks_the_dispute_for_good() -> None:
    simulated = VERDICTS[0].model_copy(update={"simulated": True})
    assert run(OPENED, DOCKET, simulated, VERDICTS[1], DECISION).entry.simulated


def test_the_automatic_key_is_what_decides_that_a_dispute_is_decided() -> None:
    assert DECISION.decision_id == auto_key(DISPUTE)
    assert run(DOCKET, *VERDICTS, REVIEWED).entry.status == "settling"


def test_a_letter_is_told_when_written_and_delivered_when_the_other_side_took_it() -> None:
    stages = run(*STORY).entry.stages
    assert (stages["told"], stages["delivered"]) == (LETTER.at, RECEIPT.at)


def test_an_acknowledgement_is_no_answer() -> None:
    received = a_letter(letter_id="a", kind="handed_over", template="acknowledgement")
    stages = run(OPENED, at(received, 2), LETTER).entry.stages
    assert (stages["acknowledged"], stages["told"]) == (after(seconds=2), LETTER.at)


def an_operation(number: int, subject: str = "payouts") -> Operation:
    return Operation(
        at=after(seconds=number), operation_id=f"op-{number}", subject=subject,
        action="payouts_paused", actor="asha",
    )  # fmt: skip


def operated(*operations: Operation, state: LedgerState | None = None) -> Run:
    state, emits = state or LedgerState(), []
    for offset, operation in enumerate(operations):
        place = Place("operations", 3, offset)
        after_it, more = on_operation(state, operation, operation.to_bytes(), place, NOW)
        assert after_it is not None
        state, emits = after_it, emits + more
    return Run(state, emits)


def test_operations_are_chained_under_their_subject() -> None:
    first, second = an_operation(1), an_operation(2)
    links = operated(first, second).audit
    assert [(link.dispute_id, link.sequence) for link in links] == [
        ("operations:payouts", 1), ("operations:payouts", 2),
    ]  # fmt: skip
    assert [link.previous for link in links] == [GENESIS, links[0].chain]
    assert links[1].chain == chain(links[0].chain, content_hash(second.to_bytes()))


def test_an_operation_told_again_is_chained_once() -> None:
    again = an_operation(1).model_copy(update={"at": after(hours=1)})
    assert len(operated(an_operation(1), again).audit) == 1


def test_the_ledger_forgets_old_operations_and_never_where_their_chain_stands() -> None:
    many = [an_operation(number) for number in range(REMEMBERED + 5)]
    kept = operated(*many).state.operations
    assert kept is not None
    assert (kept.sequence, len(kept.recent)) == (REMEMBERED + 5, REMEMBERED)


def test_an_operation_on_a_dispute_leaves_the_disputes_own_chain_alone() -> None:
    state = run(*STORY).state
    seen = operated(an_operation(1, DISPUTE), state=state)
    assert seen.state.accounts == state.accounts
    assert [item.topic for item in seen.emits] == ["audit"]
