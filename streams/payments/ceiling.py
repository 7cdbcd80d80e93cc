"""What was paid in the last fifteen minutes, per policy and currency, against the pack's ceiling.

Counted is what `payments` records, at the time the broker gave the record; a refund that was found
instead of paid counts when the gateway moved it, so that a replay of old decisions counts nothing.
Beside that, what is under way here and not yet recorded.
"""

import heapq
from dataclasses import dataclass
from datetime import datetime, timedelta

WINDOW = timedelta(minutes=15)

Purse = tuple[str, str]
"""Policy and currency."""


@dataclass(frozen=True)
class Paid:
    """Money that moved, or is about to."""

    payment_id: str
    purse: Purse
    amount_minor: int


class PaidWindow:
    """Recorded payments, and those under way. Times are arguments."""

    def __init__(self) -> None:
        self._recorded: dict[str, Paid] = {}
        self._by_time: list[tuple[datetime, str]] = []
        self._under_way: dict[str, Paid] = {}
        self._sums: dict[Purse, int] = {}

    def begin(self, paid: Paid) -> None:
        """A call is about to be made; beginning it again changes nothing."""
        if paid.payment_id not in self._recorded:
            self._under_way[paid.payment_id] = paid

    def refused(self, payment_id: str) -> None:
        """It will never move."""
        self._under_way.pop(payment_id, None)

    def record(self, paid: Paid, at: datetime) -> None:
        """`payments` says so; of a payment recorded twice the first record counts."""
        self._under_way.pop(paid.payment_id, None)
        if paid.payment_id in self._recorded:
            return
        self._recorded[paid.payment_id] = paid
        heapq.heappush(self._by_time, (at, paid.payment_id))
        self._sums[paid.purse] = self._sums.get(paid.purse, 0) + paid.amount_minor

    def forget(self, before: datetime) -> None:
        """Drop what was recorded before this moment."""
        while self._by_time and self._by_time[0][0] < before:
            _, payment_id = heapq.heappop(self._by_time)
            gone = self._recorded.pop(payment_id)
            self._sums[gone.purse] -= gone.amount_minor

    def total(self, purse: Purse) -> int:
        """Minor units recorded in the window, and under way."""
        under_way = sum(
            paid.amount_minor for paid in self._under_way.values() if paid.purse == purse
        )
        return self._sums.get(purse, 0) + under_way

    def holds(self, payment_id: str) -> bool:
        """Whether its money is counted already."""
        return payment_id in self._recorded or payment_id in self._under_way
