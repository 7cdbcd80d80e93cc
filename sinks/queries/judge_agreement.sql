-- How often two seats of a bench rule alike, by category. Abstentions are left out.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
pairs AS
(
    SELECT
        dispute_id, category,
        arrayEnumerate(seats) AS places,
        arrayFilter(pair -> seats[pair.1] < seats[pair.2] AND seat_rulings[pair.1] != 'FAILED' AND seat_rulings[pair.2] != 'FAILED',
            arrayFlatten(arrayMap(one -> arrayMap(other -> (one, other), places), places))) AS compared,
        arrayMap(pair -> (
            seat_models[pair.1], seat_prompt_variants[pair.1], seat_prompt_hashes[pair.1],
            seat_models[pair.2], seat_prompt_variants[pair.2], seat_prompt_hashes[pair.2],
            seat_rulings[pair.1] = seat_rulings[pair.2]), compared) AS results
    FROM v_verdicts
    WHERE revision = 1
)
SELECT
    policy, pack_version, simulated, category,
    result.1 AS model_a, result.2 AS prompt_variant_a, result.3 AS prompt_hash_a,
    result.4 AS model_b, result.5 AS prompt_variant_b, result.6 AS prompt_hash_b,
    count() AS grievances,
    countIf(result.7) AS agreed,
    agreed / grievances AS agreement
FROM pairs
INNER JOIN chosen ON chosen.dispute_id = pairs.dispute_id
ARRAY JOIN results AS result
GROUP BY policy, pack_version, simulated, category, model_a, prompt_variant_a, prompt_hash_a, model_b, prompt_variant_b, prompt_hash_b
ORDER BY policy, pack_version, simulated, category, model_a, prompt_variant_a, prompt_hash_a, model_b, prompt_variant_b, prompt_hash_b
