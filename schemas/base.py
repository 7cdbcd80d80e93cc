"""What every event shares: frozen, versioned, UTC, orjson bytes in and out."""

from datetime import UTC, datetime
from typing import Annotated, Any, Self

import orjson
from pydantic import AfterValidator, AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

SCHEMA_VERSION = 1

# 2**53 - 1: every JSON reader keeps an integer this size exact, and it is far above any refund.
MAX_MINOR = 9_007_199_254_740_991


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("lies outside the years 1 to 9999 in UTC") from None


UtcDatetime = Annotated[AwareDatetime, AfterValidator(_to_utc)]
"""A moment with a time zone, kept in UTC. A naive datetime is refused."""

Id = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\s\x00-\x1f\x7f]+$")
]
"""A UTF-8 identifier fit to be a Kafka key: no white space, no control characters."""

Minor = Annotated[int, Field(strict=True, ge=0, le=MAX_MINOR)]
"""An amount of money in the currency's minor unit; never negative, never a float."""

CurrencyCode = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]
"""An ISO 4217 code."""


class Model(BaseModel):
    """A frozen value. Unknown fields are ignored, so that an older reader survives a newer writer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    def to_bytes(self) -> bytes:
        """The JSON bytes that travel through Kafka; fields that are None are left out."""
        return orjson.dumps(self.model_dump(mode="json", exclude_none=True))

    @classmethod
    def from_bytes(cls, value: bytes) -> Self:
        """Read an event.

        Raises:
            orjson.JSONDecodeError: not JSON (NaN and lone surrogates included).
            pydantic.ValidationError: JSON of the wrong shape; names each field.
        """
        return cls.model_validate(orjson.loads(value))


class Event(Model):
    """A record of one topic. `at` is when its stage made it, taken from the stage's clock."""

    schema_version: int = SCHEMA_VERSION
    at: UtcDatetime


class PackRef(Model):
    """The sealed policy pack a dispute is pinned to at intake."""

    policy: Id
    pack_version: int
    pack_hash: str


class DisputeEvent(Event):
    """An event about one dispute, under the pack that dispute is pinned to."""

    dispute_id: Id
    order_id: Id
    customer_id: Id
    settles_under: Id
    """The key of every order-keyed topic: the order, or for bank disputes related by reference the
    smallest transaction id, so that what must be paid once meets in one place."""
    pack: PackRef
    simulated: bool = False
    """True when any ruling behind this event came from a stand-in; never reaches a real gateway."""


def canonical_bytes(body: Any) -> bytes:
    """The one byte form of a JSON value that hashes are taken over: sorted keys, no spaces."""
    return orjson.dumps(body, option=orjson.OPT_SORT_KEYS)
