-- Complaints that opened nothing because the same words about the same order had opened a dispute before.
-- By the day of filing; a record that intake only moved to its own partition is not a repeat.

WITH filed AS
(
    SELECT
        dispute_id,
        any(policy) AS policy,
        toDate(min(at), {time_zone:String}) AS day,
        min(at) AS first_at,
        arraySort(groupUniqArray(channel)) AS channels,
        count() AS complaints,
        complaints - uniqExact(kafka_partition) AS repeats
    FROM v_complaints
    GROUP BY dispute_id
)
SELECT
    day, filed.policy AS policy, current.pack_version AS pack_version, current.simulated AS simulated, channels,
    sum(complaints) AS filed_complaints,
    count() AS distinct_complaints,
    sum(repeats) AS duplicates_refused,
    countIf(repeats > 0) AS disputes_repeated,
    duplicates_refused / filed_complaints AS duplicate_rate
FROM filed
LEFT JOIN v_disputes_current AS current ON current.dispute_id = filed.dispute_id
WHERE if({clock:String} = 'settled', settled_at, first_at) >= {since:DateTime64(3, 'UTC')}
    AND if({clock:String} = 'settled', settled_at, first_at) < {until:DateTime64(3, 'UTC')}
GROUP BY day, policy, pack_version, simulated, channels
ORDER BY day, policy, pack_version, simulated, channels
