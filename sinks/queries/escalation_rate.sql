-- How often a person must decide, by day and category: of grievances the bench left open or the rules hand
-- over, and of whole disputes (category '(dispute)'). Disputes not yet decided are left out.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
decided AS
(
    SELECT
        dispute_id, needs_person,
        arrayPushFront(
            arrayZip(arrayMap(c -> toString(c), line_categories), arrayMap(d -> d = 'person', line_dispositions)),
            ('(dispute)', needs_person)) AS entries
    FROM v_decisions
    WHERE review_id = ''
)
SELECT
    day, policy, pack_version, simulated,
    entry.1 AS category,
    count() AS asked,
    countIf(entry.2) AS for_a_person,
    for_a_person / asked AS escalation_rate
FROM decided
INNER JOIN chosen ON chosen.dispute_id = decided.dispute_id
ARRAY JOIN entries AS entry
GROUP BY day, policy, pack_version, simulated, category
ORDER BY day, policy, pack_version, simulated, category
