"""What a parsed pack can still get wrong: names that nothing answers to, orders and ranges with gaps.

The model (schemas/pack.py) refuses wrong types, unknown keys and repeated names; this module reads the
pack as the stages will. Each problem names the field and what to do.
"""

import re
from collections.abc import Collection, Iterator

from schemas.evidence import KINDS
from schemas.money import EXPONENTS
from schemas.pack import (
    Category,
    Condition,
    DeliveredUnits,
    Formula,
    LateBands,
    MissingUnits,
    PolicyPack,
    WrongUnits,
    prompt_name,
)
from streams.facts import DERIVED
from streams.pricing.rules import RULES

BEFORE_PRICING = (
    "evidence_unavailable",
    "evidence_invalid",
    "order_too_old",
    "extraction_failed",
    "screening_flag_requires_human",
)
"""Rules that every pack must have: without one its case would be priced."""
"""No seat may hold more of the bench, in any category."""


def problems(pack: PolicyPack, prompts: Collection[str]) -> list[str]:
    """Everything wrong with the pack, as `field: what; remedy`. `prompts` are the names it has."""
    return [
        *_rules(pack),
        *_tiers(pack),
        *(f"categories.{c.name}.{said}" for c in pack.categories for said in _category(c, pack)),
        *_fields(pack),
        *_bench(pack, prompts),
        *_tools(pack),
        *_rest(pack),
    ]


def _rules(pack: PolicyPack) -> Iterator[str]:
    stops = {category.stops_with for category in pack.categories if category.stops_with}
    for name in pack.rules:
        if name not in RULES and name not in stops:
            yield f"rules: {name!r} is not a rule; known: {', '.join(sorted(RULES))}"
    for name in sorted(stops - set(pack.rules)):
        yield f"rules: a category stops with {name!r}, which is not in the list; add it"
    for name in BEFORE_PRICING:
        if name not in pack.rules:
            yield f"rules: {name!r} is missing; without it such a dispute would be priced"
    paying = [
        i for i, name in enumerate(pack.rules) if name in RULES and RULES[name].ending == "pay"
    ]
    if paying != [len(pack.rules) - 1]:
        yield "rules: the last rule, and no other, must be one that pays; it matches always"
    needed = {
        "amount_above_auto_approve_cap": pack.limits.auto_approve_cap_minor is not None,
        "customer_window_total_above_limit": pack.limits.customer_limit_minor is not None,
        "safety_requires_human": bool(pack.safety_words),
        "tier_2_requires_human_approval": any(band.tier == 2 for band in pack.tiers),
        "tier_3_requires_human_approval": 3
        in {
            *(band.tier for band in pack.tiers),
            *(category.claimed_tier for category in pack.categories),
            pack.screening_tier,
        },
    }
    for name, used in needed.items():
        if used != (name in pack.rules):
            yield (
                f"rules: {name!r} is missing, and the pack sets what it decides by"
                if used
                else f"rules: {name!r} is listed, and the pack sets nothing that it decides by"
            )


def _tiers(pack: PolicyPack) -> Iterator[str]:
    numbers = [band.tier for band in pack.tiers]
    ends = [band.max_minor for band in pack.tiers]
    if numbers != list(range(1, len(numbers) + 1)):
        yield "tiers: must be 1, 2, 3 in order, without a gap"
    if not ends or ends[-1] is not None:
        yield "tiers: the last one must have no max_minor, so that every amount has a tier"
    below = ends[:-1]
    known = [end for end in below if end is not None]
    if len(known) != len(below) or known != sorted(set(known)):
        yield "tiers: each but the last needs a max_minor above the one before"
    if len(numbers) > 1 and pack.tier_amount_field is None:
        yield "tier_amount_field: is missing, and the tiers go by an amount; name its field"


def _category(category: Category, pack: PolicyPack) -> Iterator[str]:
    for field in sorted(set(category.citations) - set(category.evidence_fields)):
        yield f"citations: {field!r} is not in evidence_fields; no judge sees it"
    if not category.citations:
        yield "citations: is empty, so no UPHELD or REJECTED could rest on anything"
    for predicate in category.contradicts_upheld:
        if not predicate.when:
            yield f"contradicts_upheld.{predicate.name}: has no condition, so it never matches"
    rule = category.pricing
    goods = isinstance(rule, MissingUnits | WrongUnits | DeliveredUnits)
    if goods != category.about_goods:
        yield f"about_goods: must be {str(goods).lower()} with pricing {rule.kind!r}"
    if isinstance(rule, LateBands):
        starts = [band.from_minutes for band in rule.bands]
        if not starts or starts != sorted(set(starts)) or starts[0] < 0:
            yield "pricing.bands: must be there, from_minutes rising from 0 or more"
        amounts = [band.amount_minor for band in rule.bands]
        if amounts != sorted(amounts):
            yield "pricing.bands: a later band pays less than an earlier one"
    if isinstance(rule, DeliveredUnits) and rule.numerator > rule.denominator:
        yield "pricing.numerator: is above the denominator; no unit pays more than its share"
    if isinstance(rule, Formula):
        if not rule.plus:
            yield "pricing.plus: is empty; the formula pays nothing"
        for field in sorted(set(rule.optional) - {*rule.plus, *rule.minus}):
            yield f"pricing.optional: {field!r} is not in the formula"
    if rule.kind == "nothing" and category.automatic:
        yield "automatic: must be false with pricing 'nothing'; an upheld claim would close unpaid"
    if pack.evidence_kind in KINDS:
        known = _known(pack)
        for field in sorted({*category.evidence_fields, *category.citations} - known):
            yield f"evidence_fields: {field!r} is not a field of {pack.evidence_kind}"


def _fields(pack: PolicyPack) -> Iterator[str]:
    """Names that conditions, formulas and settings read; checked for kinds with a model of their own."""
    if pack.evidence_kind not in KINDS:
        return
    used: dict[str, str] = {"order_placed_field": pack.order_placed_field}
    if pack.tier_amount_field is not None:
        used["tier_amount_field"] = pack.tier_amount_field
    if pack.whole_order is not None:
        used["whole_order.door_code_field"] = pack.whole_order.door_code_field
    used |= {f"evidence_required.{i}": field for i, field in enumerate(pack.evidence_required)}
    conditions: list[tuple[str, Condition]] = []
    for name, clocks in (
        ("acknowledge", pack.acknowledge_clocks),
        ("resolve", pack.resolve_clocks),
    ):
        for i, clock in enumerate(clocks):
            conditions += [(f"{name}_clocks.{i}", condition) for condition in clock.when]
    for category in pack.categories:
        place = f"categories.{category.name}"
        for predicate in category.contradicts_upheld:
            conditions += [(f"{place}.contradicts_upheld", c) for c in predicate.when]
        if isinstance(category.pricing, Formula):
            fields = (*category.pricing.plus, *category.pricing.minus)
            used |= {f"{place}.pricing.{field}": field for field in fields}
    for i, (place, condition) in enumerate(conditions):
        used[f"{place} ({i})"] = condition.left
        if condition.right_field is not None:
            used[f"{place} ({i}).right_field"] = condition.right_field
    known = _known(pack) | DERIVED
    for place, field in used.items():
        if field not in known:
            yield f"{place}: {field!r} is neither a field of {pack.evidence_kind} nor a derived fact"


def _bench(pack: PolicyPack, prompts: Collection[str]) -> Iterator[str]:
    wanted = {
        prompt_name("extraction", pack.extraction.prompt_variant),
        prompt_name("letter", pack.letter.prompt_variant),
        *(prompt_name("judge", seat.prompt_variant) for seat in pack.bench.seats),
    }
    for name in sorted(wanted - set(prompts)):
        yield f"prompts/{name}.md: is missing; a stage or a seat asks for it"
    names = {category.name for category in pack.categories}
    for seat in pack.bench.seats:
        for name in sorted(set(seat.weights) - names):
            yield f"bench.seats.{seat.seat}.weights: {name!r} is not a category"


def _tools(pack: PolicyPack) -> Iterator[str]:
    """With a seat that asks for its evidence, all of the evidence must be there for the asking."""
    names = [tool.name for tool in pack.tools]
    if len(set(names)) != len(names):
        yield "tools: a name appears twice"
    told = {field for tool in pack.tools for field in tool.fields}
    if pack.evidence_kind in KINDS:
        for field in sorted(told - _known(pack)):
            yield f"tools: {field!r} is not a field of {pack.evidence_kind}"
    for seat in pack.bench.seats:
        if seat.evidence == "tools":
            needed = {field for category in pack.categories for field in category.evidence_fields}
            for field in sorted(needed - told):
                yield f"bench.seats.{seat.seat}: asks for its evidence, and no tool tells {field!r}"


def _rest(pack: PolicyPack) -> Iterator[str]:
    if pack.currency not in EXPONENTS:
        yield f"currency: {pack.currency} has no exponent; add it to schemas/money.py"
    for i, pattern in enumerate(pack.screening_patterns):
        try:
            re.compile(pattern)
        except re.error as error:
            yield f"screening_patterns.{i}: is not a regular expression: {error}"
    ceiling, cap = pack.limits.payout_ceiling_minor, pack.limits.auto_approve_cap_minor
    if ceiling is None:
        yield "limits.payout_ceiling_minor: is missing, so nothing would stop payments that run away; set it"
    elif cap is not None and ceiling < cap:
        yield "limits.payout_ceiling_minor: is below auto_approve_cap_minor; one payment would trip it"
    windows = pack.windows
    if not windows.tally_window_s <= windows.tally_deadline_s <= windows.docket_window_s:
        yield "windows: tally_window_s ≤ tally_deadline_s ≤ docket_window_s does not hold"
    if not pack.roles:
        yield "roles: is empty, so nobody could decide what is handed to a person"
    if len({role.role for role in pack.roles}) != len(pack.roles):
        yield "roles: a role appears twice"


def _known(pack: PolicyPack) -> frozenset[str]:
    return frozenset(KINDS[pack.evidence_kind].model_fields)
