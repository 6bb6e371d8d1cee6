-- What has a lifetime is no history, so it is no event: tokens, one-time challenges, responses kept for retries. Stored
-- as digests, and consumed by one atomic statement each.

create table refresh_tokens (
  tenant_id  uuid        not null,
  digest     bytea       not null,
  session_id uuid        not null,
  subject_id uuid        not null,
  expires_at timestamptz not null,
  idle_seconds integer   not null,
  -- When the session ends, however often its token is rotated.
  ends_at    timestamptz not null,
  spent_at   timestamptz,
  primary key (tenant_id, digest)
);
create index on refresh_tokens (tenant_id, session_id);
create index on refresh_tokens (expires_at);

create table one_time_tokens (
  tenant_id  uuid        not null,
  purpose    text        not null,
  digest     bytea       not null,
  subject_id uuid        not null,
  payload    jsonb       not null,
  tries_left integer     not null default 1,
  expires_at timestamptz not null,
  primary key (tenant_id, purpose, digest)
);
create index on one_time_tokens (expires_at);

-- The first response to a request with an Idempotency-Key. A replay gets it again after the checks of the first request.
create table idempotent_answers (
  tenant_id    uuid        not null,
  subject_id   uuid        not null,
  digest       bytea       not null,
  request_hash bytea       not null,
  status       integer,
  -- Sealed, because it may hold a secret that is shown once.
  sealed_body  bytea,
  created_at   timestamptz not null default now(),
  -- Random, one per key. The ids and secrets that the request creates are derived from it, so a retry makes the same.
  sealed_seed  bytea,
  -- The attempt that is responsible for the row, and until when it counts as running. It extends this while it works.
  attempt      uuid,
  running_until timestamptz,
  -- The X-Log-Position of the response.
  log_position bigint,
  -- Commands check these two, and a replay runs no command. Null in rows of earlier versions: then every replay on a
  -- route that asks for re-authentication needs it.
  role         text,
  reauthenticated boolean,
  primary key (tenant_id, subject_id, digest)
);
create index on idempotent_answers (created_at);

comment on column idempotent_answers.digest is 'HMAC of the key';
comment on column idempotent_answers.request_hash is 'HMAC of method, URL and body';
comment on column idempotent_answers.role is 'The role of the caller at the last attempt';
comment on column idempotent_answers.reauthenticated is 'Whether the caller had re-authenticated at one of the attempts';

do $$
declare table_name text;
begin
  foreach table_name in array array['refresh_tokens', 'one_time_tokens', 'idempotent_answers'] loop
    execute format('alter table %I enable row level security', table_name);
    execute format('create policy tenant on %I to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant())', table_name);
    execute format('grant select, insert, update, delete on %I to castellan_service', table_name);
  end loop;
end $$;

-- Removes expired rows of all tenants, which no role may do by itself.
create function sweep_expired_tokens() returns void
language sql security definer set search_path = public, pg_temp
as $$
  delete from refresh_tokens where expires_at < now();
  delete from one_time_tokens where expires_at < now() - interval '1 hour';
  delete from idempotent_answers where created_at < now() - interval '24 hours';
$$;
revoke all on function sweep_expired_tokens() from public;
grant execute on function sweep_expired_tokens() to castellan_service;
