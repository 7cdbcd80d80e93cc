-- What analysts read: each table once more, without duplicates (FINAL) and without free text.
-- They run with the rights of whoever migrates, so an analyst needs no right on a table.

-- up

CREATE OR REPLACE VIEW v_disputes DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, filed_at, received_at, channel,
    evidence_hash, evidence_stale, screening_rules, screening_places, tier, acknowledge_by,
    resolve_by, outcome, length(evidence_problems) AS evidence_problems
FROM disputes FINAL;

CREATE OR REPLACE VIEW v_evidence_snapshots DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, evidence_hash, kind, currency,
    captured_at, disputed_minor, merchant_id, courier_id, city, rail
FROM evidence_snapshots FINAL;

CREATE OR REPLACE VIEW v_dockets DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, filed_at, received_at,
    grievances, categories, left_out_kinds, evidence_hash, evidence_stale, screening_rules,
    safety_words, tier, outcome, model, prompt_hash, calls, input_tokens, output_tokens,
    cost_micros, latency_ms
FROM dockets FINAL;

CREATE OR REPLACE VIEW v_grievances DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, grievance_id, number, of,
    category, span_start, span_end, line_id, quantity, scope, safety, evidence_fields,
    evidence_hash, filed_at, seats
FROM grievances FINAL;

CREATE OR REPLACE VIEW v_judge_rulings DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, ruling_id, grievance_id,
    grievance_at, category, seat, ruling, confidence, if(ruling = 'FAILED', [], citations) AS
    citations, failure, provider, model, prompt_variant, prompt_hash, attempts, calls,
    input_tokens, output_tokens, cost_micros, latency_ms, request_id, evidence_hash
FROM judge_rulings FINAL;

CREATE OR REPLACE VIEW v_verdicts DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, verdict_id, grievance_id,
    category, revision, ruling, votes_upheld, votes_rejected, votes_escalate, votes_failed,
    votes_absent, confidence, closed_by, ruling_ids, ruling_hashes, seats, seat_rulings,
    seat_confidences, seat_weights, seat_models, seat_prompt_variants, seat_prompt_hashes,
    seat_failures, arrayStringConcat(arrayReverseSort(arrayFilter(n -> n > 0, [votes_upheld,
    votes_rejected, votes_escalate])), '-') AS split
FROM verdicts FINAL;

CREATE OR REPLACE VIEW v_proposals DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, proposal_id, currency,
    amount_minor, proposed_minor, decision_rule, escalated, needs_person, tier, authorised_by,
    review_id, filed_at, received_at, calls, input_tokens, output_tokens, cost_micros,
    latency_ms, line_grievance_ids, line_categories, line_rulings, line_scopes, line_line_ids,
    line_quantities, line_amounts_minor, line_if_upheld_minor, line_ceilings_minor,
    line_dispositions, line_pay_scopes, line_bases, line_person_reasons, history_minor
FROM proposals FINAL;

CREATE OR REPLACE VIEW v_decisions DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, decision_id, currency,
    amount_minor, proposed_minor, decision_rule, escalated, needs_person, tier, authorised_by,
    review_id, filed_at, received_at, calls, input_tokens, output_tokens, cost_micros,
    latency_ms, line_grievance_ids, line_categories, line_rulings, line_scopes, line_line_ids,
    line_quantities, line_amounts_minor, line_if_upheld_minor, line_ceilings_minor,
    line_dispositions, line_pay_scopes, line_bases, line_person_reasons
FROM decisions FINAL;

CREATE OR REPLACE VIEW v_payments DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, payment_id, status, amount_minor,
    currency, gateway, gateway_ref, refusal, found_before_call, attempts, review_id, received_at
FROM payments FINAL;

CREATE OR REPLACE VIEW v_letters DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, at, kafka_partition, kafka_offset, ingested_at, letter_id, kind, language,
    written_by, model, prompt_hash, rejected_drafts, paid_minor, currency, calls, input_tokens,
    output_tokens, cost_micros, latency_ms
FROM letters FINAL;

CREATE OR REPLACE VIEW v_reviews DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, settles_under, at, kafka_partition, kafka_offset, ingested_at,
    review_id, action, amount_minor, reason_code, reviewer, role
FROM reviews FINAL;

CREATE OR REPLACE VIEW v_ledger_entries DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, sequence, status, filed_at, settled_at, at, kafka_partition, kafka_offset,
    ingested_at, decision_rule, currency, amount_minor, proposed_minor, paid_minor,
    pending_minor, needs_person, chain_head
FROM ledger_entries FINAL;

CREATE OR REPLACE VIEW v_disputes_current DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, order_id, customer_id, settles_under, policy, pack_version, pack_hash,
    simulated, sequence, status, filed_at, settled_at, at, kafka_partition, kafka_offset,
    ingested_at, decision_rule, currency, amount_minor, proposed_minor, paid_minor,
    pending_minor, needs_person, stages, tier, acknowledge_by, resolve_by, evidence_hash,
    evidence_stale, screening_rules, outcome, grievances, left_out, escalated, llm_calls,
    cost_micros, letters, review_ids, chain_head
FROM disputes_current FINAL;

CREATE OR REPLACE VIEW v_audit_entries DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dispute_id, sequence, at, kafka_partition, kafka_offset, ingested_at, event_topic,
    event_partition, event_offset, event_hash, previous, chain
FROM audit_entries FINAL;

CREATE OR REPLACE VIEW v_dead_letters DEFINER = CURRENT_USER SQL SECURITY DEFINER AS
SELECT
    dead_letter_id, at, kafka_partition, kafka_offset, ingested_at, stage, source_topic,
    source_partition, source_offset, encrypted_bytes, error
FROM dead_letters FINAL;

-- down

DROP VIEW IF EXISTS v_dead_letters;
DROP VIEW IF EXISTS v_audit_entries;
DROP VIEW IF EXISTS v_disputes_current;
DROP VIEW IF EXISTS v_ledger_entries;
DROP VIEW IF EXISTS v_reviews;
DROP VIEW IF EXISTS v_letters;
DROP VIEW IF EXISTS v_payments;
DROP VIEW IF EXISTS v_decisions;
DROP VIEW IF EXISTS v_proposals;
DROP VIEW IF EXISTS v_verdicts;
DROP VIEW IF EXISTS v_judge_rulings;
DROP VIEW IF EXISTS v_grievances;
DROP VIEW IF EXISTS v_dockets;
DROP VIEW IF EXISTS v_evidence_snapshots;
DROP VIEW IF EXISTS v_disputes;
