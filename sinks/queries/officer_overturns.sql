-- How often a person changes the bench's lean: what the count said, or where it left the question open, what
-- more of the counted rulings said. Only lines a person has decided; without a lean a line is not in the rate.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
leaning AS
(
    SELECT
        grievance_id, seat_models, seat_prompt_hashes,
        multiIf(ruling != 'ESCALATE', toString(ruling), votes_upheld > votes_rejected, 'UPHELD',
            votes_rejected > votes_upheld, 'REJECTED', '') AS lean
    FROM v_verdicts
    WHERE revision = 1
),
decided AS
(
    SELECT
        dispute_id, grievance_id, category, currency, amount_minor,
        if(disposition = 'pay' AND amount_minor > 0, 'UPHELD', 'REJECTED') AS person
    FROM v_decision_lines
    WHERE review_id != '' AND decision_rule IN ('review_approved', 'review_amount', 'review_rejected')
)
SELECT
    day, policy, pack_version, simulated, category,
    count() AS decided_by_person,
    countIf(leaning.lean != '') AS with_a_lean,
    countIf(leaning.lean = 'UPHELD' AND person = 'REJECTED') AS upheld_to_rejected,
    countIf(leaning.lean = 'REJECTED' AND person = 'UPHELD') AS rejected_to_upheld,
    (upheld_to_rejected + rejected_to_upheld) / nullIf(with_a_lean, 0) AS overturn_rate,
    currency,
    sum(amount_minor) AS approved_minor,
    arraySort(groupUniqArrayArray(leaning.seat_models)) AS models,
    arraySort(groupUniqArrayArray(leaning.seat_prompt_hashes)) AS prompts
FROM decided
INNER JOIN chosen ON chosen.dispute_id = decided.dispute_id
LEFT JOIN leaning ON leaning.grievance_id = decided.grievance_id
GROUP BY day, policy, pack_version, simulated, category, currency
ORDER BY day, policy, pack_version, simulated, category, currency
