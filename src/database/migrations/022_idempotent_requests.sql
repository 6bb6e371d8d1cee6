-- Rows until now held an unkeyed SHA-256 of the request, by which a password in it could be guessed. They would have
-- expired within 24 hours; a request that was under way during the upgrade is judged like a new one.
truncate idempotent_answers;

-- Random, sealed, one per key: the ids and secrets that the request creates are derived from it, so a retry makes the same ones.
alter table idempotent_answers add column sealed_seed bytea;
-- Which attempt is responsible for the row, and until when it counts as running. It extends this while it works.
alter table idempotent_answers add column attempt uuid;
alter table idempotent_answers add column running_until timestamptz;
-- The X-Log-Position of the response.
alter table idempotent_answers add column log_position bigint;

comment on column idempotent_answers.digest is 'HMAC of the key';
comment on column idempotent_answers.request_hash is 'HMAC of method, URL and body';
