-- Each dispute with its amounts as the decisions, the payments and the ledger have them, side by side.

WITH facts AS
(
    SELECT dispute_id, at AS seen_at, 'ledger' AS source, order_id, customer_id, policy, pack_version, simulated, filed_at, settled_at,
        status, decision_rule, currency, '' AS review_id, '' AS payment_status, amount_minor, proposed_minor, paid_minor, pending_minor
    FROM v_disputes_current
    UNION ALL
    SELECT dispute_id, at, 'dispute', order_id, customer_id, policy, pack_version, simulated, filed_at, NULL, '', '', '', '', '', 0, 0, 0, 0
    FROM v_disputes
    UNION ALL
    SELECT dispute_id, at, 'decision', order_id, customer_id, policy, pack_version, simulated, filed_at, NULL, '', decision_rule, currency, review_id, '',
        amount_minor, proposed_minor, 0, 0
    FROM v_decisions
    UNION ALL
    SELECT dispute_id, at, 'payment', order_id, customer_id, policy, pack_version, simulated, NULL, NULL, '', '', currency, review_id, status,
        amount_minor, 0, 0, 0
    FROM v_payments
)
SELECT
    dispute_id,
    any(facts.order_id) AS order_id,
    any(facts.customer_id) AS customer_id,
    any(facts.policy) AS policy,
    max(facts.pack_version) AS pack_version,
    max(facts.simulated) AS simulated,
    anyIf(facts.status, source = 'ledger') AS status,
    anyIf(facts.decision_rule, source = 'decision' AND review_id = '') AS decision_rule,
    anyIf(facts.currency, facts.currency != '') AS currency,
    uniqExactIf(facts.currency, facts.currency != '') AS currencies,
    countIf(source = 'decision') AS decisions,
    countIf(source = 'payment') AS payments,
    sumIf(facts.amount_minor, source = 'decision' AND review_id = '') AS amount_minor,
    sumIf(facts.proposed_minor, source = 'decision' AND review_id = '') AS proposed_minor,
    sumIf(facts.amount_minor, source = 'decision') AS decided_minor,
    sumIf(facts.amount_minor, payment_status = 'paid') AS paid_minor,
    sumIf(facts.amount_minor, payment_status = 'refused') AS refused_minor,
    anyIf(facts.decision_rule, source = 'ledger') AS ledger_decision_rule,
    sumIf(facts.amount_minor, source = 'ledger') AS ledger_amount_minor,
    sumIf(facts.proposed_minor, source = 'ledger') AS ledger_proposed_minor,
    sumIf(facts.paid_minor, source = 'ledger') AS ledger_paid_minor,
    sumIf(facts.pending_minor, source = 'ledger') AS ledger_pending_minor,
    coalesce(min(facts.filed_at), min(seen_at)) AS filed_at,
    max(facts.settled_at) AS settled_at
FROM facts
GROUP BY dispute_id
HAVING if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
    AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
ORDER BY filed_at, dispute_id
