-- What would be paid, what was decided, and what the gateway answered.

-- up

CREATE TABLE IF NOT EXISTS proposals
(
    dispute_id String COMMENT 'The dispute',
    order_id String COMMENT 'The order, or the transaction of a bank dispute',
    customer_id String COMMENT 'The customer, as upstream names them',
    settles_under String COMMENT 'The key under which what must be paid once meets: the order, or the smallest related transaction',
    policy LowCardinality(String) COMMENT 'The policy pack the dispute is pinned to',
    pack_version UInt32 COMMENT 'Its version: seats, prompts, prices and rules follow from it',
    pack_hash LowCardinality(String) COMMENT 'Hash that seals the pack',
    simulated Bool COMMENT 'True when a stand-in took part, so no real money may have moved',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    proposal_id String COMMENT 'The proposal, also the key of the payment',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount in the row',
    amount_minor Int64 COMMENT 'To be paid, in minor units',
    proposed_minor Int64 COMMENT 'What the rules priced before any stop, in minor units',
    decision_rule LowCardinality(String) COMMENT 'The first rule that matched',
    escalated Array(LowCardinality(String)) COMMENT 'Categories a person must decide',
    needs_person Bool COMMENT 'True when the dispute goes to the queue',
    tier UInt8 COMMENT 'Approval tier',
    authorised_by String COMMENT 'rule, or the person behind a review',
    review_id String COMMENT 'The review it follows from, empty for the automatic part',
    filed_at DateTime64(3, 'UTC') COMMENT 'When the customer filed the complaint' CODEC(Delta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') COMMENT 'When intake received the complaint' CODEC(Delta, ZSTD(1)),
    calls Int64 COMMENT 'Calls to a model that the dispute so far took, retries included',
    input_tokens Int64 COMMENT 'Tokens read by the model',
    output_tokens Int64 COMMENT 'Tokens written by the model',
    cost_micros Int64 COMMENT 'What the calls cost, in millionths of a US dollar',
    latency_ms Int64 COMMENT 'Time spent in the calls, in milliseconds',
    line_grievance_ids Array(String) COMMENT 'Line by line: the grievance',
    line_categories Array(LowCardinality(String)) COMMENT 'Line by line: its category',
    line_rulings Array(LowCardinality(String)) COMMENT 'Line by line: how the bench ruled',
    line_scopes Array(LowCardinality(String)) COMMENT 'Line by line: what it pays for',
    line_line_ids Array(String) COMMENT 'Line by line: the order line, empty where none',
    line_quantities Array(Nullable(UInt32)) COMMENT 'Line by line: units claimed',
    line_amounts_minor Array(Int64) COMMENT 'Line by line: its worth as ruled, in minor units',
    line_if_upheld_minor Array(Int64) COMMENT 'Line by line: its worth if a person upholds it',
    line_ceilings_minor Array(Int64) COMMENT 'Line by line: the most a person may approve',
    line_dispositions Array(LowCardinality(String)) COMMENT 'Line by line: pay, person or nothing',
    line_pay_scopes Array(Array(String)) COMMENT 'Line by line: the pay scopes, each paid once ever',
    line_bases Array(String) COMMENT 'Line by line: how the amount came about' CODEC(ZSTD(3)),
    line_person_reasons Array(LowCardinality(String)) COMMENT 'Line by line: why a person decides, empty otherwise',
    history_minor Int64 COMMENT 'Automatic payments of the last window that only the evidence knows of'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, proposal_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per proposal of settlement';

CREATE TABLE IF NOT EXISTS decisions
(
    dispute_id String COMMENT 'The dispute',
    order_id String COMMENT 'The order, or the transaction of a bank dispute',
    customer_id String COMMENT 'The customer, as upstream names them',
    settles_under String COMMENT 'The key under which what must be paid once meets: the order, or the smallest related transaction',
    policy LowCardinality(String) COMMENT 'The policy pack the dispute is pinned to',
    pack_version UInt32 COMMENT 'Its version: seats, prompts, prices and rules follow from it',
    pack_hash LowCardinality(String) COMMENT 'Hash that seals the pack',
    simulated Bool COMMENT 'True when a stand-in took part, so no real money may have moved',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    decision_id String COMMENT 'The decision, also the key of the payment',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount in the row',
    amount_minor Int64 COMMENT 'To be paid, in minor units',
    proposed_minor Int64 COMMENT 'What the rules priced before any stop, in minor units',
    decision_rule LowCardinality(String) COMMENT 'The first rule that matched',
    escalated Array(LowCardinality(String)) COMMENT 'Categories a person must decide',
    needs_person Bool COMMENT 'True when the dispute goes to the queue',
    tier UInt8 COMMENT 'Approval tier',
    authorised_by String COMMENT 'rule, or the person behind a review',
    review_id String COMMENT 'The review it follows from, empty for the automatic part',
    filed_at DateTime64(3, 'UTC') COMMENT 'When the customer filed the complaint' CODEC(Delta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') COMMENT 'When intake received the complaint' CODEC(Delta, ZSTD(1)),
    calls Int64 COMMENT 'Calls to a model that the dispute so far took, retries included',
    input_tokens Int64 COMMENT 'Tokens read by the model',
    output_tokens Int64 COMMENT 'Tokens written by the model',
    cost_micros Int64 COMMENT 'What the calls cost, in millionths of a US dollar',
    latency_ms Int64 COMMENT 'Time spent in the calls, in milliseconds',
    line_grievance_ids Array(String) COMMENT 'Line by line: the grievance',
    line_categories Array(LowCardinality(String)) COMMENT 'Line by line: its category',
    line_rulings Array(LowCardinality(String)) COMMENT 'Line by line: how the bench ruled',
    line_scopes Array(LowCardinality(String)) COMMENT 'Line by line: what it pays for',
    line_line_ids Array(String) COMMENT 'Line by line: the order line, empty where none',
    line_quantities Array(Nullable(UInt32)) COMMENT 'Line by line: units claimed',
    line_amounts_minor Array(Int64) COMMENT 'Line by line: its worth as ruled, in minor units',
    line_if_upheld_minor Array(Int64) COMMENT 'Line by line: its worth if a person upholds it',
    line_ceilings_minor Array(Int64) COMMENT 'Line by line: the most a person may approve',
    line_dispositions Array(LowCardinality(String)) COMMENT 'Line by line: pay, person or nothing',
    line_pay_scopes Array(Array(String)) COMMENT 'Line by line: the pay scopes, each paid once ever',
    line_bases Array(String) COMMENT 'Line by line: how the amount came about' CODEC(ZSTD(3)),
    line_person_reasons Array(LowCardinality(String)) COMMENT 'Line by line: why a person decides, empty otherwise'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, decision_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per decision, a proposal after the allowance of the customer';

CREATE TABLE IF NOT EXISTS payments
(
    dispute_id String COMMENT 'The dispute',
    order_id String COMMENT 'The order, or the transaction of a bank dispute',
    customer_id String COMMENT 'The customer, as upstream names them',
    settles_under String COMMENT 'The key under which what must be paid once meets: the order, or the smallest related transaction',
    policy LowCardinality(String) COMMENT 'The policy pack the dispute is pinned to',
    pack_version UInt32 COMMENT 'Its version: seats, prompts, prices and rules follow from it',
    pack_hash LowCardinality(String) COMMENT 'Hash that seals the pack',
    simulated Bool COMMENT 'True when a stand-in took part, so no real money may have moved',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    payment_id String COMMENT 'The decision it answers, idempotency key and reference at the gateway',
    status LowCardinality(String) COMMENT 'paid, not_required or refused',
    amount_minor Int64 COMMENT 'Amount of the decision in minor units. Moved only where status is paid',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
    gateway LowCardinality(String) COMMENT 'The gateway',
    gateway_ref String COMMENT 'Reference the gateway gave, empty where nothing was paid',
    refusal String COMMENT 'Why the gateway refused for good, empty otherwise',
    found_before_call Bool COMMENT 'True when the look-up found the refund, so that no call was made',
    attempts UInt32 COMMENT 'Attempts it took',
    review_id String COMMENT 'The review it follows from, empty for the automatic part',
    received_at DateTime64(3, 'UTC') COMMENT 'When intake received the complaint' CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, payment_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'Exactly one row per decision: the answer of the gateway, or not_required';

-- down

DROP TABLE IF EXISTS payments;
DROP TABLE IF EXISTS decisions;
DROP TABLE IF EXISTS proposals;
