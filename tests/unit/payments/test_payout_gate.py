"""The gate before every payment: shut while anything is unknown, paused or too much."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import wraps
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.payment import Payment
from schemas.settlement import Decision
from streams.payments.ceiling import WINDOW, Paid, PaidWindow
from streams.payments.kill_switch import SwitchState
from tests.unit.stages.events import NOW, a_line, a_proposal, after, as_decided, as_paid
from topologies.async_stage import Hold
from topologies.payout_gate import STALE_AFTER_S, PayoutGate

CEILING = 10_000


class Bench:
    """A gate whose times a test moves."""

    def __init__(self) -> None:
        self.at = NOW
        self.seconds = 100.0
        self.gate = PayoutGate(lambda _: CEILING, lambda: self.at, lambda: self.seconds)
        self.gate.known(self.seconds)

    def held(self, decision: Decision | None = None) -> str | None:
        """Why the decision may not be paid; None where it may, and counts now."""
        try:
            self.gate.open()
            if decision is not None:
                self.gate.begin(decision)
        except Hold as hold:
            return str(hold)
        return None


def on_a_loop(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    @wraps(test)
    def run() -> None:
        asyncio.run(test())  # type: ignore[arg-type]

    return run


def decision(number: int, amount: int = 4_000, **changes: Any) -> Decision:
    dispute = f"d-{number}"
    proposal = a_proposal(a_line(dispute=dispute, amount_minor=amount), dispute=dispute)
    return as_decided(proposal, **changes)


def payment(number: int, amount: int = 4_000, **changes: Any) -> Payment:
    return as_paid(decision(number, amount), **changes)


@on_a_loop
async def test_what_was_never_read_or_not_for_a_while_is_paused() -> None:
    bench = Bench()
    assert bench.held() is None
    bench.seconds += STALE_AFTER_S + 0.1
    assert bench.held() == "payouts_unreadable"
    bench.gate.known(bench.seconds)
    assert bench.held() is None
    bench.gate.known(None)
    assert bench.held() == "payouts_unreadable"


@on_a_loop
async def test_a_pause_holds_and_the_resume_releases_all_at_once() -> None:
    bench = Bench()
    bench.gate.switched(SwitchState(paused=True, by="asha"))
    holds = []
    for number in range(3):
        with pytest.raises(Hold) as hold:
            bench.gate.begin(decision(number))
        holds.append(hold.value.released)
    bench.gate.release()
    assert not any(released.done() for released in holds)
    assert not bench.gate.holds
    bench.gate.switched(SwitchState())
    assert bench.gate.holds
    bench.gate.release()
    assert all(released.done() for released in holds)
    assert bench.held(decision(0)) is None


@on_a_loop
async def test_the_payment_that_would_pass_the_ceiling_trips_and_is_not_made() -> None:
    bench = Bench()
    assert bench.held(decision(1)) is None
    assert bench.held(decision(2)) is None
    assert bench.held(decision(3)) == "payouts_tripped"
    passing = bench.gate.passing
    assert passing is not None
    assert passing.payment_id == "d-3:auto"
    assert passing.details["paid_minor"] == "8000"
    assert bench.held(decision(4, 1)) == "payouts_tripped", "the switch is thrown already"
    bench.gate.switched(SwitchState(paused=True, by="payout", tripped_on="d-3:auto"))
    assert bench.gate.passing is None
    assert bench.held() == "payouts_paused"


@on_a_loop
async def test_after_the_resume_the_sum_is_counted_anew_and_does_not_trip_at_once() -> None:
    bench = Bench()
    bench.gate.paid(payment(1, 9_000), NOW)
    assert bench.held(decision(2)) == "payouts_tripped"
    bench.gate.switched(SwitchState(paused=True, by="payout", tripped_on="d-2:auto"))
    bench.at = after(minutes=1)
    bench.gate.switched(SwitchState(counted_from=after(seconds=30), tripped_on="d-2:auto"))
    assert bench.held(decision(2)) is None
    assert bench.held(decision(3)) is None
    assert bench.held(decision(4)) == "payouts_tripped"


@on_a_loop
async def test_a_single_payment_above_the_ceiling_waits_for_a_person_and_then_goes() -> None:
    bench = Bench()
    assert bench.held(decision(1, CEILING + 1)) == "payouts_tripped"
    bench.gate.switched(SwitchState(paused=True, by="payout", tripped_on="d-1:auto"))
    bench.gate.switched(SwitchState(counted_from=NOW, tripped_on="d-1:auto"))
    assert bench.held(decision(1, CEILING + 1)) is None


@on_a_loop
async def test_what_others_paid_counts_and_what_was_recorded_counts_once() -> None:
    bench = Bench()
    assert bench.held(decision(1)) is None
    bench.gate.paid(payment(1), NOW)
    bench.gate.paid(payment(1), NOW)
    bench.gate.paid(payment(7), NOW)
    assert bench.held(decision(2, 2_000)) is None
    assert bench.held(decision(3, 1)) == "payouts_tripped"


@on_a_loop
async def test_of_two_instances_each_passes_the_ceiling_by_no_more_than_the_other_has_under_way() -> (
    None
):
    one, two = Bench(), Bench()
    begun: list[Decision] = []
    for number in range(20):
        bench = (one, two)[number % 2]
        if bench.held(decision(number, 3_000)) is None:
            begun.append(decision(number, 3_000))
    # Neither has read anything of the other: each stays within the ceiling by itself.
    assert sum(each.amount_minor for each in begun) == 2 * 9_000
    for bench in (one, two):
        for each in begun:
            bench.gate.paid(as_paid(each), NOW)
        bench.gate.switched(SwitchState(paused=True, by="payout"))
        bench.gate.switched(SwitchState())
        assert bench.held(decision(50, 1)) == "payouts_tripped"


@on_a_loop
async def test_a_replay_of_old_payments_counts_nothing() -> None:
    bench = Bench()
    for number in range(50):
        long_ago = payment(number, found_before_call=True, moved_at=after(days=-1))
        bench.gate.paid(long_ago, NOW)
    assert bench.held(decision(60, CEILING)) is None


@on_a_loop
async def test_what_was_refused_counts_no_more() -> None:
    bench = Bench()
    assert bench.held(decision(1, CEILING)) is None
    bench.gate.refused("d-1:auto")
    assert bench.held(decision(2, CEILING)) is None
    bench.gate.paid(payment(2, 0, status="refused"), NOW)  # refused by another instance's call
    assert bench.held(decision(3, CEILING)) is None


@on_a_loop
async def test_the_same_payment_tried_again_counts_once() -> None:
    bench = Bench()
    for _ in range(5):
        assert bench.held(decision(1, CEILING)) is None


@on_a_loop
async def test_policies_and_currencies_have_sums_of_their_own() -> None:
    bench = Bench()
    assert bench.held(decision(1, CEILING)) is None
    assert bench.held(decision(2, CEILING, currency="NGN")) is None


Step = tuple[int, int]


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 5_000)), max_size=40))
def test_the_window_holds_what_was_paid_in_it_and_nothing_else(steps: list[Step]) -> None:
    """Against the plain sum over a list; minutes in any order, as partitions deliver them."""
    window, purse = PaidWindow(), ("food", "INR")
    times: list[tuple[datetime, int]] = []
    for number, (minute, amount) in enumerate(steps):
        window.record(Paid(f"p{number}", purse, amount), after(minutes=minute))
        times.append((after(minutes=minute), amount))
    begins = after(minutes=30) - WINDOW
    window.forget(begins)
    assert window.total(purse) == sum(amount for at, amount in times if at >= begins)
