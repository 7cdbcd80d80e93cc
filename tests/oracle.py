"""What a dispute pays, worked out a second time, slowly, from the written money rules alone.

Nothing here comes from the project. Where the rules are silent it takes the answer that pays
less automatically and asks a person; those places say "Reading:".
"""

from __future__ import annotations

from datetime import datetime, timedelta
from fractions import Fraction

FOOD, BANK = "food-delivery", "bank-disputes-ng"
CURRENCY = {FOOD: "INR", BANK: "NGN"}
KIND = {FOOD: "food-order", BANK: "bank-transaction"}
STARTED = {FOOD: "placed_at", BANK: "initiated_at"}
MAX_AGE = {FOOD: timedelta(days=7), BANK: timedelta(days=540)}
REQUIRED = {
    FOOD: [
        "order_id",
        "customer_id",
        "currency",
        "placed_at",
        "delivery_sla_minutes",
        "line_items",
        "paid_total_minor",
        "captured_at",
    ],
    BANK: [
        "transaction_id",
        "customer_id",
        "currency",
        "amount_minor",
        "initiated_at",
        "rail",
        "status",
        "captured_at",
    ],
}
FOOD_CAP, FOOD_CUSTOMER_LIMIT, MAX_GRIEVANCES = 100_000, 250_000, 8
LATE_BANDS = [(60, 9_900), (30, 4_900), (15, 2_500)]
DOOR_METRES = 500
TIER_2_FROM, TIER_3_ABOVE = 5_000_000, 50_000_000
FRAUD = {"unauthorised", "authorised_scam"}
NEVER_AUTOMATIC = {*FRAUD, "wrong_beneficiary", "other"}
GOODS = {"MISSING_ITEM", "WRONG_ITEM", "QUALITY", "PACKAGING"}
RAIL_HOURS = {"nip": 24, "pos": 72, "web": 72, "card": 72, "bill": 24, "airtime": 24}
CLOSES_WITH_A_LETTER = {"no_checkable_grievance", "no_grievance_upheld"}
PAYS = {FOOD: "auto_resolve_within_cap", BANK: "tier_1_auto_resolve"}
BEFORE_PRICING = {"evidence_unavailable", "evidence_invalid", "order_too_old", "extraction_failed"}

Scope = tuple  # ("unit", line_id, n) | ("LATE",) | ("fee",) | ("whole",) | ("transaction", id)
Pieces = dict  # Scope -> minor units


def empty_state() -> dict:
    """What earlier disputes left behind: `paid` and `held` are lists of
    {category, scope, amount_minor} (paid ones also the refund_id the gateway knows them by)."""
    return {
        "order_automatic_minor": 0,
        "customer_automatic_minor": 0,
        "paid": [],
        "held": [],
    }


def price(
    case: dict,
    rulings: list[str] | None = None,
    *,
    screening_tripped: bool,
    safety: bool,
    extraction_failed: bool = False,
    order_state: dict | None = None,
) -> dict:
    """The whole answer for one dispute. `rulings` default to each grievance's `truth`;
    a grievance flagged `safety` raises `safety` whatever the argument says."""
    pack, evidence = case["policy"], case["evidence"] or {}
    state = empty_state() | (order_state or {})
    grievances = case["expect"]["grievances"]
    rulings = rulings if rulings is not None else [g["truth"] for g in grievances]
    assert len(rulings) == len(grievances)
    ruled = [{**g, "ruling": r} for g, r in zip(grievances, rulings, strict=True)]
    safety = safety or any(g.get("safety") for g in grievances)

    early = evidence_stop(pack, case)
    # Reading: more grievances than the pack allows is a failed extraction.
    if not early and (extraction_failed or len(grievances) > MAX_GRIEVANCES):
        early = "extraction_failed"

    lines = [] if early else price_lines(pack, evidence, ruled, state)
    proposed = sum(line["amount_minor"] for line in lines)
    upheld = [line for line in lines if line["ruling"] == "UPHELD"]
    tier = bank_tier(evidence, ruled, upheld, screening_tripped) if pack == BANK else None
    recall = any(g["ruling"] == "UPHELD" and g["category"] == "wrong_beneficiary" for g in ruled)

    def first_rule() -> str:
        if early:
            return early
        if screening_tripped:
            return "screening_flag_requires_human"
        if pack == BANK and tier == 3:
            return "tier_3_requires_human_approval"
        if pack == BANK and tier == 2:
            return "tier_2_requires_human_approval"
        if not ruled:
            return "no_checkable_grievance"
        if pack == FOOD:
            if safety:
                return "safety_requires_human"
            history = (evidence.get("customer_history") or {}).get("refunded_30d_minor", 0)
            if proposed + history + state["customer_automatic_minor"] > FOOD_CUSTOMER_LIMIT:
                return "customer_window_total_above_limit"
            if proposed + state["order_automatic_minor"] > FOOD_CAP:
                return "amount_above_auto_approve_cap"
        elif recall:
            return "recall_requires_human"
        if not lines:
            return "no_grievance_upheld"
        if not upheld:
            return "all_grievances_escalated"
        return PAYS[pack]

    rule = first_rule()
    pays = rule == PAYS[pack]
    if rule in BEFORE_PRICING or rule in CLOSES_WITH_A_LETTER:
        escalated = []
    elif pays:
        escalated = [line["category"] for line in lines if line["ruling"] == "ESCALATE"]
    else:
        escalated = [line["category"] for line in lines]
    acknowledge_by, resolve_by = deadlines(pack, case)
    return {
        "amount_minor": proposed if pays else 0,
        "proposed_minor": proposed,
        "decision_rule": rule,
        "escalated": sorted(set(escalated)),
        "needs_person": rule not in CLOSES_WITH_A_LETTER and (not pays or bool(escalated)),
        "tier": tier,
        "acknowledge_by": acknowledge_by,
        "resolve_by": resolve_by,
        "lines": lines,
    }


def after(result: dict, order_state: dict | None, refund_id: str) -> dict:
    """The state the next dispute on this order finds, once `result` has been carried out."""
    state = empty_state() | (order_state or {})
    paid, held = list(state["paid"]), list(state["held"])
    settled = result["decision_rule"] in PAYS.values()
    for line in result["lines"]:
        for scope, amount in line["scopes"]:
            entry = {"category": line["category"], "scope": scope, "amount_minor": amount}
            if settled and line["ruling"] == "UPHELD":
                paid.append({**entry, "refund_id": refund_id})
            elif result["needs_person"]:
                held.append(entry)
    return {
        "order_automatic_minor": state["order_automatic_minor"] + result["amount_minor"],
        "customer_automatic_minor": state["customer_automatic_minor"] + result["amount_minor"],
        "paid": [p for p in paid if p["amount_minor"]],
        "held": [h for h in held if h["amount_minor"]],
    }


# --- both packs ---------------------------------------------------------------------------


def when(text: str) -> datetime:
    return datetime.fromisoformat(text)


def evidence_stop(pack: str, case: dict) -> str | None:
    evidence, complaint = case["evidence"] or {}, case["complaint"]
    recorded = [k for k, v in evidence.items() if v is not None]
    if all(k in ("kind", "currency") or k.endswith("_id") for k in recorded):
        return "evidence_unavailable"
    own_id = "order_id" if pack == FOOD else "transaction_id"
    sound = (
        all(evidence.get(k) is not None for k in REQUIRED[pack])
        and evidence.get("kind") == KIND[pack]
        and evidence["currency"] == CURRENCY[pack]
        and evidence["customer_id"] == complaint["customer_id"]  # Reading: this rule names it
        and evidence[own_id] == complaint["order_id"]
    )
    if not sound:
        return "evidence_invalid"
    if when(complaint["filed_at"]) - when(evidence[STARTED[pack]]) > MAX_AGE[pack]:
        return "order_too_old"
    return None


def price_lines(pack: str, evidence: dict, ruled: list[dict], state: dict) -> list[dict]:
    """One line for every grievance that was not rejected, in the order they were made."""
    price_together = food_together if pack == FOOD else bank_together
    open_ones = [g for g in ruled if g["ruling"] != "REJECTED"]
    alone = [price_together(evidence, [g], state)[0] for g in open_ones]
    pay = [
        g
        for g, pieces in zip(open_ones, alone, strict=True)
        if g["ruling"] == "UPHELD" and pieces is not None
    ]
    together = iter(price_together(evidence, pay, state))
    lines = []
    for g, by_itself in zip(open_ones, alone, strict=True):
        is_paid = any(g is p for p in pay)
        pieces = next(together) if is_paid else by_itself
        lines.append(
            {
                "category": g["category"],
                "ruling": "UPHELD" if is_paid else "ESCALATE",
                "scope": g.get("scope"),
                "line_id": g.get("line_id"),
                "quantity": g.get("quantity"),
                "amount_minor": sum(pieces.values()) if is_paid else 0,
                "amount_if_upheld_minor": None if by_itself is None else sum(by_itself.values()),
                "basis": ", ".join(f"{'/'.join(map(str, s))}: {a}" for s, a in pieces.items())
                if pieces
                else "nothing to pay",
                "scopes": [[list(s), a] for s, a in (pieces or {}).items()],
            }
        )
    return lines


def largest_once(per_grievance: list[Pieces]) -> list[Pieces]:
    """A scope two grievances ask for is paid once, the larger; ties to the earlier."""
    winner: dict = {}
    for i, pieces in enumerate(per_grievance):
        for scope, amount in pieces.items():
            if scope not in winner or amount > per_grievance[winner[scope]][scope]:
                winner[scope] = i
    return [
        {scope: amount for scope, amount in pieces.items() if winner[scope] == i}
        for i, pieces in enumerate(per_grievance)
    ]


def used_scopes(state: dict) -> set:
    return {tuple(entry["scope"]) for entry in state["paid"] + state["held"]}


def deadlines(pack: str, case: dict) -> tuple[str | None, str | None]:
    """Reading: food has no clock of this kind; an unknown rail has the 14 days only, and
    an ATM that does not say whose it is has the shorter clock."""
    if pack == FOOD:
        return None, None
    filed, evidence = when(case["complaint"]["filed_at"]), case["evidence"] or {}
    rail = evidence.get("rail")
    hours = RAIL_HOURS.get(rail, 14 * 24)
    if rail == "atm":
        hours = 48 if evidence.get("on_us") is False else 24
    resolve = min(filed + timedelta(days=14), filed + timedelta(hours=hours))
    return (filed + timedelta(days=3)).isoformat(), resolve.isoformat()


# --- food-delivery ------------------------------------------------------------------------


def split(total: int, weights: list[int]) -> list[int]:
    """`total` over `weights` by largest remainder, ties to the earlier."""
    whole = sum(weights)
    if whole == 0:
        return [0] * len(weights)
    exact = [Fraction(total * w, whole) for w in weights]
    parts = [int(x) for x in exact]
    by_remainder = sorted(range(len(weights)), key=lambda i: (parts[i] - exact[i], i))
    for i in by_remainder[: total - sum(parts)]:
        parts[i] += 1
    return parts


def unit_shares(evidence: dict) -> dict[str, list[int]]:
    """For each line, what each of its units cost the customer."""
    items = evidence["line_items"]
    net = [i["quantity"] * i["unit_price_minor"] - (i.get("discount_minor") or 0) for i in items]
    coupon = split(min(evidence.get("coupon_minor") or 0, sum(net)), net)
    net = [n - c for n, c in zip(net, coupon, strict=True)]
    shared_tax = split(evidence.get("tax_minor") or 0, net)
    shares = {}
    for item, line_net, order_tax in zip(items, net, shared_tax, strict=True):
        tax = item["tax_minor"] if item.get("tax_minor") is not None else order_tax
        one_each = [1] * item["quantity"]
        pairs = zip(split(line_net, one_each), split(tax, one_each), strict=True)
        shares[item["line_id"]] = [n + t for n, t in pairs]
    return shares


def refunds_on(evidence: dict, state: dict) -> tuple[int, dict[str, set], dict[str, bool]]:
    """Refunded in all; the units of each line no longer to be paid; lines with a unit that
    upstream refunded in part. Ours are known upstream by their refund_id."""
    shares, ours = unit_shares(evidence), state["paid"]
    theirs = evidence.get("refunds") or []
    known = {r["refund_id"] for r in theirs if r.get("refund_id")}
    taken: dict[str, set] = {line: set() for line in shares}
    partly = dict.fromkeys(shares, False)
    for entry in ours + state["held"]:
        if entry["scope"][0] == "unit":
            taken[entry["scope"][1]].add(entry["scope"][2])
    own_keys = {p.get("refund_id") for p in ours} - {None}
    total = sum(p["amount_minor"] for p in ours if p.get("refund_id") not in known)
    nameless = {line: [0, 0] for line in shares}  # quantity, amount: ours, to set theirs against
    for p in ours:
        if p["scope"][0] == "unit" and p.get("refund_id") not in known:
            nameless[p["scope"][1]][0] += 1
            nameless[p["scope"][1]][1] += p["amount_minor"]
    for refund in theirs:
        amount, line = refund.get("amount_minor"), refund.get("line_id")
        if refund.get("refund_id") in own_keys or line not in shares:
            total += amount or 0
            continue
        free = [u for u in range(1, len(shares[line]) + 1) if u not in taken[line]]
        quantity = refund.get("quantity")
        if quantity is None:  # Reading: by amount, whole units first, the rest is "partly"
            quantity, left = 0, amount or 0
            while quantity < len(free) and left >= shares[line][free[quantity] - 1]:
                left -= shares[line][free[quantity] - 1]
                quantity += 1
            partly[line] = partly[line] or (left > 0 and quantity < len(free))
        if amount is None:
            amount = sum(shares[line][u - 1] for u in free[:quantity])
        if not refund.get("refund_id"):  # without references the larger of the two counts
            same, same_money = min(quantity, nameless[line][0]), min(amount, nameless[line][1])
            nameless[line][0] -= same
            nameless[line][1] -= same_money
            quantity, amount = quantity - same, amount - same_money
        units = free[:quantity]
        total += amount
        taken[line] |= set(units)
        partly[line] = partly[line] or amount < sum(shares[line][u - 1] for u in units)
    return total, taken, partly


def food_ceiling(evidence: dict, state: dict) -> int:
    """Reading: an order marked unpaid was not paid, whatever its total; what another
    dispute has before a person is out of reach too."""
    paid = 0 if evidence.get("payment_status") == "unpaid" else evidence["paid_total_minor"]
    held = sum(h["amount_minor"] for h in state["held"])
    return max(0, paid - refunds_on(evidence, state)[0] - held)


def order_lost(evidence: dict) -> bool:
    """Cancelled or undelivered, or no code at the door and the last position over 500 m off."""
    status = evidence.get("order_status") or ""
    trail = sorted(evidence.get("gps_trail") or [], key=lambda p: when(p["at"]))
    far = bool(trail) and trail[-1]["distance_to_customer_m"] > DOOR_METRES
    return (
        status.startswith("cancelled")
        or status == "undelivered"
        or (evidence.get("handover_otp_verified") is False and far)
    )


def is_whole_order(g: dict, evidence: dict) -> bool:
    """BILLING on a cancelled order asks for all of it; Reading: unless a due total is kept."""
    if g["category"] == "BILLING":
        status = evidence.get("order_status") or ""
        lost = status.startswith("cancelled") or status == "undelivered"
        return lost and evidence.get("paid_total_minor_due") is None
    goods = g["category"] in ("MISSING_ITEM", "WRONG_ITEM")
    return goods and g.get("scope") == "order" and order_lost(evidence)


def late_credit(evidence: dict) -> int:
    """The whole minutes past the promise, in bands."""
    end = evidence.get("delivered_at") or evidence.get("cancelled_at") or evidence["captured_at"]
    past = when(end) - when(evidence["placed_at"])
    minutes = int(past.total_seconds() // 60) - evidence["delivery_sla_minutes"]
    return next((credit for start, credit in LATE_BANDS if minutes >= start), 0)


def recorded_missing(evidence: dict, item: dict) -> int | None:
    """Units of a line the records show missing. Reading: a line the scan does not name was
    not scanned, and "units ordered" in the weight rule are those of the line."""
    scanned = scan_of(evidence, item)
    if scanned:
        return max(0, item["quantity"] - sum(s["packed_quantity"] for s in scanned))
    expected = evidence.get("pickup_weight_expected_kg")
    actual = evidence.get("pickup_weight_actual_kg")
    if expected is None or actual is None or Fraction(str(expected)) <= 0:
        return None
    short = 1 - Fraction(str(actual)) / Fraction(str(expected))
    return max(0, int(short * item["quantity"] // 1))


def scan_of(evidence: dict, item: dict) -> list[dict]:
    return [s for s in evidence.get("packing_scan") or [] if s["line_id"] == item["line_id"]]


def food_goods(g: dict, evidence: dict, upheld: list[dict], state: dict) -> Pieces | None:
    """MISSING_ITEM, WRONG_ITEM, QUALITY, PACKAGING on one line; None asks a person."""
    item = next((i for i in evidence["line_items"] if i["line_id"] == g.get("line_id")), None)
    if item is None or g.get("scope") == "order":
        return None
    line = item["line_id"]
    _, taken, partly = refunds_on(evidence, state)
    if partly[line]:  # Reading: any partly refunded unit on the line
        return None
    shares = unit_shares(evidence)[line]
    before = settled_before(g, state)
    claimed = max(0, (g.get("quantity") or 1) - before)  # Reading: no number is one
    free = [u for u in range(1, item["quantity"] + 1) if u not in taken[line]]
    missing = recorded_missing(evidence, item)
    by_weight = item.get("sold_by") == "weight"

    def missing_units(claimed: int) -> int:
        if missing is None or by_weight:
            return min(claimed, len(free))
        return max(0, min(claimed, len(free), missing - len(taken[line])))

    if g["category"] == "MISSING_ITEM":
        if not by_weight:
            return {("unit", line, u): shares[u - 1] for u in free[: missing_units(claimed)]}
        if item.get("packed_kg") is None or not item.get("ordered_kg"):
            return None
        short = 1 - Fraction(str(item["packed_kg"])) / Fraction(str(item["ordered_kg"]))
        return {("unit", line, u): int(shares[u - 1] * max(short, 0)) for u in free}

    # The units that never came are the lowest ones; the others were delivered.
    if missing is not None or by_weight:
        undelivered = [u for u in free if u <= (missing or 0)]
    else:
        asked = [m for m in upheld if m["category"] == "MISSING_ITEM" and m.get("line_id") == line]
        undelivered = free[: missing_units(max((m.get("quantity") or 1 for m in asked), default=0))]
    delivered = [u for u in free if u not in undelivered]
    if g["category"] == "WRONG_ITEM":
        count = min(claimed, len(free))
        if scanned := scan_of(evidence, item):
            other = sum(s["packed_quantity"] for s in scanned if differs(s, item))
            count = max(0, min(count, other - before))
        return {("unit", line, u): shares[u - 1] for u in (delivered + undelivered)[:count]}
    if order_lost(evidence):
        delivered = []
    if g["category"] == "PACKAGING":
        return {("unit", line, u): shares[u - 1] for u in delivered[:claimed]}
    return {("unit", line, u): shares[u - 1] // 2 for u in delivered[:claimed]}


def settled_before(g: dict, state: dict) -> int:
    """Reading: a claim counts all its units, those of earlier disputes too ("two missing and
    you gave me one back"), so told again in other words it asks for nothing new. Claims about
    delivered units may be about the same ones; a missing unit is another."""
    mine = g["category"] == "MISSING_ITEM"
    return sum(
        entry["scope"][:2] == ["unit", g["line_id"]]
        and entry.get("category", g["category"]) in GOODS
        and (entry.get("category", g["category"]) == "MISSING_ITEM") == mine
        for entry in state["paid"] + state["held"]
    )


def differs(scan: dict, item: dict) -> bool:
    name = scan.get("packed_name")
    return name is not None and name.strip().casefold() != item["name"].strip().casefold()


def food_alone(g: dict, evidence: dict, upheld: list[dict], state: dict) -> Pieces | None:
    if g.get("safety") or g["category"] == "PARTNER_CONDUCT":
        return None  # Reading: a safety grievance is never priced, the others beside it are
    if is_whole_order(g, evidence):
        return {("whole",): food_ceiling(evidence, state)}
    if g["category"] == "LATE_DELIVERY":
        used = ("LATE",) in used_scopes(state)
        return {} if used else {("LATE",): late_credit(evidence)}
    if g["category"] == "BILLING":
        if evidence.get("paid_total_minor_due") is None:
            return None
        if ("fee",) in used_scopes(state):
            return {}
        # Reading: a refund that names no line may have been this fee.
        lineless = [r for r in evidence.get("refunds") or [] if not r.get("line_id")]
        ours = {p.get("refund_id") for p in state["paid"]}
        back = sum(r["amount_minor"] for r in lineless if r.get("refund_id") not in ours)
        over = evidence["paid_total_minor"] - evidence["paid_total_minor_due"] - back
        return {("fee",): max(0, over)}
    return food_goods(g, evidence, upheld, state)


def food_together(evidence: dict, upheld: list[dict], state: dict) -> list[Pieces | None]:
    """The upheld grievances of one dispute, a shared scope paid once, under the ceiling."""
    found = [food_alone(g, evidence, upheld, state) for g in upheld]
    if any(pieces is None for pieces in found):
        return found
    if any(("whole",) in pieces for pieces in found):
        found = [{s: a for s, a in pieces.items() if s == ("whole",)} for pieces in found]
    found = largest_once(found)
    over = sum(sum(pieces.values()) for pieces in found) - food_ceiling(evidence, state)
    last_first = [(s, pieces) for pieces in reversed(found) for s in reversed(pieces)]
    for scope, pieces in sorted(last_first, key=lambda entry: entry[0] != ("LATE",)):
        cut = min(max(over, 0), pieces[scope])
        pieces[scope] -= cut
        over -= cut
    return found


# --- bank-disputes-ng ---------------------------------------------------------------------


def reversed_of(record: dict) -> int:
    """All of it, the recorded part, or (nothing recorded) nothing."""
    if record.get("reversal_posted") is True:
        return record["amount_minor"]
    return record.get("reversed_minor") or 0


def bank_alone(g: dict, evidence: dict, state: dict) -> Pieces | None:
    category, amount = g["category"], evidence["amount_minor"]
    own, used = evidence["transaction_id"], used_scopes(state)
    back = reversed_of(evidence)
    if category in NEVER_AUTOMATIC:
        return None
    if category == "duplicate_debit":
        return duplicates(evidence, used)
    less: int | None = 0
    if category == "atm_dispense_error":
        less = evidence.get("dispensed_minor")
        if less is None and evidence.get("cash_dispensed") is False:
            less = 0
    elif category in ("wrong_amount", "excess_charge"):
        less = evidence.get("due_minor")
    elif category in ("merchant_refund_missing", "deposit_not_credited"):
        less = evidence.get("credited_minor")
        back = amount if evidence.get("reversal_posted") is True else 0
    if less is None:
        return None
    if ("transaction", own) in used:
        return {}
    return {("transaction", own): max(0, amount - less - back)}


def duplicates(evidence: dict, used: set) -> Pieces | None:
    """Every unreversed debit of the same reference but one: the disputed one stays, or,
    when that was returned already, the smallest id. Reading: if it was reversed, nothing."""
    if evidence.get("related") is None:
        return None
    if evidence.get("reversal_posted") is True:
        return {}
    owed = {
        r["transaction_id"]: r["amount_minor"] - reversed_of(r)
        for r in evidence["related"]
        if r.get("same_reference") is True
    }
    left = sorted(t for t, a in owed.items() if a > 0 and ("transaction", t) not in used)
    if ("transaction", evidence["transaction_id"]) in used:
        left = left[1:]
    return {("transaction", t): owed[t] for t in left}


def bank_together(evidence: dict, upheld: list[dict], state: dict) -> list[Pieces | None]:
    found = [bank_alone(g, evidence, state) for g in upheld]
    return found if any(p is None for p in found) else largest_once(found)


def bank_tier(evidence: dict, ruled: list, upheld_lines: list, tripped: bool) -> int | None:
    """By the disputed amount, or the sum of all transactions owed where that is more."""
    if tripped or any(g["category"] in FRAUD for g in ruled):
        return 3
    if evidence.get("amount_minor") is None:
        return None
    amounts = {r["transaction_id"]: r["amount_minor"] for r in evidence.get("related") or []}
    amounts[evidence.get("transaction_id")] = evidence["amount_minor"]
    owed = {scope[1] for line in upheld_lines for scope, amount in line["scopes"] if amount > 0}
    amount = max(evidence["amount_minor"], sum(amounts[t] for t in owed))
    return 1 if amount < TIER_2_FROM else 2 if amount <= TIER_3_ABOVE else 3
