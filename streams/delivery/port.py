"""What delivery may ask of a way out of the house, and every way the answer can come."""

from typing import Protocol

from schemas.letter import Letter
from schemas.receipt import Channel


class NotDelivered(Exception):
    """Not taken, or not known to be: worth trying again under the same letter_id."""

    def __init__(self, reason: str, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s


class Undeliverable(ValueError):
    """Definite: this letter will not be taken, however often it is sent.

    The reason ends up in a dead letter in clear text, so it never quotes the letter or an address.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Misconfigured(ValueError):
    """REFUND_BENCH_DELIVERY says no way out that we have."""


class Delivery(Protocol):
    """A letter can be sent more than once: a process may die between the sending and its receipt.
    Each adapter therefore hands the letter_id over, for the other side to tell a repeat by."""

    @property
    def channel(self) -> Channel: ...

    async def send(self, letter: Letter) -> str:
        """Send, and say under what name the other side holds it.

        Raises:
            NotDelivered: to be tried again.
            Undeliverable: definite.
        """
        ...
