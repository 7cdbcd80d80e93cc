"""A record that could not be read, or an output that could not be written: the bytes, the place, the error."""

from schemas.base import Event, Id


class DeadLetter(Event):
    """Key: the source record's key."""

    dead_letter_id: Id
    """`topic-partition-offset`, so that a replayed failure is the same letter."""
    stage: Id
    topic: Id
    partition: int
    offset: int
    key: str | None = None
    """The source key, base64."""
    value: str
    """The source bytes, encrypted (Fernet) under the installation's dead-letter key."""
    error: str
    """What is wrong and what to do, without the customer's words."""
