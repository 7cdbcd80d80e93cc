-- Calls, tokens and cost of a dispute, by day. Costs are millionths of a US dollar.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
spent AS
(
    SELECT dispute_id, 'extraction' AS stage, calls, input_tokens, output_tokens, cost_micros FROM v_dockets
    UNION ALL
    SELECT dispute_id, 'judging', calls, input_tokens, output_tokens, cost_micros FROM v_judge_rulings
    UNION ALL
    SELECT dispute_id, 'letters', calls, input_tokens, output_tokens, cost_micros FROM v_letters
),
per_dispute AS
(
    SELECT
        dispute_id,
        sum(spent.calls) AS calls,
        sum(spent.input_tokens) AS input_tokens,
        sum(spent.output_tokens) AS output_tokens,
        sum(spent.cost_micros) AS cost_micros,
        sumIf(spent.cost_micros, stage = 'extraction') AS extraction_micros,
        sumIf(spent.cost_micros, stage = 'judging') AS judging_micros,
        sumIf(spent.cost_micros, stage = 'letters') AS letters_micros
    FROM spent
    GROUP BY dispute_id
),
named AS
(
    -- Which models have worked under a pack version, whatever the period: counted once per pack, not per dispute.
    SELECT policy, pack_version, arraySort(groupUniqArrayIf(by_model, by_model != '')) AS models
    FROM
    (
        SELECT DISTINCT policy, pack_version, model AS by_model FROM v_dockets
        UNION ALL
        SELECT policy, pack_version, arrayJoin(seat_models)
        FROM (SELECT DISTINCT policy, pack_version, seat_models FROM v_verdicts)
        UNION ALL
        SELECT DISTINCT policy, pack_version, model FROM v_letters
    )
    GROUP BY policy, pack_version
)
SELECT
    chosen.day AS day, chosen.policy AS policy, chosen.pack_version AS pack_version, chosen.simulated AS simulated,
    count() AS disputes,
    avg(per_dispute.calls) AS calls_per_dispute,
    avg(per_dispute.input_tokens) AS input_tokens_per_dispute,
    avg(per_dispute.output_tokens) AS output_tokens_per_dispute,
    avg(per_dispute.cost_micros) AS cost_micros_per_dispute,
    quantileExact(0.5)(per_dispute.cost_micros) AS cost_micros_p50,
    quantileExact(0.9)(per_dispute.cost_micros) AS cost_micros_p90,
    sum(per_dispute.calls) AS total_calls,
    sum(per_dispute.cost_micros) AS total_cost_micros,
    sum(extraction_micros) AS extraction_cost_micros,
    sum(judging_micros) AS judging_cost_micros,
    sum(letters_micros) AS letters_cost_micros,
    any(named.models) AS models
FROM chosen
LEFT JOIN per_dispute ON per_dispute.dispute_id = chosen.dispute_id
LEFT JOIN named ON named.policy = chosen.policy AND named.pack_version = chosen.pack_version
GROUP BY day, policy, pack_version, simulated
ORDER BY day, policy, pack_version, simulated
