-- What was done to the installation, and every event of a dispute as bytes, for whoever checks the trail.

-- up

CREATE TABLE IF NOT EXISTS operations
(
    operation_id String COMMENT 'The act; one that is told again has the same',
    at DateTime64(3, 'UTC') COMMENT 'When it was done' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    first_wins UInt64 COMMENT 'Falls as the offset grows: of an act told twice the first row stays',
    subject String COMMENT 'What it was done to: a dispute, payouts, packs, roles, archive, the HMAC of a customer',
    action LowCardinality(String) COMMENT 'What was done',
    actor String COMMENT 'The user, or the app where nobody ordered it',
    role LowCardinality(String) COMMENT 'In which role',
    reason_code LowCardinality(String) COMMENT 'Why, as a code',
    details Map(LowCardinality(String), String) COMMENT 'Codes, hashes, counts and amounts'
)
ENGINE = ReplacingMergeTree(first_wins)
ORDER BY (subject, operation_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per act of a person, or of a safety catch, on the installation';

CREATE TABLE IF NOT EXISTS events
(
    subject String COMMENT 'The dispute, or what an operation was done to',
    topic LowCardinality(String) COMMENT 'Topic of the record',
    kafka_partition UInt16 COMMENT 'Its partition',
    kafka_offset UInt64 COMMENT 'Its offset' CODEC(Delta, ZSTD(1)),
    at DateTime64(3, 'UTC') COMMENT 'When the stage made the event, by its own clock' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    key String COMMENT 'Key of the record',
    event_hash String COMMENT 'sha256 of its bytes, which the audit chain links; stays when they are erased',
    erased UInt8 COMMENT '1 where the bytes were erased. Such a row wins over a replayed record, so a replay brings nothing back',
    value String COMMENT 'Its bytes, empty where erased. Holds free text, not in the views of analysts' CODEC(ZSTD(6)),
    INDEX by_key key TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(erased)
PARTITION BY toYYYYMM(at)
ORDER BY (subject, topic, kafka_partition, kafka_offset)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per record of a dispute or an operation: its bytes, as Kafka had them';

CREATE OR REPLACE VIEW v_operations DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    operation_id, at, kafka_partition, kafka_offset, ingested_at, subject, action, actor, role,
    reason_code, details
FROM operations FINAL;

CREATE OR REPLACE VIEW v_events DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    subject, topic, kafka_partition, kafka_offset, at, ingested_at, event_hash, erased,
    length(value) AS bytes
FROM events FINAL;

-- down

DROP VIEW IF EXISTS v_events;
DROP VIEW IF EXISTS v_operations;
DROP TABLE IF EXISTS events;
DROP TABLE IF EXISTS operations;
