-- What judges saw, how often they were asked again, and what caching saved.

-- up

ALTER TABLE dockets
    ADD COLUMN IF NOT EXISTS re_asks Int64 COMMENT 'Calls that carried a correction',
    ADD COLUMN IF NOT EXISTS tool_turns Int64 COMMENT 'Calls whose answer asked for evidence',
    ADD COLUMN IF NOT EXISTS retries Int64 COMMENT 'Calls made again after an overload or an outage',
    ADD COLUMN IF NOT EXISTS cache_read_tokens Int64 COMMENT 'The part of the tokens read that came from the provider\'s cache',
    ADD COLUMN IF NOT EXISTS cache_write_tokens Int64 COMMENT 'The part of the tokens read that was written to it';

ALTER TABLE judge_rulings
    ADD COLUMN IF NOT EXISTS re_asks Int64 COMMENT 'Calls that carried a correction',
    ADD COLUMN IF NOT EXISTS tool_turns Int64 COMMENT 'Calls whose answer asked for evidence',
    ADD COLUMN IF NOT EXISTS retries Int64 COMMENT 'Calls made again after an overload or an outage',
    ADD COLUMN IF NOT EXISTS cache_read_tokens Int64 COMMENT 'The part of the tokens read that came from the provider\'s cache',
    ADD COLUMN IF NOT EXISTS cache_write_tokens Int64 COMMENT 'The part of the tokens read that was written to it';

ALTER TABLE proposals
    ADD COLUMN IF NOT EXISTS re_asks Int64 COMMENT 'Calls that carried a correction',
    ADD COLUMN IF NOT EXISTS tool_turns Int64 COMMENT 'Calls whose answer asked for evidence',
    ADD COLUMN IF NOT EXISTS retries Int64 COMMENT 'Calls made again after an overload or an outage',
    ADD COLUMN IF NOT EXISTS cache_read_tokens Int64 COMMENT 'The part of the tokens read that came from the provider\'s cache',
    ADD COLUMN IF NOT EXISTS cache_write_tokens Int64 COMMENT 'The part of the tokens read that was written to it';

ALTER TABLE decisions
    ADD COLUMN IF NOT EXISTS re_asks Int64 COMMENT 'Calls that carried a correction',
    ADD COLUMN IF NOT EXISTS tool_turns Int64 COMMENT 'Calls whose answer asked for evidence',
    ADD COLUMN IF NOT EXISTS retries Int64 COMMENT 'Calls made again after an overload or an outage',
    ADD COLUMN IF NOT EXISTS cache_read_tokens Int64 COMMENT 'The part of the tokens read that came from the provider\'s cache',
    ADD COLUMN IF NOT EXISTS cache_write_tokens Int64 COMMENT 'The part of the tokens read that was written to it';

ALTER TABLE letters
    ADD COLUMN IF NOT EXISTS re_asks Int64 COMMENT 'Calls that carried a correction',
    ADD COLUMN IF NOT EXISTS tool_turns Int64 COMMENT 'Calls whose answer asked for evidence',
    ADD COLUMN IF NOT EXISTS retries Int64 COMMENT 'Calls made again after an overload or an outage',
    ADD COLUMN IF NOT EXISTS cache_read_tokens Int64 COMMENT 'The part of the tokens read that came from the provider\'s cache',
    ADD COLUMN IF NOT EXISTS cache_write_tokens Int64 COMMENT 'The part of the tokens read that was written to it';

ALTER TABLE judge_rulings
    ADD COLUMN IF NOT EXISTS seen Array(String) COMMENT 'Fields of the frozen snapshot that the judge saw';

ALTER TABLE verdicts
    ADD COLUMN IF NOT EXISTS identical_replies UInt8 COMMENT 'Seats whose raw reply is another seat\'s, letter for letter';

CREATE OR REPLACE VIEW v_call_costs DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, policy, pack_version, pack_hash, simulated, at, 'extraction' AS stage, model, prompt_hash,
    calls, re_asks, tool_turns, retries, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, cost_micros, latency_ms
FROM dockets FINAL
UNION ALL
SELECT
    dispute_id, policy, pack_version, pack_hash, simulated, at, 'judging', concat(provider, '/', model), prompt_hash,
    calls, re_asks, tool_turns, retries, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, cost_micros, latency_ms
FROM judge_rulings FINAL
UNION ALL
SELECT
    dispute_id, policy, pack_version, pack_hash, simulated, at, 'letters', model, prompt_hash,
    calls, re_asks, tool_turns, retries, input_tokens, cache_read_tokens, cache_write_tokens,
    output_tokens, cost_micros, latency_ms
FROM letters FINAL;

-- down

DROP VIEW IF EXISTS v_call_costs;

ALTER TABLE dockets
    DROP COLUMN IF EXISTS re_asks,
    DROP COLUMN IF EXISTS tool_turns,
    DROP COLUMN IF EXISTS retries,
    DROP COLUMN IF EXISTS cache_read_tokens,
    DROP COLUMN IF EXISTS cache_write_tokens;

ALTER TABLE judge_rulings
    DROP COLUMN IF EXISTS re_asks,
    DROP COLUMN IF EXISTS tool_turns,
    DROP COLUMN IF EXISTS retries,
    DROP COLUMN IF EXISTS cache_read_tokens,
    DROP COLUMN IF EXISTS cache_write_tokens;

ALTER TABLE proposals
    DROP COLUMN IF EXISTS re_asks,
    DROP COLUMN IF EXISTS tool_turns,
    DROP COLUMN IF EXISTS retries,
    DROP COLUMN IF EXISTS cache_read_tokens,
    DROP COLUMN IF EXISTS cache_write_tokens;

ALTER TABLE decisions
    DROP COLUMN IF EXISTS re_asks,
    DROP COLUMN IF EXISTS tool_turns,
    DROP COLUMN IF EXISTS retries,
    DROP COLUMN IF EXISTS cache_read_tokens,
    DROP COLUMN IF EXISTS cache_write_tokens;

ALTER TABLE letters
    DROP COLUMN IF EXISTS re_asks,
    DROP COLUMN IF EXISTS tool_turns,
    DROP COLUMN IF EXISTS retries,
    DROP COLUMN IF EXISTS cache_read_tokens,
    DROP COLUMN IF EXISTS cache_write_tokens;

ALTER TABLE judge_rulings
    DROP COLUMN IF EXISTS seen;

ALTER TABLE verdicts
    DROP COLUMN IF EXISTS identical_replies;
