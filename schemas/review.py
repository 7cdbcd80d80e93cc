"""A person's decision on what the code refused to decide, the customer's appeal, or what came to be added."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.base import Event, Id, Minor, Model

Action = Literal["approve", "reject", "amount", "more_evidence", "appeal", "attach"]
MAX_ATTACHED_CHARACTERS = 128 * 1024


class Attachment(Model):
    """Something that came for a dispute that waits: seen by the officer, never judged. Its text lives no
    longer than the topic's 30 days."""

    name: Annotated[str, Field(min_length=1, max_length=200)]
    content_hash: str
    """`sha256:` over the bytes, so that a file kept elsewhere can be known again."""
    size_bytes: Annotated[int, Field(ge=0)]
    reference: Annotated[str, Field(max_length=2_000)] = ""
    """Where the file is kept, where its bytes are no text or too many to travel."""
    text: Annotated[str, Field(max_length=MAX_ATTACHED_CHARACTERS)] = ""


class Review(Event):
    """Key: settles_under. Takes effect once; a second or contradicting one is refused and recorded."""

    review_id: Id
    dispute_id: Id
    order_id: Id
    settles_under: Id
    action: Action
    amount_minor: Minor | None = None
    """For `amount`: the total approved for what is pending."""
    reason_code: Id
    note: Annotated[str, Field(max_length=4_000)] = ""
    reviewer: Id
    role: Id
    attachment: Attachment | None = None
    """For `attach`: what came."""

    @model_validator(mode="after")
    def _amount_goes_with_amount(self) -> "Review":
        if (self.action == "amount") != (self.amount_minor is not None):
            raise ValueError("amount_minor goes with action 'amount', and only with it")
        if (self.action == "attach") != (self.attachment is not None):
            raise ValueError("attachment goes with action 'attach', and only with it")
        return self

    def in_codes(self) -> "Review":
        """The review without anybody's words, as state may keep it."""
        kept = self.attachment and self.attachment.model_copy(update={"text": "", "reference": ""})
        return self.model_copy(update={"note": "", "attachment": kept})
