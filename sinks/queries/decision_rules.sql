-- Share of disputes by the rule that decided them.

WITH chosen AS
(
    SELECT
        dispute_id, policy, pack_version, simulated,
        if(decision_rule = '', '(undecided)', decision_rule) AS rule, needs_person, settled_at,
        toDate(if({clock:String} = 'settled', settled_at, filed_at), {time_zone:String}) AS day
    FROM v_disputes_current
    WHERE if({clock:String} = 'settled', settled_at, filed_at) >= {since:DateTime64(3, 'UTC')}
        AND if({clock:String} = 'settled', settled_at, filed_at) < {until:DateTime64(3, 'UTC')}
)
SELECT
    policy, pack_version, simulated,
    rule AS decision_rule,
    count() AS disputes,
    disputes / sum(disputes) OVER (PARTITION BY policy, pack_version, simulated) AS share,
    countIf(needs_person) AS with_a_person,
    count(settled_at) AS settled
FROM chosen
GROUP BY policy, pack_version, simulated, rule
ORDER BY policy, pack_version, simulated, disputes DESC, decision_rule
