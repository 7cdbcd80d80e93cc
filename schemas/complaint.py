"""A complaint as a customer filed it, and who handed it to us."""

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from schemas.base import Id, Model, UtcDatetime

MAX_TEXT_BYTES = 64 * 1024

Role = Literal["customer", "records", "officer", "lead", "system"]
"""Only `records` may supply evidence."""


class Source(Model):
    """The client that produced a complaint or a record, as authenticated at the door."""

    client: Id = "upstream"
    role: Role = "customer"


class Complaint(Model):
    """One angry paragraph about one order or transaction."""

    order_id: Id
    """The order; for bank disputes the transaction id."""
    customer_id: Id
    filed_at: UtcDatetime
    policy: Id
    text: Annotated[str, Field(min_length=1)]
    channel: Id = "api"
    source: Source = Source()
    evidence: dict[str, Any] | None = None
    """Inline evidence; taken only from a source with the `records` role."""

    @field_validator("text")
    @classmethod
    def _text_is_said_and_bounded(cls, text: str) -> str:
        if not text.strip(" \t\r\n\x00\u200b\ufeff"):
            raise ValueError("is empty; say what went wrong with the order")
        if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT_BYTES:
            raise ValueError(f"is over {MAX_TEXT_BYTES // 1024} KB; shorten it")
        return text
