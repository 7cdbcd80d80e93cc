"""A policy pack: one domain's categories, prices, caps, tiers, deadlines, seats and windows, as data."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from schemas.base import CurrencyCode, Id, Minor

Positive = Annotated[int, Field(ge=1)]
Operator = Literal["eq", "ne", "lt", "le", "gt", "ge", "present", "absent", "startswith"]


class Part(BaseModel):
    """A part of a pack. Unknown keys are refused: a misspelt limit must not be a missing one."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Condition(Part):
    """`left op right`, where `left` names an evidence field or a derived fact.

    `right` is a literal, or the name of another field in `right_field`. A comparison with an absent
    side is false, whatever the operator, save `absent`.
    """

    left: Id
    op: Operator
    right: Any = None
    right_field: Id | None = None


class Predicate(Part):
    """A named fact about the record: true where all its conditions hold."""

    name: Id
    when: tuple[Condition, ...]


class Nothing(Part):
    """The category pays nothing by itself."""

    kind: Literal["nothing"]


class Band(Part):
    from_minutes: int
    amount_minor: Minor


class LateBands(Part):
    """A flat credit by whole minutes past the promise; below the first band nothing."""

    kind: Literal["late_bands"]
    bands: tuple[Band, ...]


class MissingUnits(Part):
    """Unit share × min(claimed, ordered − refunded, recorded missing − refunded)."""

    kind: Literal["missing_units"]


class WrongUnits(Part):
    """Unit share × min(claimed, units whose packed name differs if scanned, ordered − refunded)."""

    kind: Literal["wrong_units"]


class DeliveredUnits(Part):
    """A fraction of the unit share of units that were delivered."""

    kind: Literal["delivered_units"]
    numerator: Positive = 1
    denominator: Positive = 1


class FeeDifference(Part):
    """Charged − due."""

    kind: Literal["fee_difference"]


class Formula(Part):
    """Σ plus − Σ minus over evidence fields or derived facts, never below 0. One that the record lacks
    sends the line to a person, unless it is in `optional`, where it counts as 0."""

    kind: Literal["formula"]
    plus: tuple[Id, ...]
    minus: tuple[Id, ...] = ()
    optional: tuple[Id, ...] = ()


class RelatedSum(Part):
    """Σ of the unreversed `related` transactions with the same reference."""

    kind: Literal["related_sum"]


Pricing = Annotated[
    Nothing
    | LateBands
    | MissingUnits
    | WrongUnits
    | DeliveredUnits
    | FeeDifference
    | Formula
    | RelatedSum,
    Field(discriminator="kind"),
]


class Category(Part):
    name: Id
    description: str
    examples: tuple[str, ...] = ()
    evidence_fields: tuple[Id, ...]
    """What a judge of this category is shown."""
    citations: tuple[Id, ...]
    """Top-level fields an UPHELD or REJECTED may rest on."""
    contradicts_upheld: tuple[Predicate, ...] = ()
    """A fact of the record that an UPHELD cannot stand beside; it sends the grievance to a person."""
    pricing: Pricing
    automatic: bool = True
    """False: UPHELD goes to a person, whatever it is worth."""
    about_goods: bool = False
    """True: the claim must be tied to a line, or to the whole order."""
    claimed_tier: Literal[1, 2, 3] = 1
    """The tier that the mere claim raises a dispute to."""
    stops_with: Id | None = None
    """UPHELD stops the whole dispute under this rule of the pack's order."""


class WholeOrder(Part):
    """When the record shows that nothing was delivered."""

    statuses: tuple[str, ...]
    """Prefixes of order_status."""
    door_code_field: Id = "handover_otp_verified"
    min_distance_m: float = 500


class Limits(Part):
    auto_approve_cap_minor: Minor | None = None
    """Per order: this proposal + earlier automatic payments."""
    customer_limit_minor: Minor | None = None
    unrecorded_limit_minor: Minor | None = None
    """The most that people may give on an order of which no usable record says what was paid; without
    it the smallest limit of the roles."""
    customer_window_days: Positive = 30
    payout_ceiling_minor: Annotated[Minor, Field(ge=1)] | None = None
    """Paid under this policy in any 15 minutes, people's approvals included; what would pass it trips the
    kill switch of all payments. `pack check` asks for it."""
    max_grievances: Positive = 8
    max_order_age_days: Positive = 7


class Windows(Part):
    """Seconds. A window that ends hands over to a person; none loses anything."""

    evidence_grace_s: Annotated[float, Field(gt=0)] = 15
    tally_window_s: Annotated[float, Field(gt=0)] = 60
    tally_deadline_s: Annotated[float, Field(gt=0)] = 900
    docket_window_s: Annotated[float, Field(gt=0)] = 1200
    retire_days: Positive = 90
    """After max_order_age: when dedup and money state of an order may be deleted."""


class EvidenceTool(Part):
    """Something a judge with tools may ask of the frozen snapshot."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,60}$")]
    description: str
    fields: tuple[Id, ...]


def prompt_name(task: str, variant: str | None) -> str:
    """The prompt that a variant of a task is asked with: `prompts/<name>.md`."""
    return task if variant is None else f"{task}-{variant}"


class Asked(Part):
    """Which model is asked, and how. `default` follows the operator's choice."""

    provider: Id = "default"
    model: Id = "default"
    sampling: dict[Id, float | int] = {}
    """Passed through to servers that accept it: temperature, top_p, seed."""


class Writer(Asked):
    """Who extracts, or words letters."""

    prompt_variant: Id | None = None
    """`prompts/<task>-<variant>.md` in place of `prompts/<task>.md`."""


class Seat(Asked):
    """A judge: provider, model and prompt variant."""

    seat: Positive
    prompt_variant: Id
    evidence: Literal["shown", "tools"] = "shown"
    """Whether the judge is shown the category's evidence or asks for it with the pack's tools."""
    weight: Positive = 1
    weights: dict[Id, Positive] = {}
    """Per category, where it differs."""


class Bench(Part):
    seats: tuple[Seat, ...]
    quorum: Positive = 2
    majority: Annotated[float, Field(gt=0.5, le=1)] = 0.6
    """Share of the seated weight that a ruling must hold."""

    @model_validator(mode="after")
    def _no_seat_rules_alone(self) -> "Bench":
        numbers = [seat.seat for seat in self.seats]
        if len(set(numbers)) != len(numbers):
            raise ValueError("seats: a seat number appears twice")
        if self.quorum > len(numbers):
            raise ValueError("quorum is above the number of seats")
        for category in ("", *sorted({name for seat in self.seats for name in seat.weights})):
            weights = {seat.seat: seat.weights.get(category, seat.weight) for seat in self.seats}
            for number, weight in weights.items():
                if len(numbers) > 1 and weight > 0.4 * sum(weights.values()):
                    on = f" for {category}" if category else ""
                    raise ValueError(f"seats.{number}.weight is more than 40 % of the bench{on}")
        return self


class TierBand(Part):
    tier: Literal[1, 2, 3]
    max_minor: Minor | None = None
    """Inclusive; None is without an upper end."""


class Clock(Part):
    """A deadline that applies where its conditions hold."""

    hours: Positive
    when: tuple[Condition, ...] = ()


class RoleLimit(Part):
    role: Id
    limit_minor: Minor | None = None
    """The most this role may approve at once; None is without limit."""


class PolicyPack(Part):
    """`pack.toml`, parsed. Sealed by the hash over every file of its folder."""

    policy: Id
    version: Positive
    title: str
    currency: CurrencyCode
    evidence_kind: Id
    evidence_required: tuple[Id, ...] = ()
    """Fields a record must have beyond those its kind's model requires."""
    order_placed_field: Id
    """The evidence field that `max_order_age` counts from."""
    tier_amount_field: Id | None = None
    tiers: tuple[TierBand, ...] = (TierBand(tier=1),)
    screening_tier: Literal[1, 2, 3] = 1
    """The tier that a screening trip raises a dispute to."""
    acknowledge_clocks: tuple[Clock, ...] = ()
    resolve_clocks: tuple[Clock, ...] = ()
    """The shortest that applies is the deadline."""
    categories: tuple[Category, ...]
    tools: tuple[EvidenceTool, ...] = ()
    whole_order: WholeOrder | None = None
    limits: Limits = Limits()
    windows: Windows = Windows()
    extraction: Writer = Writer()
    letter: Writer = Writer()
    bench: Bench
    rules: tuple[Id, ...]
    """In order; the first that matches is the decision_rule."""
    safety_words: tuple[str, ...] = ()
    screening_patterns: tuple[str, ...] = ()
    """Regular expressions beside the built-in rule set."""
    promises: dict[Id, str] = {}
    roles: tuple[RoleLimit, ...] = ()

    @model_validator(mode="after")
    def _names_are_unique(self) -> "PolicyPack":
        names = [category.name for category in self.categories]
        if len(set(names)) != len(names):
            raise ValueError("categories: a name appears twice")
        if len(set(self.rules)) != len(self.rules):
            raise ValueError("rules: a name appears twice")
        return self

    def category(self, name: str) -> Category | None:
        """The category of that name, or None where the pack has no such category."""
        return next((category for category in self.categories if category.name == name), None)

    def weight(self, seat: int, category: str) -> int:
        """The seat's voting weight for a category; 0 where the pack does not seat it."""
        found = next((s for s in self.bench.seats if s.seat == seat), None)
        return found.weights.get(category, found.weight) if found else 0
