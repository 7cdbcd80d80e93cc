-- Where each dispute stands, its chained history, and what could not be read.

-- up

CREATE TABLE IF NOT EXISTS ledger_entries
(
    dispute_id String COMMENT 'The dispute',
    order_id String COMMENT 'The order, or the transaction of a bank dispute',
    customer_id String COMMENT 'The customer, as upstream names them',
    settles_under String COMMENT 'The key under which what must be paid once meets: the order, or the smallest related transaction',
    policy LowCardinality(String) COMMENT 'The policy pack the dispute is pinned to',
    pack_version UInt32 COMMENT 'Its version: seats, prompts, prices and rules follow from it',
    pack_hash LowCardinality(String) COMMENT 'Hash that seals the pack',
    simulated Bool COMMENT 'True when a stand-in took part, so no real money may have moved',
    sequence UInt32 COMMENT 'Number of events of the dispute seen so far',
    status LowCardinality(String) COMMENT 'Status of the dispute',
    filed_at DateTime64(3, 'UTC') COMMENT 'When the customer filed the complaint' CODEC(Delta, ZSTD(1)),
    settled_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the automatic part was paid, or the dispute handed over or closed',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    decision_rule LowCardinality(String) COMMENT 'The rule that decided, empty before the decision',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount in the row',
    amount_minor Int64 COMMENT 'Decided automatically, in minor units',
    proposed_minor Int64 COMMENT 'What the rules priced before any stop',
    paid_minor Int64 COMMENT 'Confirmed by the gateway, automatic part and reviews',
    pending_minor Int64 COMMENT 'What a person may still approve',
    needs_person Bool COMMENT 'True when the dispute goes to the queue',
    chain_head String COMMENT 'Hash of the newest link of the audit chain'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(filed_at)
ORDER BY (dispute_id, sequence)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'The steps of each dispute, as many as Kafka had not compacted away when the sink read them';

CREATE TABLE IF NOT EXISTS disputes_current
(
    dispute_id String COMMENT 'The dispute',
    order_id String COMMENT 'The order, or the transaction of a bank dispute',
    customer_id String COMMENT 'The customer, as upstream names them',
    settles_under String COMMENT 'The key under which what must be paid once meets: the order, or the smallest related transaction',
    policy LowCardinality(String) COMMENT 'The policy pack the dispute is pinned to',
    pack_version UInt32 COMMENT 'Its version: seats, prompts, prices and rules follow from it',
    pack_hash LowCardinality(String) COMMENT 'Hash that seals the pack',
    simulated Bool COMMENT 'True when a stand-in took part, so no real money may have moved',
    sequence UInt32 COMMENT 'Number of events of the dispute seen so far',
    status LowCardinality(String) COMMENT 'Status of the dispute',
    filed_at DateTime64(3, 'UTC') COMMENT 'When the customer filed the complaint' CODEC(Delta, ZSTD(1)),
    settled_at Nullable(DateTime64(3, 'UTC')) COMMENT 'When the automatic part was paid, or the dispute handed over or closed',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    decision_rule LowCardinality(String) COMMENT 'The rule that decided, empty before the decision',
    currency LowCardinality(String) COMMENT 'ISO 4217 code of every amount in the row',
    amount_minor Int64 COMMENT 'Decided automatically, in minor units',
    proposed_minor Int64 COMMENT 'What the rules priced before any stop',
    paid_minor Int64 COMMENT 'Confirmed by the gateway, automatic part and reviews',
    pending_minor Int64 COMMENT 'What a person may still approve',
    needs_person Bool COMMENT 'True when the dispute goes to the queue',
    stages Map(LowCardinality(String), DateTime64(3, 'UTC')) COMMENT 'When the event of each stage was made',
    tier Nullable(UInt8) COMMENT 'Approval tier',
    acknowledge_by Nullable(DateTime64(3, 'UTC')) COMMENT 'Deadline of the acknowledgement',
    resolve_by Nullable(DateTime64(3, 'UTC')) COMMENT 'Deadline of the resolution',
    evidence_hash String COMMENT 'Hash of the frozen snapshot',
    evidence_stale Bool COMMENT 'True when the snapshot was captured before the filing',
    screening_rules Array(LowCardinality(String)) COMMENT 'Screening rules that matched',
    outcome LowCardinality(String) COMMENT 'What ended the dispute before pricing, empty where nothing did',
    grievances UInt16 COMMENT 'Number of grievances known so far',
    left_out Nullable(UInt16) COMMENT 'Number of statements that are not grievances',
    escalated Array(LowCardinality(String)) COMMENT 'Categories a person must decide',
    llm_calls UInt32 COMMENT 'Calls to models so far',
    cost_micros Int64 COMMENT 'What they cost, in millionths of a US dollar',
    letters UInt16 COMMENT 'Letters sent',
    review_ids Array(String) COMMENT 'Reviews seen',
    chain_head String COMMENT 'Hash of the newest link of the audit chain'
)
ENGINE = ReplacingMergeTree(sequence)
PARTITION BY toYYYYMM(filed_at)
ORDER BY (dispute_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per dispute: the entry with the highest sequence';

CREATE TABLE IF NOT EXISTS audit_entries
(
    dispute_id String COMMENT 'The dispute',
    sequence UInt32 COMMENT 'Number of the link, from 1',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    event_topic LowCardinality(String) COMMENT 'Topic of the event',
    event_partition UInt16 COMMENT 'Its partition',
    event_offset UInt64 COMMENT 'Its offset',
    event_hash String COMMENT 'Hash of its bytes',
    previous String COMMENT 'The link before',
    chain String COMMENT 'Hash of the link before and the event'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, sequence)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per link of the audit chain of a dispute';

CREATE TABLE IF NOT EXISTS dead_letters
(
    dead_letter_id String COMMENT 'Topic, partition and offset of the source',
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record, the version by which a replayed row replaces itself' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    stage LowCardinality(String) COMMENT 'The stage that gave up',
    source_topic LowCardinality(String) COMMENT 'Topic of the record',
    source_partition UInt16 COMMENT 'Its partition',
    source_offset UInt64 COMMENT 'Its offset',
    encrypted_bytes UInt32 COMMENT 'Size of the encrypted record, which stays in Kafka',
    error String COMMENT 'What is wrong and what to do' CODEC(ZSTD(3))
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dead_letter_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per record that could not be read or output that could not be written';

-- down

DROP TABLE IF EXISTS dead_letters;
DROP TABLE IF EXISTS audit_entries;
DROP TABLE IF EXISTS disputes_current;
DROP TABLE IF EXISTS ledger_entries;
