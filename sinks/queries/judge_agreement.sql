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
benches AS
(
    -- Alike benches that ruled alike are counted first: there are few, however many grievances.
    SELECT
        policy, pack_version, simulated, category,
        seats, seat_rulings, seat_models, seat_prompt_variants, seat_prompt_hashes,
        count() AS times
    FROM v_verdicts AS verdicts
    INNER JOIN (SELECT dispute_id FROM chosen) AS chosen ON chosen.dispute_id = verdicts.dispute_id
    WHERE revision = 1
    GROUP BY policy, pack_version, simulated, category, seats, seat_rulings, seat_models, seat_prompt_variants, seat_prompt_hashes
),
pairs AS
(
    SELECT
        *,
        arrayEnumerate(seats) AS places,
        arrayFilter(pair -> seats[pair.1] < seats[pair.2] AND seat_rulings[pair.1] != 'FAILED' AND seat_rulings[pair.2] != 'FAILED',
            arrayFlatten(arrayMap(one -> arrayMap(other -> (one, other), places), places))) AS compared
    FROM benches
)
SELECT
    policy, pack_version, simulated, category,
    seat_models[pair.1] AS model_a, seat_prompt_variants[pair.1] AS prompt_variant_a, seat_prompt_hashes[pair.1] AS prompt_hash_a,
    seat_models[pair.2] AS model_b, seat_prompt_variants[pair.2] AS prompt_variant_b, seat_prompt_hashes[pair.2] AS prompt_hash_b,
    sum(times) AS grievances,
    sumIf(times, seat_rulings[pair.1] = seat_rulings[pair.2]) AS agreed,
    agreed / grievances AS agreement
FROM pairs
ARRAY JOIN compared AS pair
GROUP BY policy, pack_version, simulated, category, model_a, prompt_variant_a, prompt_hash_a, model_b, prompt_variant_b, prompt_hash_b
ORDER BY policy, pack_version, simulated, category, model_a, prompt_variant_a, prompt_hash_a, model_b, prompt_variant_b, prompt_hash_b
