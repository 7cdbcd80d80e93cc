-- What several questions share: stage timings, decisions line by line, money that moved by category.

-- up

CREATE OR REPLACE VIEW v_stage_timings DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
WITH arraySort(step -> (step.2, step.1), CAST(stages, 'Array(Tuple(String, DateTime64(3, \'UTC\')))')) AS steps
SELECT
    dispute_id, policy, pack_version, simulated, status, filed_at, settled_at,
    steps[position].1 AS stage,
    steps[position].2 AS reached_at,
    if(position = 1, '', steps[position - 1].1) AS after_stage,
    if(position = 1, NULL, dateDiff('millisecond', steps[position - 1].2, reached_at)) AS took_ms
FROM disputes_current FINAL
ARRAY JOIN arrayEnumerate(steps) AS position;

CREATE OR REPLACE VIEW v_decision_lines DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, policy, pack_version, pack_hash, simulated, at, filed_at,
    decision_id, review_id, authorised_by, decision_rule, currency,
    line_grievance_ids AS grievance_id,
    line_categories AS category,
    line_rulings AS ruling,
    line_scopes AS scope,
    line_amounts_minor AS amount_minor,
    line_if_upheld_minor AS amount_if_upheld_minor,
    line_ceilings_minor AS ceiling_minor,
    line_dispositions AS disposition,
    line_person_reasons AS person_reason
FROM decisions FINAL
ARRAY JOIN
    line_grievance_ids, line_categories, line_rulings, line_scopes, line_amounts_minor,
    line_if_upheld_minor, line_ceilings_minor, line_dispositions, line_person_reasons;

CREATE OR REPLACE VIEW v_payout_lines DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
WITH
    arrayFilter(line -> line.2 > 0,
        arrayMap((category, amount, disposition) -> (category, if(disposition = 'pay', amount, 0)),
            line_categories, line_amounts_minor, line_dispositions)) AS paying,
    arraySum(paying.2) = payments.amount_minor AS adds_up
SELECT
    payments.dispute_id AS dispute_id,
    payments.order_id AS order_id,
    payments.customer_id AS customer_id,
    payments.policy AS policy,
    payments.pack_version AS pack_version,
    payments.simulated AS simulated,
    payments.payment_id AS payment_id,
    payments.review_id AS review_id,
    payments.at AS at,
    decisions.filed_at AS filed_at,
    payments.currency AS currency,
    line.1 AS category,
    line.2 AS amount_minor
FROM (SELECT * FROM payments FINAL WHERE status = 'paid') AS payments
LEFT JOIN (SELECT * FROM decisions FINAL) AS decisions
    ON decisions.dispute_id = payments.dispute_id AND decisions.decision_id = payments.payment_id
ARRAY JOIN if(adds_up, paying, [('(not by line)', payments.amount_minor)]) AS line;

-- down

DROP VIEW IF EXISTS v_payout_lines;
DROP VIEW IF EXISTS v_decision_lines;
DROP VIEW IF EXISTS v_stage_timings;
