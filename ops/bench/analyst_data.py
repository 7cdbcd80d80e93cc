"""Disputes made up inside ClickHouse, by the hundred thousand in seconds, for timing the analysts' queries.

Every value follows from a row's number, so two runs hold the same rows. Texts are words in random
order: they compress about as badly as what people write.
"""

from collections.abc import Iterator

from clickhouse_connect.driver.client import Client

DAYS = 30
UNTIL = "2026-11-30 00:00:00"
GRIEVANCES = (2, 2, 3, 4, 4, 5, 6, 8)
"""Of eight disputes; 4.25 on average, three rulings each."""
WORDS = [
    "the",
    "order",
    "came",
    "late",
    "and",
    "cold",
    "biryani",
    "was",
    "missing",
    "from",
    "bag",
    "driver",
    "did",
    "not",
    "call",
    "raita",
    "leaked",
    "packing",
    "torn",
    "box",
    "refund",
    "please",
    "guests",
    "waited",
    "hour",
    "app",
    "shows",
    "delivered",
    "never",
    "arrived",
    "wrong",
    "item",
    "paneer",
    "chicken",
    "evidence",
    "says",
    "weight",
    "scan",
    "recorded",
    "field",
    "supports",
    "claim",
    "because",
    "timestamp",
    "promised",
    "minutes",
    "exceeds",
    "threshold",
    "customer",
    "reported",
    "quantity",
    "packed",
    "lower",
    "than",
    "ordered",
    "therefore",
    "upheld",
    "silent",
    "ambiguous",
    "contradicted",
    "record",
    "rating",
    "handover",
    "otp",
    "verified",
    "city",
    "bengaluru",
    "two",
    "three",
    "units",
    "price",
    "paid",
    "total",
]
_CATEGORIES = (
    "LATE_DELIVERY", "MISSING_ITEM", "WRONG_ITEM", "QUALITY", "PACKAGING", "PARTNER_CONDUCT", "BILLING",
)  # fmt: skip


def text(words: str, seed: str) -> str:
    """SQL for `words` words that follow from `seed`."""
    vocabulary = "[" + ", ".join(f"'{word}'" for word in WORDS) + "]"
    return (
        f"arrayStringConcat(arrayMap(i -> {vocabulary}[1 + sipHash64({seed}, i) % {len(WORDS)}], "
        f"range({words})), ' ')"
    )


def _array(values: tuple[object, ...]) -> str:
    return "[" + ", ".join(repr(value) for value in values) + "]"


def _dispute(disputes: int, until: str) -> dict[str, str]:
    """What every row about dispute `n` needs, as SQL."""
    step = DAYS * 86_400_000 // disputes
    return {
        "dispute_id": "concat('d-', substring(lower(hex(MD5(toString(n)))), 1, 24))",
        "order_id": "concat('order-', toString(n))",
        "settles_under": "concat('order-', toString(n))",
        "customer_id": f"concat('cust-', toString(sipHash64(n) % {max(disputes // 2, 1)}))",
        "policy": "if(n % 10 = 9, 'bank-disputes-ng', 'food-delivery')",
        "pack_version": f"1 + (n < {disputes} / 2)",
        "pack_hash": "concat('sha256:', toString(pack_version))",
        "simulated": "true",
        "filed_at": f"toDateTime64('{until}', 3, 'UTC') - toIntervalMillisecond((n + 1) * {step})",
        "at": "filed_at + toIntervalMillisecond(4000)",
        "kafka_partition": "n % 12",
        "kafka_offset": "n",
        "received_at": "filed_at + toIntervalMillisecond(100)",
        "currency": "if(policy = 'food-delivery', 'INR', 'NGN')",
    }


_TRUTH = (
    "multiIf(sipHash64(n, g) % 10 < 5, 'UPHELD', sipHash64(n, g) % 10 < 8, 'REJECTED', 'ESCALATE')"
)
_SEAT = (
    "multiIf(sipHash64(n, g, s) % 100 < 2, 'FAILED', sipHash64(n, g, s) % 100 < 9, 'ESCALATE', "
    f"sipHash64(n, g, s) % 100 < 13, 'UPHELD', {_TRUTH})"
)
_CATEGORY = f"{_array(_CATEGORIES)}[1 + sipHash64(n, g, 'c') % {len(_CATEGORIES)}]"
_GRIEVANCE = {
    "grievance_id": "concat(dispute_id, '.g', toString(g))",
    "category": _CATEGORY,
}
_SEATS = {
    "seats": "[1, 2, 3]",
    "seat_rulings": f"arrayMap(s -> {_SEAT}, seats)",
    "votes_upheld": "countEqual(seat_rulings, 'UPHELD')",
    "votes_rejected": "countEqual(seat_rulings, 'REJECTED')",
    "votes_escalate": "countEqual(seat_rulings, 'ESCALATE')",
    "votes_failed": "countEqual(seat_rulings, 'FAILED')",
    "votes_absent": "0",
    "ruling": "multiIf(votes_upheld >= 2, 'UPHELD', votes_rejected >= 2, 'REJECTED', 'ESCALATE')",
    "ruling_ids": "arrayMap(s -> concat(grievance_id, '.s', toString(s)), seats)",
    "ruling_hashes": "arrayMap(id -> concat('sha256:', lower(hex(SHA256(id)))), ruling_ids)",
    "seat_confidences": "arraySlice([0.9, 0.8, 0.95], 1, length(seats))",
    "seat_weights": "arraySlice([1, 1, 1], 1, length(seats))",
    "seat_models": "arraySlice(['made-up/m-1', 'made-up/m-2', 'made-up/m-3'], 1, length(seats))",
    "seat_prompt_variants": "arraySlice(['plain', 'strict', 'lenient'], 1, length(seats))",
    "seat_prompt_hashes": "arraySlice(['sha256:p1', 'sha256:p2', 'sha256:p3'], 1, length(seats))",
    "seat_failures": "arrayMap(r -> if(r = 'FAILED', 'citation_missing', ''), seat_rulings)",
    "confidence": "0.9",
}
_USAGE = {
    "calls": "1 + (sipHash64(n) % 20 = 0)",
    "input_tokens": "1800 + sipHash64(n, 1) % 900",
    "output_tokens": "120 + sipHash64(n, 2) % 90",
    "cost_micros": "1500 + sipHash64(n, 3) % 900",
    "latency_ms": "1000 + sipHash64(n, 4) % 1000",
}
_LINES = {
    "line_grievance_ids": "arrayMap(g -> concat(dispute_id, '.g', toString(g)), range(1, many + 1))",
    "line_categories": f"arrayMap(g -> {_CATEGORY}, range(1, many + 1))",
    "line_rulings": f"arrayMap(g -> {_TRUTH}, range(1, many + 1))",
    "line_scopes": "arrayMap(g -> 'unit', range(1, many + 1))",
    "line_line_ids": "arrayMap(g -> 'L1', range(1, many + 1))",
    "line_quantities": "arrayMap(g -> 1, range(1, many + 1))",
    "line_amounts_minor": "arrayMap(r -> if(r = 'UPHELD', 4900, 0), line_rulings)",
    "line_if_upheld_minor": "arrayMap(r -> if(r = 'ESCALATE', 6000, 0), line_rulings)",
    "line_ceilings_minor": "line_if_upheld_minor",
    "line_dispositions": "arrayMap(r -> multiIf(r = 'UPHELD', 'pay', r = 'ESCALATE', 'person', 'nothing'), line_rulings)",
    "line_pay_scopes": "arrayMap(g -> [concat('L1#', toString(g))], range(1, many + 1))",
    "line_bases": "arrayMap(g -> '1 of 1 unit at 49.00, no discount', range(1, many + 1))",
    "line_person_reasons": "arrayMap(r -> '', line_rulings)",
    "amount_minor": "arraySum(line_amounts_minor)",
    "proposed_minor": "amount_minor",
    "needs_person": "has(line_dispositions, 'person')",
    "decision_rule": "if(amount_minor = 0, if(needs_person, 'all_grievances_escalated', 'no_grievance_upheld'), 'auto_resolve_within_cap')",
    "escalated": "arrayDistinct(arrayFilter((c, d) -> d = 'person', line_categories, line_dispositions))",
    "tier": "1",
}
_REVIEWED = "needs_person AND sipHash64(n, 'r') % 2 = 0"
_STATE = {
    "sequence": "9",
    "settled_at": "filed_at + toIntervalMillisecond(3000 + sipHash64(n) % 9000)",
    "status": "multiIf(amount_minor > 0, if(needs_person, 'part_paid_in_review', 'paid'), if(needs_person, 'in_review', 'closed_no_payment'))",
    "paid_minor": "amount_minor",
    "pending_minor": "arraySum(line_if_upheld_minor)",
    "chain_head": "concat('sha256:', lower(hex(SHA256(dispute_id))))",
}
_COURSE = {
    "stages": (
        "map('received', received_at, 'opened', received_at + toIntervalMillisecond(90), "
        "'docketed', received_at + toIntervalMillisecond(1500), 'judged', settled_at - toIntervalMillisecond(300), "
        "'decided', settled_at - toIntervalMillisecond(100), 'paid', settled_at)"
    ),
    "acknowledge_by": "toNullable(filed_at + toIntervalDay(1))",
    "resolve_by": "toNullable(filed_at + toIntervalDay(3))",
    "evidence_hash": "chain_head",
    "grievances": "many",
    "left_out": "toNullable(2)",
    "llm_calls": "2 + 3 * many",
    "cost_micros": "1500 * llm_calls",
    "letters": "1",
}


def statements(disputes: int, until: str = UNTIL) -> Iterator[tuple[str, str]]:
    """A table and the SELECT that fills it, for `disputes` disputes filed in the 30 days before `until`.

    A SELECT names more columns than its table has: one is computed from another.
    """
    base = _dispute(disputes, until)
    many = f"{_array(GRIEVANCES)}[1 + number % {len(GRIEVANCES)}]"
    each = f"FROM (SELECT number AS n, {many} AS many FROM numbers({disputes}))"
    every = f"{each} ARRAY JOIN range(1, many + 1) AS g"
    body = 'concat(\'{"kind":"food-order","line_items":"\', ' + text("160", "n, 'e'") + ", '\"}')"
    yield _insert("complaints", {**base, "channel": "'api'"}, each)
    yield _insert(
        "disputes", {**base, "channel": "'api'", "text": text("90", "n"), "tier": "1"}, each
    )
    yield _insert("evidence_snapshots", {
        **base, "kind": "'food-order'", "body": body, "city": "'Bengaluru'",
        "merchant_id": "concat('m-', toString(n % 900))",
        "courier_id": "if(n % 7 = 0, '', concat('k-', toString(n % 3000)))",
    }, each)  # fmt: skip
    yield _insert("dockets", {
        **base, **_USAGE, "grievances": "many", "model": "'made-up/m-1'", "prompt_hash": "'sha256:x'",
        "categories": _LINES["line_categories"], "left_out_kinds": "['feeling', 'demand']",
        "raw_reply": text("120", "n, 'd'"),
    }, each)  # fmt: skip
    yield _insert("grievances", {
        **base, **_GRIEVANCE, "number": "g", "of": "many", "text": text("14", "n, g"),
        "seats": "[1, 2, 3]", "evidence_fields": "['delivered_at', 'placed_at']",
    }, every)  # fmt: skip
    yield _insert("judge_rulings", {
        **base, **_GRIEVANCE, **_USAGE, "grievance_at": "at", "seat": "s", "ruling": _SEAT,
        "ruling_id": "concat(grievance_id, '.s', toString(s))", "confidence": "0.9",
        "citations": "['delivered_at', 'delivery_sla_minutes']",
        "failure": "if(ruling = 'FAILED', 'citation_missing', '')", "provider": "'made-up'",
        "model": "concat('m-', toString(s))", "prompt_variant": "['plain', 'strict', 'lenient'][s]",
        "prompt_hash": "concat('sha256:p', toString(s))", "attempts": "calls",
        "reason": text("18", "n, g, s"), "raw_reply": text("60", "n, g, s, 1"),
    }, f"{every} ARRAY JOIN [1, 2, 3] AS s")  # fmt: skip
    verdict = {
        **base, **_GRIEVANCE, **_SEATS, "verdict_id": "concat(grievance_id, '.v1')", "revision": "1",
        "closed_by": "'all_seats'",
    }  # fmt: skip
    one_in_hundred = "sipHash64(n, g, 'l') % 100 = 0"
    short = {
        **verdict, "seats": f"if({one_in_hundred}, [1, 2], [1, 2, 3])",
        "votes_absent": "3 - length(seats)",
        "closed_by": "if(votes_absent = 0, 'all_seats', 'window')",
    }  # fmt: skip
    yield _insert("verdicts", short, every)
    late = {
        **verdict, "verdict_id": "concat(grievance_id, '.v2')", "revision": "2",
        "closed_by": "'late'",
    }  # fmt: skip
    yield _insert("verdicts", late, f"{every} WHERE {one_in_hundred}")
    decided = {**base, **_LINES, **_USAGE}
    auto = "concat(dispute_id, ':auto')"
    yield _insert("proposals", {**decided, "proposal_id": auto, "authorised_by": "'rule'"}, each)
    yield _insert("decisions", {**decided, "decision_id": auto, "authorised_by": "'rule'"}, each)
    paying = {
        **decided, "payment_id": auto, "status": "if(amount_minor > 0, 'paid', 'not_required')",
        "gateway": "'embedded'", "gateway_ref": "chain_head", "attempts": "1", **_STATE,
    }  # fmt: skip
    yield _insert("payments", paying, each)
    review = "concat(dispute_id, '-r1')"
    yield _insert("reviews", {
        **decided, "review_id": review, "action": "if(sipHash64(n, 'q') % 3 = 0, 'reject', 'approve')",
        "reason_code": "'checked'", "reviewer": "concat('officer-', toString(n % 9))", "role": "'officer'",
    }, f"{each} WHERE {_REVIEWED}")  # fmt: skip
    person = {
        **decided, "review_id": review, "decision_id": f"concat(dispute_id, ':review:', {review})",
        "authorised_by": "concat('person:officer-', toString(n % 9))",
        "decision_rule": "if(sipHash64(n, 'q') % 3 = 0, 'review_rejected', 'review_approved')",
        "line_amounts_minor": "if(decision_rule = 'review_approved', line_if_upheld_minor, arrayMap(x -> 0, line_if_upheld_minor))",
        "line_dispositions": "arrayMap(x -> if(x > 0, 'pay', 'nothing'), line_amounts_minor)",
        "needs_person": "false", "escalated": "[]",
    }  # fmt: skip
    waits = f"has(arrayMap(g -> {_TRUTH}, range(1, many + 1)), 'ESCALATE') AND sipHash64(n, 'r') % 2 = 0"
    yield _insert("decisions", person, f"{each} WHERE {waits}")
    yield _insert("letters", {
        **base, **_USAGE, "letter_id": "concat(dispute_id, ':letter')", "kind": "'outcome'",
        "language": "'en'", "written_by": "'model'", "model": "'made-up/m-1'", "body": text("110", "n, 'l'"),
    }, each)  # fmt: skip
    yield from _trail(base, each)
    state = {**base, **_LINES, **_STATE}
    yield _insert("ledger_entries", state, each)
    yield _insert("disputes_current", {**state, **_COURSE}, each)


def _trail(base: dict[str, str], each: str) -> Iterator[tuple[str, str]]:
    """A row for every record of a dispute, without its bytes, which no question reads, and its chain."""
    once = [
        "disputes",
        "dockets",
        "proposals",
        "decisions",
        "payments",
        "letter-requests",
        "letters",
        "receipts",
    ]
    topics = (
        f"arrayConcat({once}, arrayResize(['grievances'], many, 'grievances'), "
        "arrayResize(['verdicts'], many, 'verdicts'), arrayResize(['rulings'], 3 * many, 'rulings'))"
    )
    record = {
        **base, "kafka_offset": "n * 64 + i", "event_hash": "concat('sha256:', lower(hex(SHA256(toString(kafka_offset)))))",
    }  # fmt: skip
    whole = f"{each} ARRAY JOIN {topics} AS topic, range(1, {len(once)} + 1 + 5 * many) AS i"
    yield _insert("events", {
        **record, "subject": "dispute_id", "topic": "topic", "key": "order_id", "erased": "0", "value": "''",
    }, whole)  # fmt: skip
    yield _insert("audit_entries", {
        **record, "sequence": "i", "event_topic": "topic", "event_partition": "kafka_partition",
        "event_offset": "kafka_offset", "previous": "event_hash",
        "chain": "concat('sha256:', lower(hex(SHA256(event_hash))))",
    }, whole)  # fmt: skip


def _insert(table: str, columns: dict[str, str], source: str) -> tuple[str, str]:
    computed = ",\n".join(f"{value} AS {name}" for name, value in columns.items())
    return table, f"SELECT {computed}\n{source}"


def fill(client: Client, disputes: int) -> dict[str, int]:
    """Make the disputes up in the tables of `client`'s database; rows by table."""
    columns: dict[str, list[str]] = {}
    for table, name in client.query(
        "SELECT table, name FROM system.columns WHERE database = currentDatabase()"
    ).result_rows:
        columns.setdefault(table, []).append(name)
    for table, select in statements(disputes):
        made = client.query(f"DESCRIBE TABLE ({select})").result_rows
        kept = ", ".join(row[0] for row in made if row[0] in columns[table])
        client.command(f"INSERT INTO {table} ({kept}) SELECT {kept} FROM ({select})")
    return {
        table: int(client.command(f"SELECT count() FROM {table}"))  # type: ignore[arg-type]
        for table in sorted({table for table, _ in statements(1)})
    }
