-- From complaint received to settled, against the promise of 15 s for half and 30 s for nine in ten, by hour.
-- `opened` counts from the moment the evidence was there.

WITH timed AS
(
    SELECT
        formatDateTime(if({clock:String} = 'settled', settled_at, filed_at), '%Y-%m-%dT%H:00', {time_zone:String}) AS hour,
        policy, pack_version, simulated, settled_at,
        dateDiff('millisecond', if(mapContains(stages, 'received'), stages['received'], filed_at), settled_at) / 1000 AS took_s,
        if(mapContains(stages, 'opened'), dateDiff('millisecond', stages['opened'], settled_at) / 1000, NULL) AS opened_s
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
)
SELECT
    hour, policy, pack_version, simulated,
    count() AS disputes,
    count(settled_at) AS settled,
    quantileExact(0.5)(took_s) AS p50_s,
    quantileExact(0.9)(took_s) AS p90_s,
    quantileExact(0.99)(took_s) AS p99_s,
    quantileExact(0.5)(opened_s) AS opened_p50_s,
    quantileExact(0.9)(opened_s) AS opened_p90_s,
    countIf(took_s < 30) / nullIf(settled, 0) AS within_30_s,
    p50_s < 15 AND p90_s < 30 AS promise_held
FROM timed
GROUP BY hour, policy, pack_version, simulated
ORDER BY hour, policy, pack_version, simulated
