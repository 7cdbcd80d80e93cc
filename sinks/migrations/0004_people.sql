-- What the customer was told, and what people decided.

-- up

CREATE TABLE IF NOT EXISTS letters
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
    letter_id String COMMENT 'The letter',
    kind LowCardinality(String) COMMENT 'What it tells',
    language LowCardinality(String) COMMENT 'Language of the letter',
    written_by LowCardinality(String) COMMENT 'model or template',
    model LowCardinality(String) COMMENT 'Model that wrote it, empty for a template',
    prompt_hash LowCardinality(String) COMMENT 'Hash of the prompt, empty for a template',
    rejected_drafts UInt16 COMMENT 'Drafts that were not sent',
    rejected_because Array(String) COMMENT 'Why each of them was not. Not in the views of analysts',
    paid_minor Int64 COMMENT 'The amount it states, in minor units',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of the amount',
    calls Int64 COMMENT 'Calls to a model that the letter took, retries included',
    input_tokens Int64 COMMENT 'Tokens read by the model',
    output_tokens Int64 COMMENT 'Tokens written by the model',
    cost_micros Int64 COMMENT 'What the calls cost, in millionths of a US dollar',
    latency_ms Int64 COMMENT 'Time spent in the calls, in milliseconds',
    body String COMMENT 'The message as sent. Free text, not in the views of analysts' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, letter_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per letter';

CREATE TABLE IF NOT EXISTS reviews
(
    dispute_id String COMMENT 'The dispute',
    order_id String COMMENT 'The order, or the transaction of a bank dispute',
    settles_under String COMMENT 'The key under which what must be paid once meets: the order, or the smallest related transaction',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    review_id String COMMENT 'The review',
    action LowCardinality(String) COMMENT 'approve, reject, amount, more_evidence or appeal',
    amount_minor Nullable(Int64) COMMENT 'The total approved in minor units, where the action is amount',
    reason_code LowCardinality(String) COMMENT 'Reason code',
    reviewer String COMMENT 'Who decided',
    role LowCardinality(String) COMMENT 'In which role',
    note String COMMENT 'The note. Free text, not in the views of analysts' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, review_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per decision of a person, or appeal of a customer';

-- down

DROP TABLE IF EXISTS reviews;
DROP TABLE IF EXISTS letters;
