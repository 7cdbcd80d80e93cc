-- What came in: the dispute, the evidence frozen with it, its docket and its grievances.

-- up

CREATE TABLE IF NOT EXISTS disputes
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
    filed_at DateTime64(3, 'UTC') COMMENT 'When the customer filed the complaint' CODEC(Delta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') COMMENT 'When intake received the complaint' CODEC(Delta, ZSTD(1)),
    channel LowCardinality(String) COMMENT 'How the complaint reached us',
    text String COMMENT 'The complaint in the words of the customer. Free text, not in the views of analysts' CODEC(ZSTD(3)),
    evidence_hash String COMMENT 'Hash of the frozen snapshot, empty where there was none',
    evidence_stale Bool COMMENT 'True when the snapshot was captured before the filing',
    evidence_problems Array(String) COMMENT 'What is wrong with the evidence',
    screening_rules Array(LowCardinality(String)) COMMENT 'Screening rules that matched, each of which forces a person',
    screening_places Array(String) COMMENT 'Where each of them matched',
    tier UInt8 COMMENT 'Approval tier at intake',
    acknowledge_by Nullable(DateTime64(3, 'UTC')) COMMENT 'Deadline of the acknowledgement',
    resolve_by Nullable(DateTime64(3, 'UTC')) COMMENT 'Deadline of the resolution',
    outcome LowCardinality(String) COMMENT 'What ended the dispute before pricing, empty where nothing did'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per opened dispute';

CREATE TABLE IF NOT EXISTS evidence_snapshots
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
    evidence_hash String COMMENT 'Hash of the canonical bytes in body',
    kind LowCardinality(String) COMMENT 'Kind of record, which picks its model',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of the amounts in the record',
    captured_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the records looked like this, by upstream',
    disputed_minor Nullable(Int64) COMMENT 'What was paid for the order, or the amount of the transaction, in minor units',
    merchant_id String COMMENT 'Merchant of the order, empty where not recorded',
    courier_id String COMMENT 'Courier of the order, empty where not recorded',
    city LowCardinality(String) COMMENT 'City of the order, empty where not recorded',
    rail LowCardinality(String) COMMENT 'Payment rail of the transaction, empty for orders',
    body String COMMENT 'The snapshot as canonical JSON. Not in the views of analysts' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per dispute with evidence: the snapshot every judge, retry and audit sees';

CREATE TABLE IF NOT EXISTS dockets
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
    filed_at DateTime64(3, 'UTC') COMMENT 'When the customer filed the complaint' CODEC(Delta, ZSTD(1)),
    received_at DateTime64(3, 'UTC') COMMENT 'When intake received the complaint' CODEC(Delta, ZSTD(1)),
    grievances UInt16 COMMENT 'N, the number of grievances',
    categories Array(LowCardinality(String)) COMMENT 'Category of each grievance, in the order of the complaint',
    left_out_kinds Array(LowCardinality(String)) COMMENT 'Kind of each statement that is not a grievance',
    evidence_hash String COMMENT 'Hash of the frozen snapshot, empty where there was none',
    evidence_stale Bool COMMENT 'True when the snapshot was captured before the filing',
    screening_rules Array(LowCardinality(String)) COMMENT 'Screening rules that matched',
    safety_words Bool COMMENT 'True when the word list of the pack found a safety matter',
    tier UInt8 COMMENT 'Approval tier',
    outcome LowCardinality(String) COMMENT 'What ended the dispute before pricing, empty where nothing did',
    problem String COMMENT 'Why, for an officer. Free text, not in the views of analysts' CODEC(ZSTD(3)),
    model LowCardinality(String) COMMENT 'Model that extracted',
    prompt_hash LowCardinality(String) COMMENT 'Hash of the extraction prompt',
    calls Int64 COMMENT 'Calls to a model that the extraction took, retries included',
    input_tokens Int64 COMMENT 'Tokens read by the model',
    output_tokens Int64 COMMENT 'Tokens written by the model',
    cost_micros Int64 COMMENT 'What the calls cost, in millionths of a US dollar',
    latency_ms Int64 COMMENT 'Time spent in the calls, in milliseconds',
    raw_reply String COMMENT 'Reply of the model as it came. Free text, not in the views of analysts' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per dispute: how many grievances the complaint holds and what the extraction took';

CREATE TABLE IF NOT EXISTS grievances
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
    grievance_id String COMMENT 'The grievance',
    number UInt16 COMMENT 'Its number in the dispute, from 1',
    of UInt16 COMMENT 'N, the number of grievances in the dispute',
    category LowCardinality(String) COMMENT 'Category of the pack',
    text String COMMENT 'The claim in words that stand alone. Free text, not in the views of analysts' CODEC(ZSTD(3)),
    span_start UInt32 COMMENT 'First character of the complaint it rests on',
    span_end UInt32 COMMENT 'Character after the last one',
    line_id String COMMENT 'Order line claimed, empty where none',
    quantity Nullable(UInt32) COMMENT 'Units claimed',
    scope LowCardinality(String) COMMENT 'line, or order where the claim is about the whole order',
    safety Bool COMMENT 'True when the extraction saw a safety matter',
    evidence_fields Array(LowCardinality(String)) COMMENT 'Fields of the snapshot the judges were shown',
    evidence_hash String COMMENT 'Hash of the whole snapshot',
    filed_at DateTime64(3, 'UTC') COMMENT 'When the customer filed the complaint' CODEC(Delta, ZSTD(1)),
    seats Array(UInt16) COMMENT 'Seats of the bench'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, grievance_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per grievance, the claim a bench rules on';

-- down

DROP TABLE IF EXISTS grievances;
DROP TABLE IF EXISTS dockets;
DROP TABLE IF EXISTS evidence_snapshots;
DROP TABLE IF EXISTS disputes;
