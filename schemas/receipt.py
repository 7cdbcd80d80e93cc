"""That a letter left us, by which way, and under what name the other side can find it."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from schemas.base import DisputeEvent, Id

Channel = Literal["file", "webhook", "smtp"]

Reference = Annotated[
    str, StringConstraints(min_length=1, max_length=600, pattern=r"^[^\s\x00-\x1f\x7f]+$")
]
"""Longer than an id may be, since it holds one: `file:<letter_id>`, or a mail's Message-ID."""


class Receipt(DisputeEvent):
    """Key: settles_under. One per letter delivered; the other side took it, which is not yet read."""

    letter_id: Id
    channel: Channel
    reference: Reference
    attempts: Annotated[int, Field(ge=1)] = 1
    """Calls made by the process that delivered it; those of one that died before are not counted."""
