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
    SELECT dispute_id, 'extraction' AS stage, model, calls, input_tokens, output_tokens, cost_micros FROM v_dockets
    UNION ALL
    SELECT dispute_id, 'judging', concat(provider, '/', model), calls, input_tokens, output_tokens, cost_micros FROM v_judge_rulings
    UNION ALL
    SELECT dispute_id, 'letters', model, calls, input_tokens, output_tokens, cost_micros FROM v_letters
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
        sumIf(spent.cost_micros, stage = 'letters') AS letters_micros,
        groupUniqArrayIf(model, model != '') AS models
    FROM spent
    GROUP BY dispute_id
)
SELECT
    day, policy, pack_version, simulated,
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
    arraySort(groupUniqArrayArray(per_dispute.models)) AS models
FROM chosen
LEFT JOIN per_dispute ON per_dispute.dispute_id = chosen.dispute_id
GROUP BY day, policy, pack_version, simulated
ORDER BY day, policy, pack_version, simulated
