-- Access tokens of SCIM clients, as digests, and when each client was last seen. Both have a lifetime and no history.

create table scim_tokens (
  tenant_id  uuid        not null,
  digest     bytea       not null,
  client_id  uuid        not null,
  -- The secret with which the token was got: the token ends with it.
  secret_id  uuid        not null,
  scope      text        not null,
  expires_at timestamptz not null,
  primary key (tenant_id, digest)
);
create index on scim_tokens (tenant_id, client_id);
create index on scim_tokens (expires_at);

create table scim_client_uses (
  tenant_id    uuid        not null,
  client_id    uuid        not null,
  last_used_at timestamptz not null,
  primary key (tenant_id, client_id)
);

do $$
declare table_name text;
begin
  foreach table_name in array array['scim_tokens', 'scim_client_uses'] loop
    execute format('alter table %I enable row level security', table_name);
    execute format('create policy tenant on %I to castellan_service using (tenant_id = castellan_tenant()) with check (tenant_id = castellan_tenant())', table_name);
    execute format('grant select, insert, update, delete on %I to castellan_service', table_name);
  end loop;
end $$;

create or replace function sweep_expired_tokens() returns void
language sql security definer set search_path = public, pg_temp
as $$
  delete from refresh_tokens where expires_at < now();
  delete from one_time_tokens where expires_at < now() - interval '1 hour';
  delete from idempotent_answers where created_at < now() - interval '24 hours';
  delete from scim_tokens where expires_at < now();
  delete from scim_client_uses where last_used_at < now() - interval '2 years';
$$;
