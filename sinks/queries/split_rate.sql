-- How often a bench disagrees, by day and category. Only the count that decides; a grievance with an
-- absent or failed seat is incomplete and outside the rate.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
counted AS
(
    SELECT
        dispute_id, category, seat_models, seat_prompt_hashes,
        votes_failed + votes_absent > 0 AS short,
        (votes_upheld > 0) + (votes_rejected > 0) + (votes_escalate > 0) AS opinions
    FROM v_verdicts
    WHERE revision = 1
)
SELECT
    day, policy, pack_version, simulated, category,
    count() AS verdicts,
    countIf(NOT short AND opinions = 1) AS unanimous,
    countIf(NOT short AND opinions = 2) AS two_ways,
    countIf(NOT short AND opinions >= 3) AS three_ways,
    countIf(short) AS incomplete,
    (two_ways + three_ways) / nullIf(verdicts - incomplete, 0) AS split_rate,
    arraySort(groupUniqArrayArray(seat_models)) AS models,
    arraySort(groupUniqArrayArray(seat_prompt_hashes)) AS prompts
FROM counted
INNER JOIN chosen ON chosen.dispute_id = counted.dispute_id
GROUP BY day, policy, pack_version, simulated, category
ORDER BY day, policy, pack_version, simulated, category
