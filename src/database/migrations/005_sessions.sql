-- What is not history is not an event: tokens and one-time challenges live here with a lifetime, hashed, and are
-- consumed by one atomic statement each.
create table refresh_tokens (
  tenant_id  uuid        not null,
  digest     bytea       not null,
  session_id uuid        not null,
  subject_id uuid        not null,
  expires_at timestamptz not null,
  idle_seconds integer   not null,
  -- The family's absolute end, whatever is rotated.
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

-- The first answer to a command with an Idempotency-Key. The body is sealed by the vault: it may hold something shown once.
create table idempotent_answers (
  tenant_id    uuid        not null,
  subject_id   uuid        not null,
  digest       bytea       not null,
  request_hash bytea       not null,
  status       integer,
  sealed_body  bytea,
  created_at   timestamptz not null default now(),
  primary key (tenant_id, subject_id, digest)
);
create index on idempotent_answers (created_at);

do $$
declare table_name text;
begin
  foreach table_name in array array['refresh_tokens', 'one_time_tokens', 'idempotent_answers'] loop
    execute format('alter table %I enable row level security', table_name);
    execute format('create policy tenant on %I to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant())', table_name);
    execute format('grant select, insert, update, delete on %I to castellan_service', table_name);
  end loop;
end $$;

-- Across all tenants, which no role of the service may do by hand: rows whose time is over.
create function sweep_expired_tokens() returns void
language sql security definer set search_path = public
as $$
  delete from refresh_tokens where expires_at < now();
  delete from one_time_tokens where expires_at < now() - interval '1 hour';
  delete from idempotent_answers where created_at < now() - interval '24 hours';
$$;
revoke all on function sweep_expired_tokens() from public;
grant execute on function sweep_expired_tokens() to castellan_service;
