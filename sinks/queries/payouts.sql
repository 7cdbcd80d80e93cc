-- Money that moved, by day and category, each currency by itself.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
)
SELECT
    day, policy, pack_version, simulated, category, currency,
    uniqExact(paid.payment_id) AS payments,
    uniqExact(paid.dispute_id) AS disputes,
    sum(paid.amount_minor) AS amount_minor,
    sumIf(paid.amount_minor, paid.review_id = '') AS automatic_minor,
    sumIf(paid.amount_minor, paid.review_id != '') AS by_person_minor
FROM v_payout_lines AS paid
INNER JOIN chosen ON chosen.dispute_id = paid.dispute_id
GROUP BY day, policy, pack_version, simulated, category, currency
ORDER BY day, policy, pack_version, simulated, category, currency
