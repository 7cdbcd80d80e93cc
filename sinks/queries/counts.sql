-- How many distinct events each table holds, by when their stage made them.

SELECT
    topic, table_name,
    count() AS events,
    min(at) AS first_at,
    max(at) AS last_at
FROM
(
    SELECT 'complaints' AS topic, 'complaints' AS table_name, at FROM v_complaints
    UNION ALL
    SELECT 'disputes' AS topic, 'disputes' AS table_name, at FROM v_disputes
    UNION ALL
    SELECT 'disputes' AS topic, 'evidence_snapshots' AS table_name, at FROM v_evidence_snapshots
    UNION ALL
    SELECT 'dockets' AS topic, 'dockets' AS table_name, at FROM v_dockets
    UNION ALL
    SELECT 'grievances' AS topic, 'grievances' AS table_name, at FROM v_grievances
    UNION ALL
    SELECT 'rulings' AS topic, 'judge_rulings' AS table_name, at FROM v_judge_rulings
    UNION ALL
    SELECT 'verdicts' AS topic, 'verdicts' AS table_name, at FROM v_verdicts
    UNION ALL
    SELECT 'proposals' AS topic, 'proposals' AS table_name, at FROM v_proposals
    UNION ALL
    SELECT 'decisions' AS topic, 'decisions' AS table_name, at FROM v_decisions
    UNION ALL
    SELECT 'payments' AS topic, 'payments' AS table_name, at FROM v_payments
    UNION ALL
    SELECT 'letters' AS topic, 'letters' AS table_name, at FROM v_letters
    UNION ALL
    SELECT 'reviews' AS topic, 'reviews' AS table_name, at FROM v_reviews
    UNION ALL
    SELECT 'ledger' AS topic, 'ledger_entries' AS table_name, at FROM v_ledger_entries
    UNION ALL
    SELECT 'ledger' AS topic, 'disputes_current' AS table_name, at FROM v_disputes_current
    UNION ALL
    SELECT 'audit' AS topic, 'audit_entries' AS table_name, at FROM v_audit_entries
    UNION ALL
    SELECT 'operations' AS topic, 'operations' AS table_name, at FROM v_operations
    UNION ALL
    SELECT 'every one of a dispute' AS topic, 'events' AS table_name, at FROM v_events
    UNION ALL
    SELECT 'dead-letters' AS topic, 'dead_letters' AS table_name, at FROM v_dead_letters
)
WHERE at >= {since:DateTime64(3, 'UTC')} AND at < {until:DateTime64(3, 'UTC')}
GROUP BY topic, table_name
ORDER BY topic, table_name
