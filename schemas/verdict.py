"""The count of a grievance's rulings. Code counts; no model does."""

from typing import Annotated, Literal

from pydantic import Field

from schemas.base import DisputeEvent, Id, Model
from schemas.docket import Usage
from schemas.ruling import RulingValue

ClosedBy = Literal["all_seats", "window", "deadline", "late"]


class CountedRuling(Model):
    """A ruling as the verdict embeds it: no raw reply, but its id and hash."""

    ruling_id: Id
    ruling_hash: str
    seat: int
    ruling: RulingValue
    confidence: float
    weight: int
    citations: tuple[str, ...] = ()
    reason: str = ""
    failure: str | None = None
    provider: Id
    model: Id
    prompt_variant: Id
    prompt_hash: str
    reply_hash: str = ""
    """Hash of the raw reply; empty where there was none."""
    usage: Usage = Usage()


class Votes(Model):
    """Rulings by value. A seat that never answered is not counted here but in `absent`."""

    UPHELD: int = 0
    REJECTED: int = 0
    ESCALATE: int = 0
    FAILED: int = 0
    absent: int = 0


class Verdict(DisputeEvent):
    """Key: settles_under. Revision 1 decides; a later one records a late ruling and changes nothing."""

    verdict_id: Id
    grievance_id: Id
    category: Id
    revision: Annotated[int, Field(ge=1)] = 1
    ruling: Literal["UPHELD", "REJECTED", "ESCALATE"]
    votes: Votes
    confidence: Annotated[float, Field(ge=0, le=1)]
    closed_by: ClosedBy
    rulings: tuple[CountedRuling, ...] = ()
    identical_replies: Annotated[int, Field(ge=0)] = 0
    """Seats whose raw reply is another seat's, letter for letter: of judges that should be independent,
    copies of one (a server at temperature 0, a cache in between)."""
