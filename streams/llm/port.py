"""The port every model sits behind: three things a model is asked, and what comes back.

An adapter turns a task into one call and its answer into a draft. It does not check the draft
against the pack, does not re-ask and does not retry: the stages check and re-ask (`extraction`,
`judging`, `letters`), the async stage retries what is raised here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from pydantic import Field

from schemas.base import Model as Value
from schemas.docket import Usage
from schemas.grievance import Claim, LeftOutKind
from schemas.letter import LetterKind, ToldLine

T = TypeVar("T")

Failure = Literal[
    "refused", "truncated", "empty", "not_json", "several", "schema", "too_long", "not_accepted",
    "too_many_turns", "spend_limit",
]  # fmt: skip
"""Why a reply holds no draft. `too_long`: the prompt does not fit the model. `not_accepted`: the
provider will not take this very request. `spend_limit`: the gate made no call, for want of money.
Everything else that goes wrong with a call is raised."""

HOPELESS: frozenset[str] = frozenset({"refused", "too_long", "not_accepted", "spend_limit"})
"""Failures that a second ask would only repeat."""


class Overloaded(Exception):
    """The provider asks us to come back later. Retried by the async stage."""

    def __init__(self, after_s: float | None = None) -> None:
        super().__init__(f"overloaded; retry after {after_s} s" if after_s else "overloaded")
        self.after_s = after_s


class ProviderDown(Exception):
    """The provider cannot be reached, answers 5xx or nonsense. Retried by the async stage.

    `answered` is True where the provider itself said that it failed: it charges nothing for such a
    call. Any other may have been worked on and charged; the gate counts it at its estimate.
    """

    def __init__(self, reason: str = "provider down", *, answered: bool = False) -> None:
        super().__init__(reason)
        self.answered = answered


class Misconfigured(Exception):
    """Nothing but a change of configuration helps: key, model name, base URL. Says what to set."""


@dataclass(frozen=True)
class Prompt:
    """One prompt of the pack as loaded, and the hash recorded on what it led to."""

    name: str
    text: str
    hash: str


@dataclass(frozen=True)
class CategoryBrief:
    """What a model is told of a category of the pack."""

    name: str
    description: str
    examples: tuple[str, ...]
    citations: tuple[str, ...]
    about_goods: bool


@dataclass(frozen=True)
class EvidenceTool:
    """Something a judge may ask of the frozen snapshot. It answers with these fields, absent ones as null."""

    name: str
    description: str
    fields: tuple[str, ...]


class DraftGrievance(Value):
    category: str
    text: str
    quote: str
    """The words of the complaint that make the claim, copied exactly."""
    line_id: str | None = None
    quantity: int | None = None
    scope: Literal["line", "order"] = "line"
    safety: bool = False


class DraftLeftOut(Value):
    kind: LeftOutKind
    quote: str


class ExtractionDraft(Value):
    """What a model makes of a complaint, before code has checked any of it."""

    grievances: tuple[DraftGrievance, ...] = ()
    left_out: tuple[DraftLeftOut, ...] = ()


class RulingDraft(Value):
    """What a model rules, before code has checked the citations."""

    ruling: Literal["UPHELD", "REJECTED", "ESCALATE"]
    confidence: float = Field(ge=0, le=1, strict=True)
    citations: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Task:
    """What every task carries.

    `correction` is None on the first ask and says what was wrong on the second. `stand_in` is the
    pack's offline.toml, which only `offline-rules` reads. What the calls cost is counted under
    `account`, which may spend `share` of the limit per dispute (see `spend_shares`).
    """

    prompt: Prompt
    language: str = "en"
    correction: str | None = None
    previous_reply: str | None = None
    stand_in: Mapping[str, Any] = field(default_factory=dict)
    account: str = ""
    share: float = 1.0


@dataclass(frozen=True, kw_only=True)
class ExtractionTask(Task):
    text: str
    """The complaint as filed. Put it into a prompt through `screening.fence` only."""
    filed_at: str
    record: Mapping[str, Any]
    """The part of the snapshot that says what was ordered; not what became of it."""
    categories: tuple[CategoryBrief, ...]
    max_grievances: int


@dataclass(frozen=True, kw_only=True)
class JudgingTask(Task):
    """One claim and its evidence. No complaint text, no other claim, no amount at stake."""

    grievance_id: str
    claim: Claim
    category: CategoryBrief
    evidence: Mapping[str, Any]
    filed_at: str
    seat: int
    seats: tuple[int, ...]
    variant: str
    tools: tuple[EvidenceTool, ...] = ()
    """Where there are any the judge asks for the evidence it wants instead of being shown it."""


@dataclass(frozen=True, kw_only=True)
class LetterTask(Task):
    kind: LetterKind
    order_id: str
    paid: str
    """The amount paid as the letter must state it, or empty where nothing was."""
    lines: tuple[ToldLine, ...]
    line_amounts: tuple[str, ...]
    """Beside each line, its amount in words; empty where the letter may state none."""
    promises: Mapping[str, str]
    complaint_text: str
    """For the tone only. Put it into a prompt through `screening.fence` only."""
    template: str
    """The letter that is sent if no draft passes."""


@dataclass(frozen=True, kw_only=True)
class Reply(Generic[T]):
    """A model's answer: the draft, or None and why, and everything an auditor asks about the call."""

    draft: T | None
    usage: Usage
    """Of this call; `calls` is 1."""
    provider: str
    model: str
    failure: Failure | None = None
    problem: str | None = None
    """What was wrong with the answer, in words that help a model to do better."""
    raw: str = ""
    request_id: str | None = None
    attempts: int = 1
    simulated: bool = False
    seen: tuple[str, ...] | None = None
    """The fields of the evidence that a judge with tools asked for; None where all of it was shown."""


class Model(Protocol):
    """A provider and a model behind it.

    Every method raises `Overloaded`, `ProviderDown`, `Misconfigured`, or `TimeoutError` where no answer came
    in time (the async stage retries it as it does its own), and nothing else.
    """

    @property
    def provider(self) -> str: ...

    @property
    def model(self) -> str: ...

    @property
    def simulated(self) -> bool: ...

    async def extract(self, task: ExtractionTask) -> Reply[ExtractionDraft]: ...

    async def judge(self, task: JudgingTask) -> Reply[RulingDraft]: ...

    async def write_letter(self, task: LetterTask) -> Reply[str]: ...
