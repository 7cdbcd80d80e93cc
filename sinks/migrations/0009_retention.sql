-- How long each table keeps its rows: 7 years, as the topics of money and codes. Texts have no TTL, since one
-- would expire whether the archive has it or not: `archive run` empties them.

-- up

ALTER TABLE complaints MODIFY TTL toDateTime(ingested_at) + INTERVAL 2555 DAY;
ALTER TABLE disputes MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE evidence_snapshots MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE dockets MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE grievances MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE judge_rulings MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE verdicts MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE proposals MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE decisions MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE payments MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE letters MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE reviews MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE ledger_entries MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE disputes_current MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE audit_entries MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;
ALTER TABLE dead_letters MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY;

-- down

ALTER TABLE dead_letters MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE audit_entries MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE disputes_current MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE ledger_entries MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE reviews MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE letters MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE payments MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE decisions MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE proposals MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE verdicts MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE judge_rulings MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE grievances MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE dockets MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE evidence_snapshots MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE disputes MODIFY TTL toDateTime(at) + INTERVAL 2555 DAY, REMOVE TTL;
ALTER TABLE complaints MODIFY TTL toDateTime(ingested_at) + INTERVAL 2555 DAY, REMOVE TTL;
