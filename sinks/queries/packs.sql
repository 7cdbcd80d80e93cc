-- What each pack version meant: its seal, and the models and prompts that worked under it. Prompts are hashes.

WITH chosen AS
(
    SELECT dispute_id
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
),
worked AS
(
    SELECT
        policy, pack_version, pack_hash, simulated,
        count() AS disputes, min(filed_at) AS first_filed_at, max(filed_at) AS last_filed_at,
        [] AS seats, [] AS extraction
    FROM v_disputes
    WHERE dispute_id IN chosen
    GROUP BY policy, pack_version, pack_hash, simulated
    UNION ALL
    SELECT
        policy, pack_version, pack_hash, simulated, 0, NULL, NULL,
        groupUniqArrayArray(arrayMap((m, v, h) -> concat(m, ' ', v, ' ', h), seat_models, seat_prompt_variants, seat_prompt_hashes)),
        []
    FROM
    (
        SELECT policy, pack_version, pack_hash, simulated, seat_models, seat_prompt_variants, seat_prompt_hashes
        FROM v_verdicts
        WHERE dispute_id IN chosen
        GROUP BY policy, pack_version, pack_hash, simulated, seat_models, seat_prompt_variants, seat_prompt_hashes
    )
    GROUP BY policy, pack_version, pack_hash, simulated
    UNION ALL
    SELECT
        policy, pack_version, pack_hash, simulated, 0, NULL, NULL, [],
        groupUniqArrayIf(concat(model, ' ', prompt_hash), model != '')
    FROM v_dockets
    WHERE dispute_id IN chosen
    GROUP BY policy, pack_version, pack_hash, simulated
)
SELECT
    policy, pack_version, pack_hash,
    sum(worked.disputes) AS disputes,
    min(worked.first_filed_at) AS first_filed_at,
    max(worked.last_filed_at) AS last_filed_at,
    max(worked.simulated) AS simulated,
    arraySort(groupUniqArrayArray(worked.seats)) AS seats,
    arraySort(groupUniqArrayArray(worked.extraction)) AS extraction
FROM worked
GROUP BY policy, pack_version, pack_hash
ORDER BY policy, pack_version, pack_hash
