"""What is to be told to the customer, and the message."""

from typing import Literal

from schemas.base import CurrencyCode, DisputeEvent, Id, Minor, Model
from schemas.docket import Usage

LetterKind = Literal[
    "outcome", "handed_over", "nothing_upheld", "no_checkable_grievance", "review", "more_evidence"
]


class ToldLine(Model):
    """One matter the letter may speak of. Rejected claims are not among them."""

    category: Id
    text: str
    amount_minor: Minor
    state: Literal["resolved", "with_a_person"]
    note: str | None = None


class LetterRequest(DisputeEvent):
    """Key: settles_under. Made once the money is settled, so the amount stated is the amount paid."""

    letter_id: Id
    kind: LetterKind
    template: Id | None = None
    """The pack's template where it is not the kind's own: `acknowledgement`. A new kind would be one that
    readers of this schema version do not know."""
    paid_minor: Minor
    currency: CurrencyCode
    lines: tuple[ToldLine, ...] = ()
    complaint_text: str
    """In the customer's words, for the tone only; deleted with the topic's retention."""
    promises: dict[str, str] = {}
    """What the pack allows to be promised, in words."""


class Letter(DisputeEvent):
    """Key: settles_under. The message as sent."""

    letter_id: Id
    kind: LetterKind
    template: Id | None = None
    """As the request has it."""
    body: str
    language: str = "en"
    written_by: Literal["model", "template"]
    model: str | None = None
    prompt_hash: str | None = None
    rejected_drafts: tuple[str, ...] = ()
    """Why each earlier draft was not sent."""
    paid_minor: Minor
    currency: CurrencyCode
    usage: Usage = Usage()
