"""The gate every payment passes: open while the kill switch's state is known, off, and the sum below the ceiling.

Fed by `topologies/payout_watch.py`, asked by the payout stage; pure but for its lock. What cannot be
known counts as paused.

How far the sum can pass the ceiling. One instance alone never passes it: what it has under way counts
before the call is made. Of several, each adds at most what the others have begun and it has not read
yet: their calls under way (no more than their slots), and what they paid in the time a record takes
to be read, a fraction of a second, and never more than `STALE_AFTER_S`: what lies behind a transaction
that a killed instance left open cannot be read, and counts as unknown. An instance that was killed
adds once what it had under way. A trip stops the others within the same time.
"""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from schemas.payment import Payment
from schemas.settlement import Decision
from streams.payments.ceiling import WINDOW, Paid, PaidWindow
from streams.payments.kill_switch import SwitchState
from topologies.async_stage import Hold

STALE_AFTER_S = 5.0
"""What was known so long ago is not known any more."""


@dataclass(frozen=True)
class Passing:
    """A payment that would have passed the ceiling, for the record of the trip."""

    payment_id: str
    details: dict[str, str]


class PayoutGate:
    """`now` is wall-clock time, `monotonic` seconds; `ceiling_of` gives a decision's ceiling, None for none."""

    def __init__(
        self,
        ceiling_of: Callable[[Decision], int | None],
        now: Callable[[], datetime],
        monotonic: Callable[[], float],
    ) -> None:
        self._ceiling_of = ceiling_of
        self._now = now
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._state = SwitchState()
        self._window = PaidWindow()
        self._known_at: float | None = None
        self._passing: Passing | None = None
        self._released: asyncio.Future[None] | None = None

    # What the stage asks, on the loop.

    def open(self) -> None:
        """Before anything is asked of the gateway.

        Raises:
            Hold: no payment may be begun now.
        """
        with self._lock:
            closed = self._closed()
            if closed:
                raise self._hold(closed)

    def begin(self, decision: Decision) -> None:
        """Before money moves; it counts from here on.

        Raises:
            Hold: no payment may be begun, or this one would pass the ceiling.
        """
        paid = _paid(decision, decision.decision_id, decision.amount_minor)
        with self._lock:
            closed = self._closed()
            if closed:
                raise self._hold(closed)
            self._window.forget(self._begins())
            ceiling = self._ceiling_of(decision)
            counted = self._window.total(paid.purse)
            more = 0 if self._window.holds(paid.payment_id) else paid.amount_minor
            allowed = paid.payment_id == self._state.tripped_on
            if ceiling is not None and counted + more > ceiling and not allowed:
                told = {
                    "policy": paid.purse[0],
                    "currency": paid.purse[1],
                    "paid_minor": str(counted),
                    "amount_minor": str(paid.amount_minor),
                    "ceiling_minor": str(ceiling),
                    "payment_id": paid.payment_id,
                }
                self._passing = Passing(paid.payment_id, told)
                raise self._hold("payouts_tripped")
            self._window.begin(paid)

    def refused(self, payment_id: str) -> None:
        """The gateway refused it for good: it counts no more."""
        with self._lock:
            self._window.refused(payment_id)

    def release(self) -> None:
        """Let go of what is held, if the gate is open again. Call it on the loop."""
        with self._lock:
            if self._released is None or self._closed():
                return
            released, self._released = self._released, None
        released.set_result(None)

    # What the watch asks and tells, on its thread.

    @property
    def holds(self) -> bool:
        """Whether payments wait that could go now."""
        with self._lock:
            return self._released is not None and not self._closed()

    @property
    def state(self) -> SwitchState:
        """The switch as last read."""
        with self._lock:
            return self._state

    @property
    def passing(self) -> Passing | None:
        """The payment that must trip the switch, until that is seen to have happened."""
        with self._lock:
            return self._passing

    def switched(self, state: SwitchState) -> None:
        """A record of `switches` was read."""
        with self._lock:
            self._state = state
            if state.paused:
                self._passing = None

    def paid(self, payment: Payment, at: datetime) -> None:
        """A record of `payments` was read; `at` is the broker's time of it."""
        if payment.status != "paid":
            self.refused(payment.payment_id)
            return
        moved_at = payment.moved_at if payment.found_before_call and payment.moved_at else at
        with self._lock:
            self._window.record(
                _paid(payment, payment.payment_id, payment.amount_minor), min(moved_at, at)
            )

    def known(self, as_of: float | None) -> None:
        """Everything written by then (`monotonic`) has been read; None where it is read anew."""
        with self._lock:
            self._known_at = as_of

    def _closed(self) -> str | None:
        """Why nothing may be paid, as a code; None where it may."""
        if self._known_at is None or self._monotonic() - self._known_at > STALE_AFTER_S:
            return "payouts_unreadable"
        if self._state.paused:
            return "payouts_paused"
        return "payouts_tripped" if self._passing else None

    def _begins(self) -> datetime:
        begins = self._now() - WINDOW
        return max(begins, self._state.counted_from) if self._state.counted_from else begins

    def _hold(self, reason: str) -> Hold:
        if self._released is None:
            self._released = asyncio.get_running_loop().create_future()
        return Hold(reason, self._released)


def _paid(about: Decision | Payment, payment_id: str, amount_minor: int) -> Paid:
    return Paid(payment_id, (about.pack.policy, about.currency), amount_minor)
