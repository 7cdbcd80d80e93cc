-- Promises to customers: acknowledgement and resolution, by day. At risk is what is open and due within four
-- hours from now. A dispute is acknowledged by its first letter, resolved when nothing of it waits for a person.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
paid AS
(
    SELECT dispute_id, max(at) AS last_at FROM v_payments GROUP BY dispute_id
),
promised AS
(
    SELECT
        dispute_id,
        if(status IN ('paid', 'closed_no_payment'), greatest(settled_at, paid.last_at), NULL) AS resolved_at,
        arrayJoin([
            ('acknowledge', acknowledge_by, multiIf(
                mapContains(stages, 'acknowledged'), toNullable(stages['acknowledged']),
                mapContains(stages, 'told'), toNullable(stages['told']), NULL)),
            ('resolve', resolve_by, resolved_at)
        ]) AS promise
    FROM v_disputes_current
    LEFT JOIN paid ON paid.dispute_id = v_disputes_current.dispute_id
)
SELECT
    day, policy, pack_version, simulated,
    promise.1 AS deadline,
    count() AS disputes,
    countIf(promise.3 <= promise.2) AS kept,
    countIf(promise.3 > promise.2) AS kept_late,
    countIf(promise.3 IS NULL AND promise.2 < now64(3)) AS breached_and_open,
    countIf(promise.3 IS NULL AND promise.2 >= now64(3) AND promise.2 < now64(3) + INTERVAL 4 HOUR) AS at_risk,
    countIf(promise.3 IS NULL AND promise.2 >= now64(3) + INTERVAL 4 HOUR) AS open_in_time,
    (kept_late + breached_and_open) / nullIf(disputes, 0) AS breach_rate
FROM promised
INNER JOIN chosen ON chosen.dispute_id = promised.dispute_id
WHERE promise.2 IS NOT NULL
GROUP BY day, policy, pack_version, simulated, deadline
ORDER BY day, policy, pack_version, simulated, deadline
