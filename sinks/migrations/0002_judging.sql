-- What the bench said, and how code counted it.

-- up

CREATE TABLE IF NOT EXISTS judge_rulings
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
    ruling_id String COMMENT 'The ruling',
    grievance_id String COMMENT 'The grievance ruled on',
    grievance_at DateTime64(3, 'UTC') COMMENT 'When the grievance was created. Never changes, so it may lead the sort key' CODEC(Delta, ZSTD(1)),
    category LowCardinality(String) COMMENT 'Category of the grievance',
    seat UInt16 COMMENT 'Seat of the bench',
    ruling LowCardinality(String) COMMENT 'UPHELD, REJECTED, ESCALATE, or FAILED for an abstention',
    confidence Float64 COMMENT 'What the judge said of its own certainty, 0 to 1',
    citations Array(String) COMMENT 'Fields of the snapshot it cited',
    failure LowCardinality(String) COMMENT 'Why it is FAILED, empty otherwise',
    provider LowCardinality(String) COMMENT 'Provider of the model',
    model LowCardinality(String) COMMENT 'Model of the seat',
    prompt_variant LowCardinality(String) COMMENT 'Prompt variant of the seat',
    prompt_hash LowCardinality(String) COMMENT 'Hash of the prompt',
    attempts UInt32 COMMENT 'Attempts it took',
    calls Int64 COMMENT 'Calls to a model that the ruling took, retries included',
    input_tokens Int64 COMMENT 'Tokens read by the model',
    output_tokens Int64 COMMENT 'Tokens written by the model',
    cost_micros Int64 COMMENT 'What the calls cost, in millionths of a US dollar',
    latency_ms Int64 COMMENT 'Time spent in the calls, in milliseconds',
    request_id String COMMENT 'Request id of the provider, empty where it gave none',
    evidence_hash String COMMENT 'Hash of the snapshot it was given',
    reason String COMMENT 'The reason in words. Free text, not in the views of analysts' CODEC(ZSTD(3)),
    raw_reply String COMMENT 'Reply of the model as it came. Free text, not in the views of analysts' CODEC(ZSTD(6)),
    INDEX by_dispute_id dispute_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (toDate(grievance_at), dispute_id, grievance_id, seat)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per grievance and seat';

CREATE TABLE IF NOT EXISTS verdicts
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
    verdict_id String COMMENT 'The verdict',
    grievance_id String COMMENT 'The grievance counted',
    category LowCardinality(String) COMMENT 'Category of the grievance',
    revision UInt16 COMMENT '1 decides, a later one changes nothing',
    ruling LowCardinality(String) COMMENT 'UPHELD, REJECTED or ESCALATE, as counted',
    votes_upheld UInt16 COMMENT 'Rulings that upheld',
    votes_rejected UInt16 COMMENT 'Rulings that rejected',
    votes_escalate UInt16 COMMENT 'Rulings that escalated',
    votes_failed UInt16 COMMENT 'Abstentions',
    votes_absent UInt16 COMMENT 'Seats that never answered',
    confidence Float64 COMMENT 'Weighted confidence of the count, 0 to 1',
    closed_by LowCardinality(String) COMMENT 'What closed the count: all_seats, window, deadline or late',
    ruling_ids Array(String) COMMENT 'The counted rulings',
    ruling_hashes Array(String) COMMENT 'Hash of each counted ruling',
    seats Array(UInt16) COMMENT 'Seat of each',
    seat_rulings Array(LowCardinality(String)) COMMENT 'Ruling of each',
    seat_confidences Array(Float64) COMMENT 'Confidence of each',
    seat_weights Array(UInt32) COMMENT 'Weight of each seat',
    seat_models Array(LowCardinality(String)) COMMENT 'Provider and model of each seat',
    seat_prompt_variants Array(LowCardinality(String)) COMMENT 'Prompt variant of each seat',
    seat_prompt_hashes Array(LowCardinality(String)) COMMENT 'Hash of the prompt of each seat',
    seat_failures Array(LowCardinality(String)) COMMENT 'Why a ruling is FAILED, empty otherwise'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, grievance_id, revision)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per grievance and revision. Revision 1 decides, a later one records a late ruling';

-- down

DROP TABLE IF EXISTS verdicts;
DROP TABLE IF EXISTS judge_rulings;
