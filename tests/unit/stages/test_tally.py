"""Code counts the rulings, and the window closes with whoever has answered."""

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.ruling import Ruling
from schemas.verdict import Verdict
from streams import tally
from streams.tally import Subject, Tally, TallyState
from tests.unit.stages.events import (
    DISPUTE,
    FOOD,
    NOW,
    PACKS,
    a_ruling,
    about,
    after,
    cancelled,
    on,
    rung,
)

TALLY = Tally(PACKS)
WINDOWS = FOOD.pack.windows
GRIEVANCE = f"{DISPUTE}.g1"
Rulings = list[Ruling]


def run(*rulings: Ruling) -> tuple[TallyState | None, list[Verdict], list]:
    """The state, the verdicts and everything else after these rulings, a second apart."""
    state: TallyState | None = None
    emits = []
    for second, ruling in enumerate(rulings):
        state, more = TALLY.on_ruling(state, ruling, after(seconds=second))
        emits += more
    return state, on("verdicts", emits), emits


def the_deadline() -> tally.Deadline:
    """As extraction sets it together with the grievance."""
    subject = Subject(
        grievance_id=GRIEVANCE,
        category="MISSING_ITEM",
        **{k: v for k, v in about().items() if k != "at"},
    )
    return tally.Deadline(
        at=after(minutes=15),
        timer_id=tally.deadline_timer(GRIEVANCE),
        stage="tally",
        kind="tally_deadline",
        waiting_key=GRIEVANCE,
        due_at=after(minutes=15),
        payload=subject.model_dump(mode="json"),
    )


def test_the_kth_ruling_closes_it_at_once_and_ends_the_wait() -> None:
    _, verdicts, emits = run(a_ruling(1), a_ruling(2))
    assert verdicts == []
    _, verdicts, emits = run(a_ruling(1), a_ruling(2), a_ruling(3))
    assert [(v.ruling, v.closed_by, v.revision) for v in verdicts] == [("UPHELD", "all_seats", 1)]
    assert cancelled(emits) == [tally.window_timer(GRIEVANCE)]


def test_the_first_ruling_opens_a_window_of_the_packs_length() -> None:
    _, _, emits = run(a_ruling(2))
    [timer] = on("timers", emits)
    assert timer.kind == "tally_window"
    assert timer.waiting_key == GRIEVANCE
    assert timer.due_at == NOW + timedelta(seconds=WINDOWS.tally_window_s)
    _, _, emits = run(a_ruling(2), a_ruling(1))
    assert len(on("timers", emits)) == 1, "the second ruling does not put it off"


def test_the_window_closes_with_a_seat_missing() -> None:
    state, _, emits = run(a_ruling(1), a_ruling(2))
    [timer] = on("timers", emits)
    state, emits = TALLY.on_deadline(state, rung(timer), timer.due_at)
    [verdict] = on("verdicts", emits)
    assert (verdict.ruling, verdict.closed_by) == ("UPHELD", "window")
    assert (verdict.votes.UPHELD, verdict.votes.absent) == (2, 1)
    assert state is not None
    assert state.closed


def test_a_window_that_rings_twice_closes_once() -> None:
    state, _, emits = run(a_ruling(1), a_ruling(2))
    [timer] = on("timers", emits)
    state, _ = TALLY.on_deadline(state, rung(timer), timer.due_at)
    again, emits = TALLY.on_deadline(state, rung(timer), timer.due_at)
    assert (again, emits) == (state, [])


def test_a_late_ruling_is_a_later_revision() -> None:
    state, _, emits = run(a_ruling(1, "REJECTED"), a_ruling(2, "REJECTED"))
    [timer] = on("timers", emits)
    state, _ = TALLY.on_deadline(state, rung(timer), timer.due_at)
    state, emits = TALLY.on_ruling(state, a_ruling(3), after(seconds=90))
    [late] = on("verdicts", emits)
    assert (late.revision, late.closed_by, late.ruling) == (2, "late", "REJECTED")
    assert late.verdict_id == f"{GRIEVANCE}.v2"
    assert [r.seat for r in late.rulings] == [1, 2, 3]


def test_no_seat_ever_answers_and_the_outer_deadline_still_ends_it() -> None:
    _, emits = TALLY.on_deadline(None, the_deadline(), after(minutes=15))
    [verdict] = on("verdicts", emits)
    assert (verdict.ruling, verdict.closed_by, verdict.confidence) == ("ESCALATE", "deadline", 0.0)
    assert verdict.votes.absent == 3
    assert verdict.dispute_id == DISPUTE


def test_the_outer_deadline_after_the_verdict_only_ends_the_state() -> None:
    state, _, _ = run(a_ruling(1), a_ruling(2), a_ruling(3))
    assert TALLY.on_deadline(state, the_deadline(), after(minutes=15)) == (None, [])


@pytest.mark.parametrize("before", [0, 1, 2])
def test_rulings_read_after_the_deadline_though_made_before_it_are_late_revisions(
    before: int,
) -> None:
    """After an outage the deadline may be read first. One verdict decides: ClickHouse keeps one row of an
    id, and it must be the one that settlement took."""
    rulings = [a_ruling(seat, "UPHELD") for seat in (1, 2, 3)]
    state, _, emits = run(*rulings[:before])
    state, more = TALLY.on_deadline(state, the_deadline(), after(minutes=15))
    emits += more
    for ruling in rulings[before:]:
        state, more = TALLY.on_ruling(state, ruling, after(seconds=30))
        emits += more
    revisions = [(v.revision, v.closed_by) for v in on("verdicts", emits)]
    assert revisions == [(1, "deadline"), *((2 + i, "late") for i in range(3 - before))]
    [retire] = [t for t in on("timers", emits) if t and t.kind == "retire"]
    assert retire.due_at == after(minutes=15) + tally.REMEMBERED
    assert TALLY.on_deadline(state, rung(retire), retire.due_at) == (None, [])


def test_a_window_with_no_state_finds_nothing() -> None:
    _, _, emits = run(a_ruling(1))
    [timer] = on("timers", emits)
    assert TALLY.on_deadline(None, rung(timer), timer.due_at) == (None, [])


@pytest.mark.parametrize("seat", [1, 2, 3])
def test_a_ruling_after_the_deadline_decides_nothing_and_leaves_nothing(seat: int) -> None:
    state, emits = TALLY.on_ruling(None, a_ruling(seat), after(minutes=16))
    [late] = on("verdicts", emits)
    assert state is None
    assert late.closed_by == "late"
    assert late.revision == 1 + seat, "never 1, which decides, and never another seat's"


def test_the_first_ruling_of_a_seat_counts_and_no_other() -> None:
    state, verdicts, _ = run(a_ruling(1), a_ruling(1, "REJECTED"), a_ruling(2), a_ruling(3))
    assert [v.votes.UPHELD for v in verdicts] == [3]
    closed, more = TALLY.on_ruling(state, a_ruling(2, "REJECTED"), after(seconds=9))
    assert (closed, more) == (state, [])


def test_a_seat_that_the_pack_does_not_seat_counts_for_nothing() -> None:
    assert run(a_ruling(9)) == (None, [], [])
    _, verdicts, _ = run(a_ruling(1), a_ruling(9), a_ruling(2))
    assert verdicts == []


@pytest.mark.parametrize("order", list(itertools.permutations([1, 2, 3])))
def test_the_order_of_the_rulings_does_not_matter(order: tuple[int, ...]) -> None:
    votes = {1: "UPHELD", 2: "ESCALATE", 3: "UPHELD"}
    _, [verdict], _ = run(*(a_ruling(seat, votes[seat]) for seat in order))
    _, [expected], _ = run(*(a_ruling(seat, votes[seat]) for seat in (1, 2, 3)))
    assert verdict == expected


CASES = [
    (["UPHELD", "UPHELD", "UPHELD"], "UPHELD"),
    (["UPHELD", "UPHELD", "REJECTED"], "UPHELD"),
    (["REJECTED", "REJECTED", "UPHELD"], "REJECTED"),
    (["ESCALATE", "ESCALATE", "UPHELD"], "ESCALATE"),
    (["UPHELD", "REJECTED", "ESCALATE"], "ESCALATE"),
    (["UPHELD", "UPHELD", "FAILED"], "UPHELD"),  # two of three is 67 % of the seated weight
    (["UPHELD", "FAILED", "FAILED"], "ESCALATE"),  # below the quorum
    (["UPHELD", "REJECTED", "FAILED"], "ESCALATE"),
    (["FAILED", "FAILED", "FAILED"], "ESCALATE"),
]


@pytest.mark.parametrize(("votes", "expected"), CASES, ids=["-".join(v) for v, _ in CASES])
def test_sixty_percent_of_the_seated_weight_or_a_person(votes: list[str], expected: str) -> None:
    _, [verdict], _ = run(*(a_ruling(seat, vote) for seat, vote in enumerate(votes, 1)))
    assert verdict.ruling == expected
    assert sum(verdict.votes.model_dump().values()) == 3


def test_an_absent_seat_counts_against_as_a_failed_one_does() -> None:
    """One of three is no majority though it is all that was said."""
    state, _, emits = run(a_ruling(1))
    [timer] = on("timers", emits)
    _, emits = TALLY.on_deadline(state, rung(timer), timer.due_at)
    assert on("verdicts", emits)[0].ruling == "ESCALATE"


def test_confidence_of_a_sure_three_to_none_and_of_a_two_to_one() -> None:
    _, [sure], _ = run(*(a_ruling(seat, "UPHELD", 0.98) for seat in (1, 2, 3)))
    assert sure.confidence == 0.98
    split = [a_ruling(1, "UPHELD", 0.98), a_ruling(2, "UPHELD", 0.98), a_ruling(3, "REJECTED", 0.9)]
    _, [split_verdict], _ = run(*split)
    assert split_verdict.confidence == pytest.approx(0.35, abs=0.01)


def test_confidence_is_never_below_zero_and_a_failed_seat_takes_nothing_off() -> None:
    split = [a_ruling(1, "UPHELD", 0.1), a_ruling(2, "UPHELD", 0.1), a_ruling(3, "REJECTED", 1.0)]
    assert run(*split)[1][0].confidence == 0.0
    failed = [a_ruling(1, "UPHELD", 0.9), a_ruling(2, "UPHELD", 0.9), a_ruling(3, "FAILED", 0.0)]
    assert run(*failed)[1][0].confidence == pytest.approx(0.6)


def test_the_verdict_holds_each_ruling_by_hash_and_without_its_raw_reply() -> None:
    rulings = [a_ruling(1), a_ruling(2), a_ruling(3)]
    _, [verdict], _ = run(*rulings)
    assert [r.ruling_id for r in verdict.rulings] == [r.ruling_id for r in rulings]
    assert all(r.ruling_hash.startswith("sha256:") for r in verdict.rulings)
    assert b"raw_reply" not in verdict.to_bytes()


def test_one_simulated_ruling_marks_the_verdict() -> None:
    _, [verdict], _ = run(a_ruling(1), a_ruling(2, simulated=True), a_ruling(3))
    assert verdict.simulated
    assert not run(a_ruling(1), a_ruling(2), a_ruling(3))[1][0].simulated


@given(
    st.lists(
        st.tuples(
            st.integers(1, 4),
            st.sampled_from(["UPHELD", "REJECTED", "ESCALATE", "FAILED"]),
            st.floats(0, 1),
        ),
        max_size=12,
    )
)
def test_whatever_comes_there_is_one_deciding_verdict_and_it_holds_its_majority(
    votes: list[tuple[int, str, float]],
) -> None:
    state: TallyState | None = None
    emits = []
    for seat, vote, confidence in votes:
        state, more = TALLY.on_ruling(state, a_ruling(seat, vote, confidence), NOW)
        emits += more
    for deadline in [*(rung(t) for t in on("timers", emits) if t), the_deadline()]:
        state, more = TALLY.on_deadline(state, deadline, deadline.due_at)
        emits += more
    for retire in [rung(t) for t in on("timers", emits) if t and t.kind == "retire"]:
        state, _ = TALLY.on_deadline(state, retire, retire.due_at)
    deciding = [v for v in on("verdicts", emits) if v.revision == 1]
    assert state is None
    assert len(deciding) == 1
    verdict = deciding[0]
    assert 0 <= verdict.confidence <= 1
    if verdict.ruling != "ESCALATE":
        assert getattr(verdict.votes, verdict.ruling) >= 2


def test_judges_whose_replies_are_copies_of_one_are_counted_and_said() -> None:
    same = [a_ruling(seat, raw_reply='{"ruling": "UPHELD"}') for seat in (1, 3)]
    _, [verdict], _ = run(*same, a_ruling(2, raw_reply='{"ruling": "UPHELD", "reason": "late"}'))
    assert verdict.identical_replies == 2


def test_replies_that_differ_or_are_not_there_are_nobodys_copy() -> None:
    _, [verdict], _ = run(
        *(a_ruling(seat, raw_reply="") for seat in (1, 2)), a_ruling(3, raw_reply="x")
    )
    assert verdict.identical_replies == 0
