-- What the archive has, whose words were erased, and how long the tables of 0010 keep their rows.

-- up

ALTER TABLE events
    ADD COLUMN IF NOT EXISTS archived UInt8 DEFAULT 0 COMMENT '1 where the archive of its day has the bytes, read back; they may then be empty here';

ALTER TABLE events MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE operations MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;

CREATE TABLE IF NOT EXISTS erased_disputes
(
    dispute_id String COMMENT 'A dispute whose words were erased: the sink stores none of them again',
    noted_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'Since when'
)
ENGINE = ReplacingMergeTree(noted_at)
ORDER BY (dispute_id)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per dispute of a customer who was erased';

CREATE OR REPLACE VIEW v_events DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    subject, topic, kafka_partition, kafka_offset, at, ingested_at, event_hash, erased, archived,
    length(value) AS bytes
FROM events FINAL;

-- down

CREATE OR REPLACE VIEW v_events DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    subject, topic, kafka_partition, kafka_offset, at, ingested_at, event_hash, erased,
    length(value) AS bytes
FROM events FINAL;

DROP TABLE IF EXISTS erased_disputes;
ALTER TABLE operations MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE events MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE events DROP COLUMN IF EXISTS archived;
