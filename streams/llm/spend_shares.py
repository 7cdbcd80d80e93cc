"""How the limit on what one dispute may cost is divided.

Extraction, the seats and letters run in processes that share nothing, so that none can know what the
others have spent. Each has a fixed part of the limit instead, and the parts add up to it: whatever
each of them does, a dispute cannot cost more. What is counted together is an account.
"""

from dataclasses import dataclass
from typing import Final

EXTRACTION_SHARE: Final = 0.2
LETTER_SHARE: Final = 0.1
JUDGING_SHARE: Final = 0.7
"""Of the whole dispute; a seat's part for one grievance is this over grievances times seats."""


@dataclass(frozen=True)
class Account:
    """What the cost of some calls is counted under, and the share of the dispute's limit it may spend."""

    account: str
    share: float


def for_extraction(dispute_id: str) -> Account:
    """The one extraction, its re-ask and its retries."""
    return Account(f"{dispute_id}:extraction", EXTRACTION_SHARE)


def for_seat(grievance_id: str, seat: int, of: int, seats: int) -> Account:
    """One seat's ruling on one of `of` grievances that `seats` seats judge."""
    return Account(f"{grievance_id}:{seat}", JUDGING_SHARE / (of * seats))


def for_letters(dispute_id: str) -> Account:
    """Every letter of the dispute."""
    return Account(f"{dispute_id}:letters", LETTER_SHARE)
