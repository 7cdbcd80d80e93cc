-- Views, grants and tables of the analysts' questions.

-- up

CREATE TABLE IF NOT EXISTS complaints
(
    dispute_id String COMMENT 'The dispute it opens, or opened before: an HMAC of order and text',
    order_id String COMMENT 'The order, or the transaction of a bank dispute',
    customer_id String COMMENT 'The customer, as upstream names them',
    policy LowCardinality(String) COMMENT 'The policy asked for',
    at DateTime64(3, 'UTC') COMMENT 'When the customer filed it' CODEC(Delta, ZSTD(1)),
    kafka_partition UInt16 COMMENT 'Partition of the record in its topic',
    kafka_offset UInt64 COMMENT 'Offset of the record' CODEC(Delta, ZSTD(1)),
    ingested_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'When ClickHouse took the row' CODEC(Delta, ZSTD(1)),
    channel LowCardinality(String) COMMENT 'How the complaint reached us',
    client String COMMENT 'Who handed it to us'
)
ENGINE = ReplacingMergeTree(kafka_offset)
PARTITION BY toYYYYMM(at)
ORDER BY (dispute_id, kafka_partition, kafka_offset)
SETTINGS non_replicated_deduplication_window = 0
COMMENT 'One row per complaint as filed, repeats included, without its words';

CREATE OR REPLACE VIEW v_complaints DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, policy, at, kafka_partition, kafka_offset, ingested_at,
    channel, client
FROM complaints FINAL;

-- down

DROP VIEW IF EXISTS v_complaints;
DROP TABLE IF EXISTS complaints;
