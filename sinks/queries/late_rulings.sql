-- Rulings that came after their count had closed, by day, category and judge. They change nothing; would_differ
-- counts those of them whose count with the late ruling is another than the one that decided.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
first AS
(
    SELECT grievance_id, ruling AS decided_as, ruling_ids AS counted_ids
    FROM v_verdicts
    WHERE revision = 1
),
late AS
(
    SELECT
        dispute_id, category, ruling, decided_as,
        arrayFilter(one -> NOT has(counted_ids, one.1), arrayZip(ruling_ids, seat_models, seat_prompt_hashes)) AS newcomers
    FROM (SELECT * FROM v_verdicts WHERE revision > 1) AS later
    INNER JOIN first ON first.grievance_id = later.grievance_id
)
SELECT
    day, policy, pack_version, simulated, category,
    newcomer.2 AS model, newcomer.3 AS prompt_hash,
    uniqExact(newcomer.1) AS late_rulings,
    uniqExactIf(newcomer.1, ruling != decided_as) AS would_differ
FROM late
INNER JOIN chosen ON chosen.dispute_id = late.dispute_id
ARRAY JOIN newcomers AS newcomer
GROUP BY day, policy, pack_version, simulated, category, model, prompt_hash
ORDER BY day, policy, pack_version, simulated, category, model, prompt_hash
