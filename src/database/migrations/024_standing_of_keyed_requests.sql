-- A replay passes the checks of the first request again. Two of them are made by commands, which a replay does not run: the role of the
-- caller, and the fresh proof where only some requests of a route need one. Both are null in rows of earlier versions, which end within
-- 24 hours: of those, every replay on such a route needs a proof.
alter table idempotent_answers add column role text;
alter table idempotent_answers add column reauthenticated boolean;

comment on column idempotent_answers.role is 'The role of the caller at the last attempt';
comment on column idempotent_answers.reauthenticated is 'Whether the caller had re-authenticated at one of the attempts';
