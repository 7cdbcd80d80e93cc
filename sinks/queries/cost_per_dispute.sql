-- Calls, tokens and cost of a dispute, by day. Costs are millionths of a US dollar. Of the calls, re-asks carried a
-- correction, tool turns asked for evidence, retries came after an overload or an outage; of the input tokens,
-- some were read from the provider's cache or written to it.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
per_dispute AS
(
    SELECT
        dispute_id,
        sum(spent.calls) AS calls,
        sum(spent.re_asks) AS re_asks,
        sum(spent.tool_turns) AS tool_turns,
        sum(spent.retries) AS retries,
        sum(spent.input_tokens) AS input_tokens,
        sum(spent.cache_read_tokens) AS cache_read_tokens,
        sum(spent.cache_write_tokens) AS cache_write_tokens,
        sum(spent.output_tokens) AS output_tokens,
        sum(spent.cost_micros) AS cost_micros,
        sumIf(spent.cost_micros, stage = 'extraction') AS extraction_micros,
        sumIf(spent.cost_micros, stage = 'judging') AS judging_micros,
        sumIf(spent.cost_micros, stage = 'letters') AS letters_micros
    FROM v_call_costs AS spent
    WHERE dispute_id IN (SELECT dispute_id FROM chosen)
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
    avg(per_dispute.re_asks) AS re_asks_per_dispute,
    avg(per_dispute.tool_turns) AS tool_turns_per_dispute,
    avg(per_dispute.retries) AS retries_per_dispute,
    avg(per_dispute.input_tokens) AS input_tokens_per_dispute,
    avg(per_dispute.cache_read_tokens) AS cache_read_tokens_per_dispute,
    avg(per_dispute.cache_write_tokens) AS cache_write_tokens_per_dispute,
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
