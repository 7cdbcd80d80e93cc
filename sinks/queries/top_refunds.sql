-- The twenty orders, merchants, couriers and customers with the most refunded, each currency by itself.
-- A merchant or courier the evidence does not name stands as '(not recorded)'.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
refunded AS
(
    SELECT
        paid.dispute_id AS dispute_id, chosen.policy AS policy, chosen.pack_version AS pack_version,
        chosen.simulated AS simulated, paid.currency AS currency, paid.amount_minor AS amount_minor,
        arrayJoin([
            ('order', paid.order_id),
            ('customer', paid.customer_id),
            ('merchant', if(snapshot.merchant_id = '', '(not recorded)', snapshot.merchant_id)),
            ('courier', if(snapshot.courier_id = '', '(not recorded)', snapshot.courier_id))
        ]) AS who
    FROM v_payments AS paid
    INNER JOIN chosen ON chosen.dispute_id = paid.dispute_id
    LEFT JOIN v_evidence_snapshots AS snapshot ON snapshot.dispute_id = paid.dispute_id
    WHERE paid.status = 'paid'
)
SELECT
    who.1 AS kind, currency,
    who.2 AS id,
    sum(refunded.amount_minor) AS amount_minor,
    count() AS payments,
    uniqExact(refunded.dispute_id) AS disputes,
    arraySort(groupUniqArray(concat(policy, ' v', toString(pack_version)))) AS packs,
    max(refunded.simulated) AS simulated
FROM refunded
GROUP BY kind, currency, id
ORDER BY kind, currency, amount_minor DESC, id
LIMIT 20 BY kind, currency
