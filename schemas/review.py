"""A person's decision on what the code refused to decide, or the customer's appeal."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from schemas.base import Event, Id, Minor

Action = Literal["approve", "reject", "amount", "more_evidence", "appeal"]


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

    @model_validator(mode="after")
    def _amount_goes_with_amount(self) -> "Review":
        if (self.action == "amount") != (self.amount_minor is not None):
            raise ValueError("amount_minor goes with action 'amount', and only with it")
        return self
