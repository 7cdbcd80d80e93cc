-- Each judge by category: how often it abstains, cites what is not there, and differs from the bench's count;
-- what it took. Costs are millionths of a US dollar. Dissent is among the rulings that were counted.

WITH chosen AS
(
    SELECT dispute_id
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
benches AS
(
    -- Alike benches that ruled alike are counted first: there are few, however many grievances.
    SELECT
        policy, pack_version, simulated, category, ruling, seat_rulings, seat_models, seat_prompt_variants, seat_prompt_hashes,
        count() AS times
    FROM v_verdicts
    WHERE revision = 1 AND dispute_id IN chosen
    GROUP BY policy, pack_version, simulated, category, ruling, seat_rulings, seat_models, seat_prompt_variants, seat_prompt_hashes
),
counted AS
(
    SELECT
        policy, pack_version, simulated, category, seat.1 AS model, seat.2 AS prompt_variant, seat.3 AS prompt_hash,
        sumIf(times, seat.4 != 'FAILED') AS votes,
        sumIf(times, seat.4 != 'FAILED' AND seat.4 != ruling) AS dissents
    FROM benches
    ARRAY JOIN arrayZip(seat_models, seat_prompt_variants, seat_prompt_hashes, seat_rulings) AS seat
    GROUP BY policy, pack_version, simulated, category, model, prompt_variant, prompt_hash
),
asked AS
(
    SELECT
        policy, pack_version, simulated, category, concat(provider, '/', rulings.model) AS model, prompt_variant, prompt_hash,
        count() AS asked_for,
        countIf(ruling = 'FAILED') AS abstained,
        countIf(failure = 'citation_missing') AS citation_failures,
        avgIf(confidence, ruling != 'FAILED') AS mean_confidence,
        sum(rulings.calls) AS calls,
        sum(rulings.input_tokens) AS input_tokens,
        sum(rulings.output_tokens) AS output_tokens,
        sum(rulings.cost_micros) AS cost_micros,
        quantile(0.5)(latency_ms) / 1000 AS latency_p50_s,
        quantile(0.9)(latency_ms) / 1000 AS latency_p90_s
    FROM v_judge_rulings AS rulings
    WHERE dispute_id IN chosen
    GROUP BY policy, pack_version, simulated, category, model, prompt_variant, prompt_hash
)
SELECT
    policy, pack_version, simulated, category, model, prompt_variant, prompt_hash,
    asked_for AS rulings,
    abstained,
    abstained / asked_for AS abstention_rate,
    citation_failures,
    citation_failures / asked_for AS citation_failure_rate,
    counted.dissents AS dissents,
    counted.dissents / nullIf(counted.votes, 0) AS dissent_rate,
    mean_confidence, calls, input_tokens, output_tokens, cost_micros, latency_p50_s, latency_p90_s
FROM asked
LEFT JOIN counted USING (policy, pack_version, simulated, category, model, prompt_variant, prompt_hash)
ORDER BY policy, pack_version, simulated, category, model, prompt_variant, prompt_hash
