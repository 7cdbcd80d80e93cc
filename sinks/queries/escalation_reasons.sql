-- Why disputes reach a person: each line a person decides, or the rule where no line was priced.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
automatic AS
(
    SELECT
        dispute_id, decision_rule, currency,
        arrayFilter(line -> line.4 = 'person',
            arrayZip(line_categories, line_rulings, line_if_upheld_minor, line_dispositions, line_person_reasons)) AS waiting,
        if(empty(waiting), [('', '', 0, '', '')], waiting) AS lines
    FROM v_decisions
    WHERE review_id = '' AND needs_person
)
SELECT
    day, policy, pack_version, simulated, decision_rule,
    line.1 AS category,
    multiIf(line.5 != '', line.5, line.2 = 'ESCALATE', 'bench_escalated', decision_rule) AS reason,
    uniqExact(automatic.dispute_id) AS disputes,
    countIf(line.1 != '') AS lines_waiting,
    currency,
    sum(line.3) AS amount_if_upheld_minor
FROM automatic
INNER JOIN chosen ON chosen.dispute_id = automatic.dispute_id
ARRAY JOIN lines AS line
GROUP BY day, policy, pack_version, simulated, decision_rule, category, reason, currency
ORDER BY day, policy, pack_version, simulated, disputes DESC, decision_rule, category, reason, currency
