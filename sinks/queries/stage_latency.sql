-- How long each stage took after the one before it, by the hour in which it ended.

SELECT
    formatDateTime(reached_at, '%Y-%m-%dT%H:00', {time_zone:String}) AS hour,
    policy, pack_version, simulated, stage,
    count() AS disputes,
    quantileExact(0.5)(took_ms) / 1000 AS p50_s,
    quantileExact(0.9)(took_ms) / 1000 AS p90_s,
    quantileExact(0.99)(took_ms) / 1000 AS p99_s
FROM v_stage_timings
WHERE took_ms IS NOT NULL
    AND if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
    AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
GROUP BY hour, policy, pack_version, simulated, stage
ORDER BY hour, policy, pack_version, simulated, min(reached_at), stage
